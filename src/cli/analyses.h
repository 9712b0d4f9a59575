// SPDX-License-Identifier: MIT
// Analyses: the passes of the model that a report needs, made in one walk over the recording.
//
// Invariant: an analysis that was not asked for is null; what the walk could not read is in `walk`.
#pragma once

#include <memory>

#include "cli/wait_analyses.h"
#include "model/allocation_choice.h"
#include "model/allocations.h"
#include "model/block_lifetimes.h"
#include "model/block_sizes.h"
#include "model/call_groups.h"
#include "model/call_tree.h"
#include "model/calls.h"
#include "model/health.h"
#include "model/heap_history.h"
#include "model/lock_blocks.h"
#include "model/lock_checks.h"
#include "model/locks.h"
#include "model/names.h"
#include "model/points.h"
#include "model/slowdown.h"
#include "model/unmatched_frees.h"

namespace penna {

struct Analyses {
  std::unique_ptr<Calls> calls;
  std::unique_ptr<CallTree> tree;           // only for kCallTree
  std::unique_ptr<CallGroups> call_groups;  // only for kCallsByThread, kCallsByModule
  std::unique_ptr<Allocations> allocations;
  // What else is seen of allocations: one of these at most.
  std::unique_ptr<BlockLifetimes> lifetimes;  // only for kBlockLives, kBlockFreers
  std::unique_ptr<BlockSizes> sizes;          // only for kBlockSizes
  std::unique_ptr<HeapHistory> history;       // only for kHeapHistory
  std::unique_ptr<UnmatchedFrees> unmatched;  // only for kUnmatchedFrees
  std::unique_ptr<Locks> locks;
  std::unique_ptr<LockPlaces> lock_places;  // only for kLockPlaces
  std::unique_ptr<LockBlocks> lock_blocks;  // with locks, when some lie in allocated blocks
  std::unique_ptr<WaitAnalyses> relations;  // only for kLockOrder, kWaitChains, kWaitPath, kDeadlocks, kHangs
  std::unique_ptr<Points> points;
  std::unique_ptr<NetTimes> net;  // only for kNetTimes
  WalkReport walk;
};

// A bit of `classes` below: calls by the way that led to them.
inline constexpr uint32_t kCallTree = 1u << 31;
inline constexpr uint32_t kCallsByThread = 1u << 30, kCallsByModule = 1u << 29;
// The thread, or the node of the call tree (together with kCallTree and kCallEvents), as the context of allocations.
inline constexpr uint32_t kAllocByThread = 1u << 28, kAllocByCall = 1u << 27;
inline constexpr uint32_t kBlockLives = 1u << 26, kBlockFreers = 1u << 25, kBlockSizes = 1u << 24,
                          kHeapHistory = 1u << 23;
inline constexpr uint32_t kAllocByKind = 1u << 22;     // block_kind() as their context
inline constexpr uint32_t kAllocByProcess = 1u << 14;  // the process
inline constexpr uint32_t kNetTimes = 1u << 13;        // of calls: without what recording took
inline constexpr uint32_t kUnmatchedFrees = 1u << 21;
inline constexpr uint32_t kLockPlaces = 1u << 20;  // where locks are taken; in which calls, together with kCallTree

// Who waits for whom, together with kLockEvents.
inline constexpr uint32_t kLockOrder = 1u << 19, kWaitChains = 1u << 18, kWaitPath = 1u << 17, kDeadlocks = 1u << 16;
// Deadlocks, when threads wait for locks at the end: then in a second pass, for the first is to be fast.
inline constexpr uint32_t kHangs = 1u << 15;

// Which allocations count, and what is temporary.
struct AllocationWish {
  AllocationChoice* choice = nullptr;  // null: all
  uint32_t within = 1;
  SameStacks* same = nullptr;  // these two as in AllocationOptions
  PeakOf peak = PeakOf::kRecording;
};

// `classes`: bits of EventFilter::classes. `map` must outlive the result. Progress on stderr when `progress` is set.
Analyses analyse(const Recording& recording, const Summary& summary, const CodeMap& map, uint32_t classes,
                 bool progress, const AllocationWish& wish = {}, const LockOptions& locks = {});

// All that is known to be wrong, with what the analyses found.
HealthReport examine(const Recording& recording, const Summary& summary, const Analyses& analyses, Names& names);

}  // namespace penna
