// SPDX-License-Identifier: MIT
// AllocationRows: what the rows of a table about allocations are: stacks, or functions, files, modules, processes,
// threads, calls, kinds.
//
// Why apart: every such table (alloc, leaks, temp, peak, lifetimes) can be asked --by each, with its own numbers in
// front.
// Invariant: each slot of Allocations that is kept belongs to one row's `self`.
#pragma once

#include <memory>
#include <vector>

#include "model/names/suppressions.h"
#include "report/reports.h"

namespace penna {

class AllocationRows : public std::enable_shared_from_this<AllocationRows> {
 public:
  struct Row {
    AllocationSums self, total;
  };
  static constexpr uint32_t kNone = AllocationGroups::kNone;

  // All must outlive it and the tables. `suppress`: without the stacks that view.suppressor suppresses.
  static std::shared_ptr<AllocationRows> make(const Recording& recording, const Allocations& heap, Names& names,
                                              const AllocationView& view, bool suppress);

  const std::vector<Row>& rows() const { return rows_; }
  uint32_t of_slot(uint32_t slot) const { return of_slot_[slot]; }  // kNone: it is suppressed
  bool are_stacks() const { return !by_; }
  // They hold other rows: a function those that it called.
  bool have_totals() const {
    return by_ && by_ != GroupBy::kThread && by_ != GroupBy::kKind && by_ != GroupBy::kProcess;
  }
  // OWN PEAK is known of them: peaks at different times have no sum.
  bool know_own_peak() const { return are_stacks() || by_ == GroupBy::kProcess; }

  // The columns behind the numbers, the cells in them, and what fills them in once a row is shown. TableRow::source is
  // the row's number.
  void add_columns(Table& table) const;
  void add_cells(uint32_t row, std::vector<Cell>& cells) const;
  void complete(Table& table);

 private:
  AllocationRows(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view)
      : recording_(recording), heap_(heap), names_(names), tree_(view.tree), by_(view.by) {}
  void take_stacks(const Grouping& how);
  void take_groups(const Grouping& how);
  void fill_in(TableRow& row);
  void fill_in_call(TableRow& row, uint32_t node);

  const Recording& recording_;
  const Allocations& heap_;
  Names& names_;
  const CallTree* tree_;
  std::optional<GroupBy> by_;
  std::vector<Row> rows_;
  std::vector<uint32_t> of_slot_;
  std::vector<StackAllocations> stacks_;  // by row, of stacks
  std::vector<AllocationGroup> groups_;   // by row, of all else
};

// How many processes allocated: with more than one, rows name theirs.
size_t busy_processes(const Allocations& heap);

// Whose a row of a stack is: of how many processes, and where it is one, of which. In text only as far as it tells rows
// apart.
void add_process_columns(Table& table);
void add_process_cells(const Recording& recording, uint32_t processes, uint32_t process, std::vector<Cell>& cells);
void settle_process_columns(Table& table, const Allocations& heap);  // once all rows are there

}  // namespace penna
