// SPDX-License-Identifier: MIT
// penna report alloc and leaks: what was allocated where, by stack, function or module, and what of it was never freed.
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

// A row for each stack, most bytes first.
Table alloc_by_stack(const Recording& recording, const Allocations& heap, Names& names) {
  Table table;
  table.details_key = "stack";
  table.details_in_row = true;
  table.columns = {{"bytes", "BYTES", CellKind::kBytes},
                   {"count", "COUNT", CellKind::kCount},
                   {"live_bytes", "LIVE", CellKind::kBytes},
                   {"live_blocks", "BLOCKS", CellKind::kCount},
                   {"peak_bytes", "PEAK", CellKind::kBytes},
                   {"temp", "TEMP", CellKind::kCount},
                   pid_column(heap)};
  add_place_columns(table, "STACK");
  const auto kept = std::make_shared<const std::vector<StackAllocations>>(heap.stacks());
  const std::vector<StackAllocations>& stacks = *kept;
  for (uint32_t i = 0; i < stacks.size(); ++i) {
    const StackAllocations& stack = stacks[i];
    std::vector<Cell> cells = {
        number(stack.bytes),      number(stack.allocations), number(stack.live_bytes),        number(stack.live_blocks),
        number(stack.peak_bytes), number(stack.temporary),   pid_of(recording, stack.process)};
    add_place_cells(cells);
    table.add(std::move(cells), i);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& a, const TableRow& b) {
    return stacks[a.source].bytes > stacks[b.source].bytes;
  });
  table.complete = [kept, &names](TableRow& row) {
    set_stack(row, (*kept)[row.source].process, (*kept)[row.source].stack, names);
  };
  return table;
}

Table leaks_by_stack(const Recording& recording, const Allocations& heap, Names& names) {
  Table table;
  table.details_key = "stack";
  table.details_in_row = true;
  table.columns = {{"leaked_bytes", "LEAKED", CellKind::kBytes},
                   {"blocks", "BLOCKS", CellKind::kCount},
                   {"largest_bytes", "LARGEST", CellKind::kBytes},
                   {"first_ns", "FIRST", CellKind::kDuration, false, true},
                   {"last_ns", "LAST", CellKind::kDuration, false, true},
                   {"example", "EXAMPLE", CellKind::kAddress, false, true},
                   pid_column(heap)};
  add_place_columns(table, "STACK");
  const auto leaks = std::make_shared<const std::vector<Leak>>(heap.leaks());
  const uint64_t begin = recording.clocks().empty() ? 0 : recording.clocks()[0].ticks;
  for (uint32_t i = 0; i < leaks->size(); ++i) {
    const Leak& leak = (*leaks)[i];
    std::vector<Cell> cells = {number(leak.bytes),
                               number(leak.blocks),
                               leak.sizes.empty() ? Cell{} : number(leak.sizes.front()),
                               recording.time().duration_ns(begin, leak.first_time),
                               recording.time().duration_ns(begin, leak.last_time),
                               static_cast<int64_t>(leak.example),
                               pid_of(recording, leak.process)};
    add_place_cells(cells);
    table.add(std::move(cells), i);
  }
  table.complete = [leaks, &names](TableRow& row) {
    set_stack(row, (*leaks)[row.source].process, (*leaks)[row.source].stack, names);
  };
  return table;
}

// A row with the numbers of a group, and what the group is.
void add_group(Table& table, GroupBy by, const AllocationGroup& group, const Names& names, std::vector<Cell> cells) {
  const NameFrame* frame = group.frame;
  if (by == GroupBy::kModule) {
    const bool known = frame != nullptr && frame->module != kNoModule;
    cells.push_back(known ? names.map().path(frame->module) : std::string("[unknown]"));
    table.add(std::move(cells));
    return;
  }
  add_place_cells(cells);
  TableRow& row = table.add(std::move(cells));
  if (frame == nullptr) {
    row.details = {{std::string("(") + stack_end_text(StackEnd::kUnknown) + ")", ""}};
    return;
  }
  NameFrame function = *frame;  // not one call in it, so without the line; inlined or not
  function.line = 0;
  function.inlined = false;
  set_function(row, function, names.map());
}

void add_group_columns(Table& table, GroupBy by) {
  table.details_in_row = true;
  table.order = "sorted by SELF; --sort total: with what it called";
  if (by == GroupBy::kModule) {
    table.columns.push_back({"module", "MODULE", CellKind::kText, true});
  } else {
    add_place_columns(table, "FUNCTION");
  }
}

Table alloc_by_group(const Allocations& heap, Names& names, const AllocationView& view) {
  Table table;
  table.columns = {{"self_bytes", "SELF", CellKind::kBytes},
                   {"count", "COUNT", CellKind::kCount},
                   {"live_bytes", "LIVE", CellKind::kBytes},
                   {"peak_bytes", "PEAK", CellKind::kBytes},
                   {"temp", "TEMP", CellKind::kCount},
                   {"total_bytes", "TOTAL", CellKind::kBytes},
                   {"total_count", "TOTAL COUNT", CellKind::kCount, false, true},
                   {"total_live_bytes", "TOTAL LIVE", CellKind::kBytes, false, true},
                   {"total_peak_bytes", "TOTAL PEAK", CellKind::kBytes, false, true},
                   {"total_temp", "TOTAL TEMP", CellKind::kCount, false, true}};
  add_group_columns(table, *view.by);
  for (const AllocationGroup& group : group_allocations(heap, names, *view.by, view.step)) {
    const AllocationSums &self = group.self, &total = group.total;
    add_group(table, *view.by, group, names,
              {number(self.bytes), number(self.allocations), number(self.live_bytes), number(self.peak_bytes),
               number(self.temporary), number(total.bytes), number(total.allocations), number(total.live_bytes),
               number(total.peak_bytes), number(total.temporary)});
  }
  return table;
}

Table leaks_by_group(const Allocations& heap, Names& names, const AllocationView& view) {
  Table table;
  table.columns = {{"self_bytes", "SELF", CellKind::kBytes},
                   {"blocks", "BLOCKS", CellKind::kCount},
                   {"total_bytes", "TOTAL", CellKind::kBytes},
                   {"total_blocks", "TOTAL BLOCKS", CellKind::kCount}};
  add_group_columns(table, *view.by);
  std::vector<AllocationGroup> groups = group_allocations(heap, names, *view.by, view.step);
  std::stable_sort(groups.begin(), groups.end(), [](const AllocationGroup& a, const AllocationGroup& b) {
    return a.self.live_bytes != b.self.live_bytes ? a.self.live_bytes > b.self.live_bytes
                                                  : a.total.live_bytes > b.total.live_bytes;
  });
  for (const AllocationGroup& group : groups) {
    if (group.total.live_blocks == 0 && group.self.live_blocks == 0) continue;
    add_group(table, *view.by, group, names,
              {number(group.self.live_bytes), number(group.self.live_blocks), number(group.total.live_bytes),
               number(group.total.live_blocks)});
  }
  return table;
}

}  // namespace

Report alloc_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view) {
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
  report.tables.push_back(view.by ? alloc_by_group(heap, names, view) : alloc_by_stack(recording, heap, names));
  report.tables[0].key = "alloc";
  return report;
}

Report leaks_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view) {
  Report report;
  const HeapTotals total = heap.total();
  if (total.allocations == 0) {
    report.head.push_back(kNothing);
    return report;
  }
  if (total.live_blocks == 0) {
    report.head.push_back(
        fmt::format("Nothing leaked: all {} were freed.", counted(total.allocations, "recorded block")));
    return report;
  }
  report.head.push_back(fmt::format("{} in {} not freed at the end, of {} in {}", bytes(total.live_bytes),
                                    counted(total.live_blocks, "block"), bytes(total.bytes),
                                    counted(total.allocations, "allocation")));
  report.tables.push_back(view.by ? leaks_by_group(heap, names, view) : leaks_by_stack(recording, heap, names));
  report.tables[0].key = "leaks";
  return report;
}

}  // namespace penna
