// SPDX-License-Identifier: MIT
// The reports: the result of each analysis of the model, as tables. One function per report; rows in their natural
// order.
//
// Why unsorted and incomplete: select_rows() decides what is shown, and only that gets names.
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

// The calls of CallTree, for all threads together.
Report tree_report(const Recording& recording, const CallTree& tree, Names& names);
// The chosen functions with their callers and callees: a table each, or one with a column for the role. `pattern`: how
// they were chosen.
Report graph_report(const Recording& recording, const CallGraph& graph, Names& names, const std::string& pattern,
                    bool in_one_table);
Report calls_report(const Recording& recording, const Calls& calls, Names& names);
// The same with one row per thread or module.
Report calls_report(const Recording& recording, const Calls& calls, const CallGroups& groups, Names& names);
// The rows of an allocation report, and which leaks are suppressed.
struct AllocationView {
  std::optional<GroupBy> by = std::nullopt;  // nothing: by stack
  std::function<void()> step = [] {};        // called while going through all stacks, as groups need all their names
  const CallTree* tree = nullptr;            // for GroupBy::kCall: the contexts of the allocations are its nodes
  LeakSuppressor* suppressor = nullptr;      // null: no leaks are suppressed
};
Report alloc_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
Report leaks_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
Report temp_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
// At the peak of all processes together.
Report peak_report(const Recording& recording, const Allocations& heap, Names& names, const AllocationView& view = {});
// `freed_by`: rows for who freed what, instead of the view's.
Report lifetimes_report(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names,
                        const AllocationView& view, bool freed_by);
Report sizes_report(const Recording& recording, const Allocations& heap, const BlockSizes& sizes);
// One row per point in time; drawn in text (heap_chart.h), in ASCII if `ascii`.
Report heap_report(const Recording& recording, const Allocations& heap, const HeapHistory& history, bool ascii);
// Rows by freeing stack, or by thread if stacks of frees were not recorded.
Report freers_report(const Recording& recording, const Allocations& heap, const BlockLifetimes& lives, Names& names);
// Frees that match no allocation, by freeing stack.
Report unmatched_report(const Recording& recording, const Allocations& heap, const UnmatchedFrees& frees,
                        const HealthReport& health, Names& names);
// Says that stacks of frees were not recorded, and how to record them.
std::string no_free_stacks_text(const Allocations& heap);
// "", or " of the family maps".
std::string family_text(const Allocations& heap);
// A sentence on what was recorded besides the report's family; empty: nothing.
std::string other_families_text(const Recording& recording, const Allocations& heap);
// Why such a report is empty.
std::string no_allocations_text(const Recording& recording, const Allocations& heap);
// Says that a recording holds only a sample: the report's numbers are estimates of the whole, or those of the sample.
std::string sample_text(const Allocations& heap);
// "at the end", of the program, of each of its processes or of the range (-r) shown.
std::string end_text(const Recording& recording, const Allocations& heap);
// Why nothing is known about temporary allocations, and what to do.
inline constexpr const char* kNoTemporaryOfSample =
    "a sample cannot tell which allocations are temporary, because what their thread allocated next is mostly not in "
    "it: record without --sample-bytes";
// What was not freed, except what is suppressed (live_*).
AllocationSums leaked(const Allocations& heap, LeakSuppressor* suppressor);
// What lock reports show, and how.
struct LockView {
  const LockBlocks* blocks = nullptr;  // where nameless locks lie; may be null
  std::string lock{};                  // only locks with this name, which may be a glob; empty: all
  bool ascii = true;                   // of drawings
  bool with_stacks = false;            // locks report: waits by stack instead of by length
  const HeldCalls* held = nullptr;     // locks report: what was called while they were held; null: unknown
};
// Locks, the waits for the worst of them by length (or all by stack), what else was waited for, condition variables;
// and what that means.
Report locks_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view = {});
// One row per pair of a waiting stack and one that held the lock; then those for objects without holder.
Report waits_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view = {});
// One row per waiting function, holding or waking function, lock, thread or process.
enum class WaitsBy { kFunction, kHolder, kLock, kThread, kProcess };
Report waits_by_report(const Recording& recording, const Locks& locks, Names& names, WaitsBy by,
                       const LockView& view = {});
// Holds by the stack that took the lock.
Report holds_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view = {});
// With the stacks of the hits, if recorded.
Report points_report(const Recording& recording, const Points& points, Names& names);
Report threads_report(const Recording& recording, const Summary& summary);
// Every counter, and a sentence for each that means trouble.
Report health_report(const Recording& recording, const Summary& summary, const HealthReport& health);

// The sentences for every report: what makes its numbers wrong or incomplete.
std::vector<std::string> health_warnings(const HealthReport& health);

// "worker (tid 12)", "tid 12": the thread of a process with this tid.
std::string thread_label(const Recording& recording, uint32_t process, uint32_t tid);

}  // namespace penna
