// SPDX-License-Identifier: MIT
// See alloc_rows.h.
#include "report/alloc/alloc_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/frames.h"

namespace penna {

size_t busy_processes(const Allocations& heap) {
  size_t count = 0;
  for (const HeapTotals& totals : heap.processes()) count += totals.allocations != 0;
  return count;
}

void add_process_columns(Table& table) {
  table.columns.push_back({"processes", "PROCS", CellKind::kCount});
  table.columns.push_back({"pid", "PID", CellKind::kNumber});
}

void add_process_cells(const Recording& recording, uint32_t processes, uint32_t process, std::vector<Cell>& cells) {
  cells.emplace_back(int64_t{processes});
  cells.emplace_back();
  if (processes == 1) cells.back() = int64_t{recording.processes()[process].process.pid};
}

void settle_process_columns(Table& table, const Allocations& heap) {
  const auto pid = std::find_if(table.columns.begin(), table.columns.end(),
                                [](const TableColumn& column) { return column.key == "pid"; });
  const size_t at = static_cast<size_t>(pid - table.columns.begin());
  bool any_of_one = false, any_of_several = false;
  for (const TableRow& row : table.rows) {
    const bool of_one = std::holds_alternative<int64_t>(row.cells[at]);
    any_of_one |= of_one;
    any_of_several |= !of_one;
  }
  pid->machine_only = !any_of_one || busy_processes(heap) < 2;
  pid[-1].machine_only = !any_of_several;
}

std::shared_ptr<AllocationRows> AllocationRows::make(const Recording& recording, const Allocations& heap, Names& names,
                                                     const AllocationView& view, bool suppress) {
  std::shared_ptr<AllocationRows> made(new AllocationRows(recording, heap, names, view));
  Grouping how;
  if (view.by) how.by = *view.by;
  how.tree = view.tree;
  how.step = view.step;
  if (suppress && view.suppressor != nullptr)
    how.keep = [&view](const StackAllocations& stack) {
      return !view.suppressor->suppresses(stack.process, stack.stack);
    };
  view.by ? made->take_groups(how) : made->take_stacks(how);
  return made;
}

void AllocationRows::take_stacks(const Grouping& how) {
  for (const StackAllocations& stack : heap_.stacks()) {
    const bool keep = !how.keep || how.keep(stack);
    of_slot_.push_back(keep ? static_cast<uint32_t>(rows_.size()) : kNone);
    if (!keep) continue;
    rows_.emplace_back().self.add(stack);
    stacks_.push_back(stack);
  }
}

void AllocationRows::take_groups(const Grouping& how) {
  AllocationGroups grouped = group_allocations(heap_, names_, how);
  groups_ = std::move(grouped.groups);
  of_slot_ = std::move(grouped.of_slot);
  for (const AllocationGroup& group : groups_) {
    rows_.push_back({group.self, group.total});
    if (by_ == GroupBy::kProcess) rows_.back().self.own_peak_bytes = heap_.processes()[group.context].peak_bytes;
  }
}

void AllocationRows::add_columns(Table& table) const {
  if (!by_) {
    add_process_columns(table);
    add_place_columns(table, "STACK");
  } else if (by_ == GroupBy::kFile) {
    table.columns.push_back({"file", "FILE", CellKind::kText, true});
  } else if (by_ == GroupBy::kModule) {
    table.columns.push_back({"module", "MODULE", CellKind::kText, true});
  } else if (by_ == GroupBy::kThread) {
    table.columns.push_back({"pid", "PID", CellKind::kNumber, false, busy_processes(heap_) < 2});
    table.columns.push_back({"tid", "TID", CellKind::kNumber});
    table.columns.push_back({"thread", "THREAD", CellKind::kText, true});
  } else if (by_ == GroupBy::kProcess) {
    table.columns.push_back(
        {"inherited_frees", "INHERITED FREES", CellKind::kCount, false, heap_.total().inherited_frees == 0});
    table.columns.push_back({"pid", "PID", CellKind::kNumber});
    table.columns.push_back({"process", "PROCESS", CellKind::kText, true});
  } else if (by_ == GroupBy::kKind) {
    table.columns.push_back({"kind", "KIND", CellKind::kText, true});
  } else {
    add_place_columns(table, by_ == GroupBy::kCall ? "CALL" : "FUNCTION");
  }
  table.details_in_row = true;
  if (are_stacks() || by_ == GroupBy::kCall) table.details_key = "stack";
}

void AllocationRows::add_cells(uint32_t row, std::vector<Cell>& cells) const {
  if (!by_) {
    add_process_cells(recording_, stacks_[row].processes, stacks_[row].process, cells);
    return add_place_cells(cells);
  }
  const AllocationGroup& group = groups_[row];
  const bool has_module = group.frame != nullptr && group.frame->module != kNoModule;
  if (by_ == GroupBy::kFile && group.frame != nullptr && !group.frame->file.empty()) {
    cells.emplace_back(group.frame->file);
  } else if (by_ == GroupBy::kFile || by_ == GroupBy::kModule) {
    cells.emplace_back(has_module ? names_.map().path(group.frame->module) : std::string("[unknown]"));
  } else if (by_ == GroupBy::kThread) {
    const RecordedThread& thread = recording_.threads()[group.context];
    cells.emplace_back(int64_t{recording_.processes()[thread.process].process.pid});
    cells.emplace_back(int64_t{thread.tid});
    cells.emplace_back(thread.name);
  } else if (by_ == GroupBy::kProcess) {
    const Process& process = recording_.processes()[group.context].process;
    cells.push_back(number(heap_.processes()[group.context].inherited_frees));
    cells.emplace_back(int64_t{process.pid});
    cells.emplace_back(process_name(process));
  } else if (by_ == GroupBy::kKind) {
    cells.emplace_back(std::string(block_kind_text(group.context)));
  } else {
    add_place_cells(cells);
  }
}

void AllocationRows::complete(Table& table) {
  if (!by_) settle_process_columns(table, heap_);
  table.complete = [self = shared_from_this()](TableRow& row) { self->fill_in(row); };
}

void AllocationRows::fill_in(TableRow& row) {
  if (!by_) return set_stack(row, stacks_[row.source].process, stacks_[row.source].stack, names_);
  const AllocationGroup& group = groups_[row.source];
  if (by_ == GroupBy::kCall) return fill_in_call(row, group.context);
  if (by_ != GroupBy::kFunction) return;
  if (group.frame == nullptr) {
    row.details = {{fmt::format("({})", stack_end_text(StackEnd::kUnknown)), ""}};
    return;
  }
  NameFrame function = *group.frame;  // not one call in it, so without the line; inlined or not
  function.line = 0;
  function.offset = 0;
  function.inlined = false;
  set_function(row, function, names_.map());
}

// The calls that lead to it, like the frames of a stack.
void AllocationRows::fill_in_call(TableRow& row, uint32_t node) {
  if (node == 0) {
    row.details = {{"(in no recorded call)", ""}};
    return;
  }
  const std::vector<CallNode>& nodes = tree_->nodes();
  for (; nodes[node].function != kNoFunction; node = nodes[node].parent) {
    const NameFrame& function = names_.at(tree_->functions().place(nodes[node].function)).back();
    if (row.details.empty()) set_place(row, &function, names_.map());
    row.details.push_back(frame_detail(function, names_.map()));
  }
}

}  // namespace penna
