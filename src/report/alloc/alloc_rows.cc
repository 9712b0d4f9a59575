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

Columns<OfProcesses> holder_columns() {
  return {{minor({"processes", "PROCS", CellKind::kCount}), [](const OfProcesses& of) { return of.processes; }},
          {minor({"pid", "PID", CellKind::kNumber}),
           [](const OfProcesses& of) { return of.processes == 1 ? Cell{int64_t{of.pid}} : Cell{}; }}};
}

// A column with the same value in every row is hidden in text: PROCS if every row has one process, PID if every row has
// several, or all belong to the only one that allocated. The two columns are adjacent (holder_columns()).
void settle_holder_columns(Table& table, const Allocations& heap) {
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

// Shared by all items of the table, which outlive the caller's view.
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

// One row per slot, in slot order: row and slot numbers are the same, unless some are suppressed.
void AllocationRows::take_stacks(const Grouping& how) {
  for (const StackAllocations& stack : heap_.stacks()) {
    const bool keep = !how.keep || how.keep(stack);
    of_slot_.push_back(keep ? static_cast<uint32_t>(rows_.size()) : kNone);
    if (!keep) continue;
    rows_.emplace_back().self.add(stack);
    stacks_.push_back(stack);
  }
}

// A process's own peak is not the sum of its stacks' peaks: it is taken from its totals.
void AllocationRows::take_groups(const Grouping& how) {
  AllocationGroups grouped = group_allocations(heap_, names_, how);
  groups_ = std::move(grouped.groups);
  of_slot_ = std::move(grouped.of_slot);
  for (const AllocationGroup& group : groups_) {
    rows_.push_back({group.self, group.total});
    if (by_ == GroupBy::kProcess) rows_.back().self.own_peak_bytes = heap_.processes()[group.context].peak_bytes;
  }
}

OfProcesses AllocationRows::holders(uint32_t row) const {
  return by_ ? OfProcesses{} : OfProcesses{recording_, stacks_[row].processes, stacks_[row].process};
}

std::string AllocationRows::module_of(const AllocationItem& item) const {
  const NameFrame* frame = group_of(item).frame;
  return frame == nullptr || frame->module == kNoModule ? "[unknown]" : names_.map().path(frame->module);
}

Columns<AllocationItem> AllocationRows::columns(std::string_view stack) const {
  if (by_ && by_ != GroupBy::kCall && by_ != GroupBy::kFunction) return group_columns();
  Columns<AllocationItem> columns;
  if (!by_) columns.add(holder_columns());
  columns.add(place_columns(!by_ ? stack : by_ == GroupBy::kCall ? "CALL" : "FUNCTION"));
  return columns;
}

// For groups that are not functions. A file unknown to debug information goes under its module.
Columns<AllocationItem> AllocationRows::group_columns() const {
  using Item = AllocationItem;
  if (by_ == GroupBy::kFile)
    return {{{"file", "FILE", CellKind::kText, true}, [](const Item& item) {
               const NameFrame* frame = item.rows->group_of(item).frame;
               const bool known = frame != nullptr && !frame->file.empty();
               return Cell{known ? frame->file : item.rows->module_of(item)};
             }}};
  if (by_ == GroupBy::kModule)
    return {{{"module", "MODULE", CellKind::kText, true}, [](const Item& item) { return item.rows->module_of(item); }}};
  if (by_ == GroupBy::kThread)
    return {{minor({"pid", "PID", CellKind::kNumber, false, busy_processes(heap_) < 2}),
             [](const Item& item) {
               const uint32_t process = item.rows->thread_of(item).process;
               return Cell{int64_t{item.rows->recording_.processes()[process].process.pid}};
             }},
            {{"tid", "TID", CellKind::kNumber}, [](const Item& item) { return item.rows->thread_of(item).tid; }},
            {{"thread", "THREAD", CellKind::kText, true},
             [](const Item& item) { return item.rows->thread_of(item).name; }}};
  if (by_ == GroupBy::kProcess)
    return {
        {minor({"inherited_frees", "INHERITED FREES", CellKind::kCount, false, heap_.total().inherited_frees == 0}),
         [](const Item& item) {
           return item.rows->heap_.processes()[item.rows->group_of(item).context].inherited_frees;
         }},
        {minor({"pid", "PID", CellKind::kNumber}), [](const Item& item) { return item.rows->process_of(item).pid; }},
        {{"process", "PROCESS", CellKind::kText, true},
         [](const Item& item) { return process_name(item.rows->process_of(item)); }}};
  return {{{"kind", "KIND", CellKind::kText, true},
           [](const Item& item) { return block_kind_text(item.rows->group_of(item).context); }}};
}

void AllocationRows::declare(Table& table) const {
  table.details_in_row = true;
  if (are_stacks() || by_ == GroupBy::kCall) table.details_key = "stack";
}

void AllocationRows::describe_row(TableRow& row, AllocationItem& item) const {
  if (!by_) return set_stack(row, item, stacks_[item.row].process, stacks_[item.row].stack, names_);
  const AllocationGroup& group = group_of(item);
  if (by_ == GroupBy::kCall) return describe_call(row, item, group.context);
  if (by_ != GroupBy::kFunction) return;
  if (group.frame == nullptr) {
    row.details = {{fmt::format("({})", stack_end_text(StackEnd::kUnknown)), ""}};
    return;
  }
  NameFrame function = *group.frame;  // a function, not a call in it, so without the line; inlined or not
  function.line = 0;
  function.offset = 0;
  function.inlined = false;
  row.details = {frame_detail(function, names_.map())};
  item.frame = group.frame;
  item.map = &names_.map();
  item.has_line = false;
}

// The calls that lead to it, from the innermost outwards, like the frames of a stack. Node 0 is the tree's root.
void AllocationRows::describe_call(TableRow& row, Placed& place, uint32_t node) const {
  if (node == 0) {
    row.details = {{"(in no recorded call)", ""}};
    return;
  }
  const std::vector<CallNode>& nodes = tree_->nodes();
  std::vector<TableDetail> details;
  for (; nodes[node].function != kNoFunction; node = nodes[node].parent) {
    const NameFrame& function = names_.at(tree_->functions().place(nodes[node].function)).back();
    if (details.empty()) set_function(row, place, function, names_.map());
    details.push_back(frame_detail(function, names_.map()));
  }
  row.details = std::move(details);
}

}  // namespace penna
