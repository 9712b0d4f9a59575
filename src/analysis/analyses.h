// SPDX-License-Identifier: MIT
// Analyses: the passes of the model that a report, a page or a query needs, made in one walk over the recording.
//
// Invariant: an analysis that was not asked for is null; what the walk could not read is in `walk`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "analysis/progress.h"
#include "analysis/wait_analyses.h"
#include "model/blocks/allocation_choice.h"
#include "model/blocks/allocations.h"
#include "model/blocks/block_lifetimes.h"
#include "model/blocks/block_sizes.h"
#include "model/blocks/heap_history.h"
#include "model/blocks/unmatched_frees.h"
#include "model/calls/call_groups.h"
#include "model/calls/call_tree.h"
#include "model/calls/calls.h"
#include "model/calls/slowdown.h"
#include "model/events/points.h"
#include "model/events/processors.h"
#include "model/locks/held_calls.h"
#include "model/locks/lock_blocks.h"
#include "model/locks/locks.h"
#include "model/names/names.h"
#include "model/verdict/health.h"
#include "model/verdict/lock_checks.h"

namespace penna {

// Owns all passes. Some refer to others (relations and locks observe holders, lock_places uses tree): members are in
// the order in which they can be built.
struct Analyses {
  std::unique_ptr<Calls> calls;
  std::unique_ptr<CallTree> tree;           // AnalysisChoice::call_tree
  std::unique_ptr<CallGroups> call_groups;  // AnalysisChoice::call_groups
  std::unique_ptr<Allocations> allocations;
  // By BlockView: at most one of these.
  std::unique_ptr<BlockLifetimes> lifetimes;  // kLifetimes, kFreers
  std::unique_ptr<BlockSizes> sizes;          // kSizes
  std::unique_ptr<HeapHistory> history;       // kHistory
  std::unique_ptr<UnmatchedFrees> unmatched;  // AnalysisChoice::unmatched_frees
  std::unique_ptr<HolderTracker> holders;     // with locks and relations, which observe it
  std::unique_ptr<Locks> locks;
  std::unique_ptr<LockPlaces> lock_places;  // AnalysisChoice::lock_places
  std::unique_ptr<HeldCalls> held_calls;    // AnalysisChoice::held_calls, if calls and locks were recorded
  std::unique_ptr<LockBlocks> lock_blocks;  // with locks, if some lie in allocated blocks
  std::unique_ptr<WaitAnalyses> relations;  // AnalysisChoice::relates_waits(), or hangs
  std::unique_ptr<Points> points;
  std::unique_ptr<NetTimes> net;  // AnalysisChoice::net_times
  WalkReport walk;
};

// What distinguishes the rows of an allocation table, besides stacks.
enum class AllocationContext : uint8_t { kNone, kProcess, kThread, kCall, kKind };
// Which observer follows the life of each block: at most one.
enum class BlockView : uint8_t { kNone, kLifetimes, kFreers, kSizes, kHistory };

// Which passes to make.
struct AnalysisChoice {
  uint32_t classes = 0;  // as in EventFilter: calls, allocations, locks, points
  // For calls.
  bool call_tree = false;
  std::optional<CallGroups::By> call_groups = std::nullopt;
  bool net_times = false;  // without what recording took
  // For allocations. kCall needs call_tree.
  AllocationContext context = AllocationContext::kNone;
  BlockView blocks = BlockView::kNone;
  bool unmatched_frees = false;
  // For locks.
  bool lock_places = false;  // where they are taken; in which calls, together with call_tree
  bool lock_order = false, wait_chains = false, wait_path = false, deadlocks = false;
  bool hangs = false;       // deadlocks, if threads wait for locks at the end
  bool held_calls = false;  // what was called while they were held; also reads calls, if any

  bool relates_waits() const { return lock_order || wait_chains || wait_path || deadlocks; }
};

// Which allocations count, and what is temporary.
struct AllocationRequest {
  AllocationChoice* choice = nullptr;  // null: all
  uint32_t within = 1;
  SameStacks* same = nullptr;  // these two as in AllocationOptions
  PeakOf peak = PeakOf::kRecording;
};

// `map` must outlive the result. `progress`: may be null. The result is the same whatever the number of `processors`
// that may work at the same time.
Analyses analyse(const Recording& recording, const Summary& summary, const CodeMap& map, const AnalysisChoice& choice,
                 ProgressObserver* progress, const AllocationRequest& request = {}, const LockOptions& locks = {},
                 size_t processors = usable_processors());

// All known problems, including what the analyses found.
HealthReport examine(const Recording& recording, const Summary& summary, const Analyses& analyses, Names& names);

}  // namespace penna
