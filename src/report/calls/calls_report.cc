// SPDX-License-Identifier: MIT
// penna report calls: how often each function was called, and for how long.
#include <fmt/format.h>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// Of a function, or of a group of them.
template <typename Called>
std::vector<Cell> numbers(const Recording& recording, const Called& called) {
  const auto ns = [&](uint64_t ticks) { return Cell{ticks_to_ns(recording, ticks)}; };
  const Distribution& duration = called.duration;
  return {number(called.calls),
          ns(called.total),
          ns(called.self),
          ns(static_cast<uint64_t>(duration.average())),
          ns(duration.min()),
          ns(duration.max()),
          ns(duration.percentile(0.5)),
          ns(duration.percentile(0.99))};
}

Table table_of_calls() {
  Table table;
  table.key = "calls";
  table.columns = {{"calls", "CALLS", CellKind::kCount},     {"total_ns", "TOTAL", CellKind::kDuration},
                   {"self_ns", "SELF", CellKind::kDuration}, {"avg_ns", "AVG", CellKind::kDuration},
                   {"min_ns", "MIN", CellKind::kDuration},   {"max_ns", "MAX", CellKind::kDuration},
                   {"p50_ns", "P50", CellKind::kDuration},   {"p99_ns", "P99", CellKind::kDuration}};
  return table;
}

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

Report calls_report(const Recording& recording, const Calls& calls, Names& names) {
  Table table = table_of_calls();
  table.order = "sorted by TOTAL, the time with what they called";
  table.details_in_row = true;
  add_place_columns(table, "FUNCTION");
  for (const FunctionCalls* function : calls.by_total()) {
    std::vector<Cell> cells = numbers(recording, *function);
    add_place_cells(cells);
    table.add(std::move(cells), function->function);
  }
  table.complete = [&calls, &names](TableRow& row) {
    set_function(row, names.at(calls.functions().place(row.source)).back(), names.map());
  };
  Report report;
  report.head.push_back(calls_head(recording, calls, table.rows.size()));
  report.add(std::move(table));
  return report;
}

Report calls_report(const Recording& recording, const Calls& calls, const CallGroups& groups, Names& names) {
  Table table = table_of_calls();
  table.order = "sorted by TOTAL, the time with what was called, wherever it is";
  if (groups.by() == CallGroups::By::kThread) {
    table.columns.push_back({"pid", "PID", CellKind::kNumber});
    table.columns.push_back({"tid", "TID", CellKind::kNumber});
    table.columns.push_back({"thread", "THREAD", CellKind::kText, true});
  } else {
    table.columns.push_back({"module", "MODULE", CellKind::kText, true});
  }
  for (const CallGroup* group : groups.by_total()) {
    std::vector<Cell> cells = numbers(recording, *group);
    if (groups.by() == CallGroups::By::kThread) {
      const RecordedThread& thread = recording.threads()[group->key];
      cells.emplace_back(int64_t{recording.processes()[thread.process].process.pid});
      cells.emplace_back(int64_t{thread.tid});
      cells.emplace_back(thread.name);
    } else {
      cells.emplace_back(group->key == kNoModule ? std::string("[unknown]") : names.map().file_name(group->key));
    }
    table.add(std::move(cells));
  }
  Report report;
  report.head.push_back(calls_head(recording, calls, calls.by_total().size()));
  report.add(std::move(table));
  return report;
}

}  // namespace penna
