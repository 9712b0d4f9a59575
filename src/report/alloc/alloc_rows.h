// SPDX-License-Identifier: MIT
// AllocationRows: the rows of an allocation table: stacks, or functions, files, modules, processes, threads, calls,
// kinds.
//
// Why separate: every such table (alloc, leaks, temp, peak, lifetimes) takes --by with each of them, with its own
// numbers before them.
// Invariant: each kept slot of Allocations belongs to one row's `self`.
#pragma once

#include <memory>
#include <vector>

#include "model/names/suppressions.h"
#include "report/columns.h"
#include "report/frames.h"
#include "report/reports.h"

namespace penna {

// Whose a stack's row is: of how many processes, and if of one, its pid.
struct OfProcesses {
  OfProcesses() = default;
  OfProcesses(const Recording& recording, uint32_t how_many, uint32_t process)
      : processes(how_many), pid(recording.processes()[process].process.pid) {}
  uint32_t processes = 0, pid = 0;
};
Columns<OfProcesses> holder_columns();
// Once the rows are complete: hides these columns in text if they distinguish nothing.
void settle_holder_columns(Table& table, const Allocations& heap);

class AllocationRows;

// What a row is about. Shares ownership of the rows: they live as long as a cell may still be filled.
struct AllocationItem : Placed, OfProcesses {
  std::shared_ptr<const AllocationRows> rows;
  uint32_t row = 0;
  const AllocationSums& self() const;
  const AllocationSums& total() const;
};

class AllocationRows : public std::enable_shared_from_this<AllocationRows> {
 public:
  // For a function: what it allocated itself, and with its callees. For a stack both are the same.
  struct Row {
    AllocationSums self, total;
  };
  static constexpr uint32_t kNone = AllocationGroups::kNone;

  // All must outlive it and the tables. `suppress`: without the stacks that view.suppressor suppresses.
  static std::shared_ptr<AllocationRows> make(const Recording& recording, const Allocations& heap, Names& names,
                                              const AllocationView& view, bool suppress);

  const std::vector<Row>& rows() const { return rows_; }
  uint32_t of_slot(uint32_t slot) const { return of_slot_[slot]; }  // kNone: suppressed
  bool are_stacks() const { return !by_; }
  // Whether rows include other rows: a function those it called.
  bool have_totals() const {
    return by_ && by_ != GroupBy::kThread && by_ != GroupBy::kKind && by_ != GroupBy::kProcess;
  }
  // OWN PEAK is known for stacks and processes. Peaks of several stacks lie at different times and cannot be summed.
  bool know_own_peak() const { return are_stacks() || by_ == GroupBy::kProcess; }

  AllocationItem item(uint32_t row) const { return {{}, holders(row), shared_from_this(), row}; }
  // The columns after the numbers; `stack`: the title of the last one, if rows are stacks.
  Columns<AllocationItem> columns(std::string_view stack = "STACK") const;
  // Tells a table what its rows are.
  void declare(Table& table) const;
  // The details below a row of columns().
  static void describe(TableRow& row, AllocationItem& item) { item.rows->describe_row(row, item); }
  // Call once all rows are added.
  void settle(Table& table) const {
    if (!by_) settle_holder_columns(table, heap_);
  }

 private:
  AllocationRows(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view)
      : recording_(recording), heap_(heap), names_(names), tree_(view.tree), by_(view.by) {}
  void take_stacks(const Grouping& how);
  void take_groups(const Grouping& how);
  OfProcesses holders(uint32_t row) const;
  const AllocationGroup& group_of(const AllocationItem& item) const { return groups_[item.row]; }
  const RecordedThread& thread_of(const AllocationItem& item) const {
    return recording_.threads()[group_of(item).context];
  }
  const Process& process_of(const AllocationItem& item) const {
    return recording_.processes()[group_of(item).context].process;
  }
  Columns<AllocationItem> group_columns() const;
  std::string module_of(const AllocationItem& item) const;
  void describe_row(TableRow& row, AllocationItem& item) const;
  void describe_call(TableRow& row, Placed& place, uint32_t node) const;

  const Recording& recording_;
  const Allocations& heap_;
  Names& names_;
  const CallTree* tree_;
  std::optional<GroupBy> by_;
  std::vector<Row> rows_;
  // By slot of Allocations: its row, or kNone.
  std::vector<uint32_t> of_slot_;
  std::vector<StackAllocations> stacks_;  // by row, for stacks
  std::vector<AllocationGroup> groups_;   // by row, for everything else
};

inline const AllocationSums& AllocationItem::self() const { return rows->rows()[row].self; }
inline const AllocationSums& AllocationItem::total() const { return rows->rows()[row].total; }

// How many processes allocated: with more than one, rows name theirs.
size_t busy_processes(const Allocations& heap);

}  // namespace penna
