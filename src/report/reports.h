// SPDX-License-Identifier: MIT
// The reports: what each analysis of the model says, as tables. One function a report; rows in their natural order.
//
// Why unsorted and uncompleted: select_rows() decides what is shown, and only that is given names.
// Invariant: the arguments outlive the report until select_rows() has run on its tables.
#pragma once

#include <functional>
#include <optional>

#include "model/blocks/allocation_groups.h"
#include "model/blocks/allocations.h"
#include "model/blocks/block_lifetimes.h"
#include "model/blocks/block_sizes.h"
#include "model/blocks/heap_history.h"
#include "model/blocks/unmatched_frees.h"
#include "model/calls/call_graph.h"
#include "model/calls/call_groups.h"
#include "model/calls/call_tree.h"
#include "model/calls/calls.h"
#include "model/events/points.h"
#include "model/events/summary.h"
#include "model/locks/held_calls.h"
#include "model/locks/lock_blocks.h"
#include "model/locks/locks.h"
#include "model/names/names.h"
#include "model/names/suppressions.h"
#include "model/verdict/health.h"
#include "report/table.h"

namespace penna {

// Calls as CallTree has them, of all threads together.
Report tree_report(const Recording& recording, const CallTree& tree, Names& names);
// The chosen functions with their callers and callees: a table each, or one with a column for the role. `pattern`: what
// they were chosen by.
Report graph_report(const Recording& recording, const CallGraph& graph, Names& names, const std::string& pattern,
                    bool in_one_table);
Report calls_report(const Recording& recording, const Calls& calls, Names& names);
// The same with a row for each thread or module.
Report calls_report(const Recording& recording, const Calls& calls, const CallGroups& groups, Names& names);
// What the rows of a report about allocations are, and which leaks are no news.
struct AllocationView {
  std::optional<GroupBy> by = std::nullopt;  // none: by stack
  std::function<void()> step = [] {};        // called on the way through all stacks, as groups need all their names
  const CallTree* tree = nullptr;            // for GroupBy::kCall: the contexts of the allocations are its nodes
  LeakSuppressor* suppressor = nullptr;      // null: all leaks are news
};
Report alloc_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
Report leaks_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
Report temp_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
// At the peak of all processes together.
Report peak_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
// `freed_by`: rows for who freed what, instead of those of the view.
Report lifetimes_report(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names,
                        const AllocationView& view, bool freed_by);
Report sizes_report(const Recording& recording, const Allocations& heap, const BlockSizes& sizes);
// A row for each point in time; in text they are drawn (heap_chart.h), `ascii` or not.
Report heap_report(const Recording& recording, const Allocations& heap, const HeapHistory& history, bool ascii);
// Rows by the stack that freed, or by the thread where stacks of frees are not recorded.
Report freers_report(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names);
// Frees that match no allocation, by the stack that freed.
Report unmatched_report(const Recording& recording, const Allocations& heap, const UnmatchedFrees& frees,
                        const HealthReport& health, Names& names);
// That stacks of frees are not recorded, and what to do so that they are.
std::string no_free_stacks_text(const Allocations& heap);
// "", or " of the family maps".
std::string family_text(const Allocations& heap);
// A sentence on what else was recorded besides the family that the report is about; empty: nothing.
std::string other_families_text(const Recording& recording, const Allocations& heap);
// Why such a report is empty.
std::string no_allocations_text(const Recording& recording, const Allocations& heap);
// That a recording holds a sample only: the report's numbers are estimates of all, or those of the sample.
std::string sample_text(const Allocations& heap);
// "at the end", of the program, of each of its processes or of the range (-r) that is shown.
std::string end_text(const Recording& recording, const Allocations& heap);
// Why nothing is known of temporary allocations, and what to do.
inline constexpr const char* kNoTemporaryOfSample =
    "a sample cannot tell which allocations are temporary, because what their thread allocated next is mostly not in "
    "it: record without --sample-bytes";
// What was not freed, but for what is suppressed (live_*).
AllocationSums leaked(const Allocations& heap, LeakSuppressor* suppressor);
// What reports about locks show, and how.
struct LockView {
  const LockBlocks* blocks = nullptr;  // where locks without a name lie; may be null
  std::string lock{};                  // only those of this name, which may be a glob; empty: all
  bool ascii = true;                   // of drawings
  bool with_stacks = false;            // locks: the waits by stack, and not by length
  const HeldCalls* held = nullptr;     // locks: what was called while they were held; null: not known
};
// Locks, the waits for the worst of them by length (or all by stack), what else was waited for, condition variables;
// and what that means.
Report locks_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view = {});
// A row for each pair of a stack that waited and one that held the lock; then those of what nobody holds.
Report waits_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view = {});
// A row for each function that waited, function that held the lock or woke, lock, thread or process.
enum class WaitsBy { kFunction, kHolder, kLock, kThread, kProcess };
Report waits_by_report(const Recording& recording, const Locks& locks, Names& names, WaitsBy by,
                       const LockView& view = {});
// Holds by the stack that took the lock.
Report holds_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view = {});
// With the stacks that they were passed with, where these were recorded.
Report points_report(const Recording& recording, const Points& points, Names& names);
Report threads_report(const Recording& recording, const Summary& summary);
// Every counter, and a sentence for each that means trouble.
Report health_report(const Recording& recording, const Summary& summary, const HealthReport& health);

// The sentences that belong on every report: what makes its numbers wrong or incomplete.
std::vector<std::string> health_warnings(const HealthReport& health);

// "worker (tid 12)", "tid 12" for the thread of a process that has this tid.
std::string thread_label(const Recording& recording, uint32_t process, uint32_t tid);

}  // namespace penna
