// SPDX-License-Identifier: MIT
// penna report calls: how often each function was called, and for how long.
#include <fmt/format.h>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

std::vector<Cell> numbers(const Recording& recording, const FunctionCalls& function) {
  const auto ns = [&](uint64_t ticks) { return Cell{ticks_to_ns(recording, ticks)}; };
  const Distribution& duration = function.duration;
  std::vector<Cell> cells = {number(function.calls),
                             ns(function.total),
                             ns(function.self),
                             ns(static_cast<uint64_t>(duration.average())),
                             ns(duration.min()),
                             ns(duration.max()),
                             ns(duration.percentile(0.5)),
                             ns(duration.percentile(0.99))};
  add_place_cells(cells);
  return cells;
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
  Table table;
  table.key = "calls";
  table.order = "sorted by TOTAL, the time with what they called";
  table.details_in_row = true;
  table.columns = {{"calls", "CALLS", CellKind::kCount},     {"total_ns", "TOTAL", CellKind::kDuration},
                   {"self_ns", "SELF", CellKind::kDuration}, {"avg_ns", "AVG", CellKind::kDuration},
                   {"min_ns", "MIN", CellKind::kDuration},   {"max_ns", "MAX", CellKind::kDuration},
                   {"p50_ns", "P50", CellKind::kDuration},   {"p99_ns", "P99", CellKind::kDuration}};
  add_place_columns(table, "FUNCTION");
  for (const FunctionCalls* function : calls.by_total()) table.add(numbers(recording, *function), function->function);
  table.complete = [&calls, &names](TableRow& row) {
    set_function(row, names.at(calls.functions().place(row.source)).back(), names.map());
  };
  Report report;
  report.head.push_back(calls_head(recording, calls, table.rows.size()));
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
  return report;
}

}  // namespace penna
