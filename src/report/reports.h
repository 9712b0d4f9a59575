// SPDX-License-Identifier: MIT
// The reports: what each analysis of the model says, as tables. One function a report; rows in their natural order.
//
// Why unsorted and uncompleted: select_rows() decides what is shown, and only that is given names.
// Invariant: the arguments outlive the report until select_rows() has run on its tables.
#pragma once

#include <functional>
#include <optional>

#include "model/allocation_groups.h"
#include "model/allocations.h"
#include "model/call_graph.h"
#include "model/call_groups.h"
#include "model/call_tree.h"
#include "model/calls.h"
#include "model/health.h"
#include "model/lock_blocks.h"
#include "model/locks.h"
#include "model/names.h"
#include "model/points.h"
#include "model/summary.h"
#include "report/table.h"

namespace penna {

// Calls as CallTree has them, of all threads together.
Report tree_report(const Recording& recording, const CallTree& tree, Names& names);
// The chosen functions with their callers and callees: a table each, or one with a column for the role. `pattern`: what they
// were chosen by.
Report graph_report(const Recording& recording, const CallGraph& graph, Names& names, const std::string& pattern,
                    bool in_one_table);
Report calls_report(const Recording& recording, const Calls& calls, Names& names);
// The same with a row for each thread or module.
Report calls_report(const Recording& recording, const Calls& calls, const CallGroups& groups, Names& names);
// A row for each stack, or for each function or module.
struct AllocationView {
  std::optional<GroupBy> by;           // none: by stack
  std::function<void()> step = [] {};  // called on the way through all stacks, as groups need all their names
};
Report alloc_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
Report leaks_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
// Locks, then the waits of those that were waited for, then condition variables. `blocks`: where locks without a name
// lie; may be null, and then they are called by their address.
Report locks_report(const Recording& recording, const Locks& locks, Names& names, const LockBlocks* blocks = nullptr);
Report waits_report(const Recording& recording, const Locks& locks, Names& names, const LockBlocks* blocks = nullptr);
Report points_report(const Recording& recording, const Points& points);
Report threads_report(const Recording& recording, const Summary& summary);
// Every counter, and a sentence for each that means trouble.
Report health_report(const Recording& recording, const Summary& summary, const HealthReport& health);

// The sentences that belong on every report: what makes its numbers wrong or incomplete.
std::vector<std::string> health_warnings(const HealthReport& health);

// "worker (tid 12)", "tid 12" for the thread of a process that has this tid.
std::string thread_label(const Recording& recording, uint32_t process, uint32_t tid);

}  // namespace penna
