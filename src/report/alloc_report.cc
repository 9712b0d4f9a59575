// SPDX-License-Identifier: MIT
// penna report alloc and leaks: what was allocated where, by stack, and what of it was never freed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

std::string counted(uint64_t value, const char* noun) { return plural_text(static_cast<int64_t>(value), noun); }
std::string bytes(uint64_t value) { return bytes_text(static_cast<int64_t>(value)); }

constexpr const char* kNothing = "No allocations were recorded.";

// How many processes allocated: with more than one, rows name theirs.
size_t busy_processes(const Allocations& heap) {
  size_t count = 0;
  for (const HeapTotals& totals : heap.processes()) count += totals.allocations != 0;
  return count;
}

TableColumn pid_column(const Allocations& heap) {
  return {"pid", "PID", CellKind::kNumber, false, busy_processes(heap) < 2};
}

Cell pid_of(const Recording& recording, uint32_t process) {
  return int64_t{recording.processes()[process].process.pid};
}

std::string peak_text(const Recording& recording, const Allocations& heap) {
  const HeapTotals total = heap.total();
  std::string text = fmt::format("{} in {} at the peak", bytes(total.peak_bytes), counted(total.peak_blocks, "block"));
  if (busy_processes(heap) > 1) text += " of the largest process";
  if (!recording.clocks().empty() && total.peak_time > recording.clocks()[0].ticks)
    text += fmt::format(" after {}",
                        duration_text(recording.time().duration_ns(recording.clocks()[0].ticks, total.peak_time)));
  return text;
}

// Fills the last cell (the innermost function) and the stack of a row.
void complete_stack(TableRow& row, uint32_t process, uint32_t stack, Names& names) {
  row.details = stack_details(process, stack, names);
  row.cells.back() = leaf_name(row.details);
}

}  // namespace

Report alloc_report(const Recording& recording, const Allocations& heap, Names& names) {
  Report report;
  const HeapTotals total = heap.total();
  if (total.allocations == 0) {
    report.head.push_back(kNothing);
    return report;
  }
  report.head.push_back(fmt::format("{} of {} in all, {} temporary; {}; {} in {} live at the end",
                                    counted(total.allocations, "allocation"), bytes(total.bytes),
                                    count_text(static_cast<int64_t>(total.temporary)), peak_text(recording, heap),
                                    bytes(total.live_bytes), counted(total.live_blocks, "block")));
  Table table;
  table.key = "alloc";
  table.details_key = "stack";
  table.details_in_row = true;
  table.columns = {{"bytes", "BYTES", CellKind::kBytes},
                   {"count", "COUNT", CellKind::kCount},
                   {"live_bytes", "LIVE", CellKind::kBytes},
                   {"live_blocks", "BLOCKS", CellKind::kCount},
                   {"peak_bytes", "PEAK", CellKind::kBytes},
                   {"temp", "TEMP", CellKind::kCount},
                   pid_column(heap),
                   {"function", "STACK", CellKind::kText, true}};
  const auto kept = std::make_shared<const std::vector<StackAllocations>>(heap.stacks());
  const std::vector<StackAllocations>& stacks = *kept;
  for (uint32_t i = 0; i < stacks.size(); ++i) {
    const StackAllocations& stack = stacks[i];
    table.add({number(stack.bytes), number(stack.allocations), number(stack.live_bytes), number(stack.live_blocks),
               number(stack.peak_bytes), number(stack.temporary), pid_of(recording, stack.process), std::string()},
              i);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& a, const TableRow& b) {
    return stacks[a.source].bytes > stacks[b.source].bytes;
  });
  table.complete = [kept, &names](TableRow& row) {
    complete_stack(row, (*kept)[row.source].process, (*kept)[row.source].stack, names);
  };
  report.tables.push_back(std::move(table));
  return report;
}

Report leaks_report(const Recording& recording, const Allocations& heap, Names& names) {
  Report report;
  const HeapTotals total = heap.total();
  if (total.allocations == 0) {
    report.head.push_back(kNothing);
    return report;
  }
  const auto leaks = std::make_shared<const std::vector<Leak>>(heap.leaks());
  if (leaks->empty()) {
    report.head.push_back(
        fmt::format("Nothing leaked: all {} were freed.", counted(total.allocations, "recorded block")));
    return report;
  }
  report.head.push_back(fmt::format("{} in {} not freed at the end, of {} in {}", bytes(total.live_bytes),
                                    counted(total.live_blocks, "block"), bytes(total.bytes),
                                    counted(total.allocations, "allocation")));
  Table table;
  table.key = "leaks";
  table.details_key = "stack";
  table.details_in_row = true;
  table.columns = {{"leaked_bytes", "LEAKED", CellKind::kBytes},
                   {"blocks", "BLOCKS", CellKind::kCount},
                   {"largest_bytes", "LARGEST", CellKind::kBytes},
                   {"first_ns", "FIRST", CellKind::kDuration, false, true},
                   {"last_ns", "LAST", CellKind::kDuration, false, true},
                   {"example", "EXAMPLE", CellKind::kAddress, false, true},
                   pid_column(heap),
                   {"function", "STACK", CellKind::kText, true}};
  const uint64_t begin = recording.clocks().empty() ? 0 : recording.clocks()[0].ticks;
  for (uint32_t i = 0; i < leaks->size(); ++i) {
    const Leak& leak = (*leaks)[i];
    table.add(
        {number(leak.bytes), number(leak.blocks), leak.sizes.empty() ? Cell{} : number(leak.sizes.front()),
         recording.time().duration_ns(begin, leak.first_time), recording.time().duration_ns(begin, leak.last_time),
         static_cast<int64_t>(leak.example), pid_of(recording, leak.process), std::string()},
        i);
  }
  table.complete = [leaks, &names](TableRow& row) {
    complete_stack(row, (*leaks)[row.source].process, (*leaks)[row.source].stack, names);
  };
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace penna
