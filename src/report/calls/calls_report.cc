// SPDX-License-Identifier: MIT
// penna report calls: how often each function was called, and for how long.
#include <fmt/format.h>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// What rows of functions and of groups share. `duration` is of single calls; `total` counts recursion once. In ticks.
struct TimedCalls {
  template <typename Called>
  TimedCalls(const Recording& all, const Called& called)
      : recording(all), calls(called.calls), total(called.total), self(called.self), duration(called.duration) {}
  Cell ns(uint64_t ticks) const { return ticks_to_ns(recording, ticks); }

  const Recording& recording;
  uint64_t calls, total, self;
  const Distribution& duration;
};

struct FunctionItem : TimedCalls, Placed {
  FunctionItem(const Recording& all, const FunctionCalls& one, const Calls& of, Names& its_names)
      : TimedCalls(all, one), place(of.functions().place(one.function)), names(its_names) {}
  CodePlace place;
  Names& names;
};

// `key`: the number of a thread or module, as CallGroups::by() says.
struct GroupItem : TimedCalls {
  GroupItem(const Recording& all, const CallGroup& group, const CodeMap& its_map)
      : TimedCalls(all, group), key(group.key), map(its_map) {}
  const RecordedThread& thread() const { return recording.threads()[key]; }
  uint32_t key;
  const CodeMap& map;
};

Columns<TimedCalls> timed_columns() {
  return {
      {{"calls", "CALLS", CellKind::kCount}, [](const TimedCalls& of) { return of.calls; }},
      {{"total_ns", "TOTAL", CellKind::kDuration}, [](const TimedCalls& of) { return of.ns(of.total); }},
      {{"self_ns", "SELF", CellKind::kDuration}, [](const TimedCalls& of) { return of.ns(of.self); }},
      {minor({"avg_ns", "AVG", CellKind::kDuration}),
       [](const TimedCalls& of) { return of.ns(static_cast<uint64_t>(of.duration.average())); }},
      {minor({"min_ns", "MIN", CellKind::kDuration}), [](const TimedCalls& of) { return of.ns(of.duration.min()); }},
      {{"max_ns", "MAX", CellKind::kDuration}, [](const TimedCalls& of) { return of.ns(of.duration.max()); }},
      {minor({"p50_ns", "P50", CellKind::kDuration}),
       [](const TimedCalls& of) { return of.ns(of.duration.percentile(0.5)); }},
      {{"p99_ns", "P99", CellKind::kDuration},
       [](const TimedCalls& of) { return of.ns(of.duration.percentile(0.99)); }}};
}
Columns<GroupItem> thread_columns() {
  return {{{"pid", "PID", CellKind::kNumber},
           [](const GroupItem& group) { return group.recording.processes()[group.thread().process].process.pid; }},
          {minor({"tid", "TID", CellKind::kNumber}), [](const GroupItem& group) { return group.thread().tid; }},
          {{"thread", "THREAD", CellKind::kText, true}, [](const GroupItem& group) { return group.thread().name; }}};
}
Columns<GroupItem> module_columns() {
  return {{{"module", "MODULE", CellKind::kText, true}, [](const GroupItem& group) {
             const bool known = group.key != kNoModule;
             return Cell{known ? group.map.file_name(group.key) : "[unknown]"};
           }}};
}

// Mentions what is unusual: calls left without an exit end, in time, where an outer function did.
std::string calls_head(const Recording& recording, const Calls& calls, size_t functions) {
  const CallCounts& counts = calls.counts();
  if (counts.calls == 0) return no_calls_text(recording);
  std::string text = fmt::format("{} of {}", plural_text(static_cast<int64_t>(counts.calls), "call"),
                                 plural_text(static_cast<int64_t>(functions), "function"));
  if (counts.jumped != 0) text += fmt::format(", {} left by longjmp", count_text(static_cast<int64_t>(counts.jumped)));
  if (counts.unwound != 0)
    text += fmt::format(", {} left by an outer function's exit", count_text(static_cast<int64_t>(counts.unwound)));
  if (counts.open != 0)
    text += fmt::format(", {} still open at the end", count_text(static_cast<int64_t>(counts.open)));
  return text;
}

}  // namespace

// Each report spells out its table: key, order, columns, head. What several share is in helpers (columns, set_function,
// the head); a common skeleton would only hide which table has what.
Report calls_report(const Recording& recording, const Calls& calls, Names& names) {
  Table table;
  table.key = "calls";
  table.order = "sorted by TOTAL, the time with what they called";
  table.details_in_row = true;
  std::vector<FunctionItem> items;
  for (const FunctionCalls* function : calls.by_total()) items.emplace_back(recording, *function, calls, names);
  Columns<FunctionItem> columns;
  columns.add(timed_columns());
  columns.add(place_columns("FUNCTION"));
  columns.fill(table, std::move(items), [](TableRow& row, FunctionItem& item) {
    set_function(row, item, item.names.at(item.place).back(), item.names.map());
  });
  Report report;
  report.head.push_back(calls_head(recording, calls, table.rows.size()));
  report.add(std::move(table));
  return report;
}

Report calls_report(const Recording& recording, const Calls& calls, const CallGroups& groups, Names& names) {
  Table table;
  table.key = "calls";
  table.order = "sorted by TOTAL, the time with what was called, wherever it is";
  std::vector<GroupItem> items;
  for (const CallGroup* group : groups.by_total()) items.emplace_back(recording, *group, names.map());
  Columns<GroupItem> columns;
  columns.add(timed_columns());
  columns.add(groups.by() == CallGroups::By::kThread ? thread_columns() : module_columns());
  columns.fill(table, std::move(items));
  Report report;
  report.head.push_back(calls_head(recording, calls, calls.by_total().size()));
  report.add(std::move(table));
  return report;
}

}  // namespace penna
