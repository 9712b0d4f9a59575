// SPDX-License-Identifier: MIT
// See check_report.h.
#include "report/check_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/columns.h"
#include "report/frames.h"
#include "report/print.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

CellKind kind_of(const Verdict& verdict) {
  switch (verdict.unit) {
    case Verdict::Unit::kBytes: return CellKind::kBytes;
    case Verdict::Unit::kTime: return CellKind::kDuration;
    default: return CellKind::kCount;
  }
}

const char* title_of(const Verdict& verdict) {
  switch (verdict.unit) {
    case Verdict::Unit::kBytes: return "BYTES";
    case Verdict::Unit::kTime: return "LONGEST";
    default: return "COUNT";
  }
}

const char* state_of(const Verdict& verdict) {
  return verdict.is_broken() ? "broken" : verdict.is_unknown() ? "unknown" : "ok";
}

// Why it is unknown whether the limit is kept; empty: it is known. Of the missing information, only what could change
// the verdict: if too much was found, what may have made it look larger, else what may have hidden more.
std::vector<std::string> reasons_of(const Verdict& verdict) {
  std::vector<std::string> reasons;
  const bool too_much = verdict.found > verdict.allowed;
  if (verdict.is_unknown())
    for (const Missing& one : verdict.missing)
      if (too_much ? one.less : one.more) reasons.push_back(one.reason);
  return reasons;
}

// Each reason once, with the limits it affects, in the order of the verdicts.
std::vector<std::string> sentences_of_unknown(const std::vector<Verdict>& verdicts) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const Verdict& verdict : verdicts)
    for (const std::string& reason : reasons_of(verdict)) {
      auto known = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.first == reason; });
      if (known == list.end())
        list.emplace_back(reason, verdict.limit);
      else
        known->second += ", " + verdict.limit;
    }
  std::vector<std::string> sentences;
  sentences.reserve(list.size());
  for (const auto& [reason, limits] : list) sentences.push_back(fmt::format("not known: {}: {}", limits, reason));
  return sentences;
}

// The sentence for a continuous integration log: how many limits, and how many of them are broken or unknown.
std::string head_of(const std::vector<Verdict>& verdicts) {
  const auto count = [&](auto is) { return std::count_if(verdicts.begin(), verdicts.end(), is); };
  const auto broken = count([](const Verdict& one) { return one.is_broken(); });
  const auto unknown = count([](const Verdict& one) { return one.is_unknown(); });
  const std::string all = plural_text(static_cast<int64_t>(verdicts.size()), "limit");
  if (broken != 0 && unknown != 0) return fmt::format("{} of {} broken, {} not known", broken, all, unknown);
  if (broken != 0) return fmt::format("{} of {} broken", broken, all);
  if (unknown != 0) return fmt::format("{} of {} not known", unknown, all);
  return all + " kept";
}

// Units differ from row to row: text has them in words, CSV and JSON the raw numbers.
Columns<Verdict> limit_columns() {
  return {{{"found", "FOUND", CellKind::kNumber, false, true}, [](const Verdict& one) { return one.found; }},
          {{"allowed", "ALLOWED", CellKind::kNumber, false, true}, [](const Verdict& one) { return one.allowed; }},
          {{"broken", "BROKEN", CellKind::kNumber, false, true}, [](const Verdict& one) { return one.is_broken(); }},
          {{"", "FOUND", CellKind::kText, false, false, true},
           [](const Verdict& one) { return cell_text(number(one.found), kind_of(one)); }},
          {{"", "ALLOWED", CellKind::kText, false, false, true},
           [](const Verdict& one) { return cell_text(number(one.allowed), kind_of(one)); }},
          {{"", "", CellKind::kText, false, false, true}, [](const Verdict& one) { return state_of(one); }},
          {{"limit", "LIMIT", CellKind::kText, true}, [](const Verdict& one) { return one.limit; }},
          {{"unknown", "UNKNOWN", CellKind::kNumber, false, true}, [](const Verdict& one) { return one.is_unknown(); }},
          {{"reasons", "REASONS", CellKind::kText, false, true},
           [](const Verdict& one) { return Cell{fmt::format("{}", fmt::join(reasons_of(one), "; "))}; }}};
}

Table table_of_limits(const std::vector<Verdict>& verdicts) {
  Table table;
  table.key = "limits";
  limit_columns().fill(table, verdicts);
  return table;
}

struct BlameItem : Placed {
  BlameItem(const Recording& all, const Blame& one, bool locks, Names& its_names)
      : recording(all), blame(one), of_locks(locks), names(its_names) {}
  const Recording& recording;
  const Blame& blame;
  bool of_locks;
  Names& names;
};

// One row per stack to blame, largest first, as in the verdict.
Table table_of_blames(const Recording& recording, const Verdict& verdict, Names& names) {
  Columns<BlameItem> columns = {
      {{"amount", title_of(verdict), kind_of(verdict)}, [](const BlameItem& item) { return item.blame.amount; }},
      {{"pid", "PID", CellKind::kNumber, false, true},
       [](const BlameItem& item) { return item.recording.processes()[item.blame.process].process.pid; }}};
  columns.add(place_columns("STACK"));
  std::vector<BlameItem> items;
  for (const Blame& blame : verdict.blames) items.emplace_back(recording, blame, verdict.of_locks, names);
  Table table;
  table.title = fmt::format("{}: {} found", verdict.limit, cell_text(number(verdict.found), kind_of(verdict)));
  table.key = verdict.limit;
  table.details_key = "stack";
  table.details_in_row = true;
  columns.fill(table, std::move(items), [](TableRow& row, BlameItem& item) {
    (item.of_locks ? set_stack_of_wait : set_stack)(row, item, item.blame.process, item.blame.stack, item.names);
  });
  return table;
}

}  // namespace

// The limits, then a table for each that was exceeded, then the doubts.
Report check_report(const Recording& recording, const std::vector<Verdict>& verdicts, Names& names,
                    const Allocations* blocks) {
  Report report;
  const std::string of_blocks =
      blocks == nullptr || blocks->family().is_heap()
          ? ""
          : fmt::format("; {}s are those{}", blocks->family().allocation(), family_text(*blocks));
  report.head.push_back(fmt::format("{}{}.", head_of(verdicts), of_blocks));
  report.tables.push_back(table_of_limits(verdicts));
  for (const Verdict& verdict : verdicts) {
    // Also for a limit that may not be broken: the stacks are all there is to look at.
    if (verdict.found > verdict.allowed && !verdict.blames.empty())
      report.tables.push_back(table_of_blames(recording, verdict, names));
    if (!verdict.doubt.empty()) report.tail.push_back(fmt::format("{}: {}.", verdict.limit, verdict.doubt));
  }
  for (std::string& sentence : sentences_of_unknown(verdicts)) report.tail.push_back(std::move(sentence));
  return report;
}

}  // namespace penna
