// SPDX-License-Identifier: MIT
// The allocations of all stacks, summed by function, source file, module, process, thread, call or kind: what each
// allocated itself, and with everything it called.
//
// Why: a program has more stacks than anyone reads; most questions are about one function, wherever it was called from.
// Invariant: the sum of all `self` is the sum of all stacks; a function that occurs several times in a stack
// (recursion) counts once in its `total`.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "model/blocks/allocations.h"
#include "model/calls/call_tree.h"
#include "model/names/names.h"

namespace penna {

struct AllocationSums {
  uint64_t allocations = 0, bytes = 0, temporary = 0, temporary_bytes = 0;
  uint64_t live_blocks = 0, live_bytes = 0, peak_blocks = 0, peak_bytes = 0;
  uint64_t own_peak_bytes = 0;  // of the largest part: peaks at different times cannot be summed
  template <typename Part>      // StackAllocations or AllocationSums
  void add(const Part& part) {
    allocations += part.allocations;
    bytes += part.bytes;
    temporary += part.temporary;
    temporary_bytes += part.temporary_bytes;
    live_blocks += part.live_blocks;
    live_bytes += part.live_bytes;
    peak_blocks += part.peak_blocks;
    peak_bytes += part.peak_bytes;
    own_peak_bytes = std::max(own_peak_bytes, part.own_peak_bytes);
  }
};

struct AllocationGroup {
  const NameFrame* frame = nullptr;  // one of the frames in the group; lives as long as Names; null: unknown stacks
  uint32_t context =
      0;  // kProcess, kThread: index; kCall: node of the tree, 0 = in no recorded call; kKind: block_kind()
  AllocationSums self, total;
};

// For the last four, the context given to each allocation is the process, the thread, the tree node, or the kind.
enum class GroupBy : uint8_t { kFunction, kFile, kModule, kProcess, kThread, kCall, kKind };

// How to group, and which stacks.
struct Grouping {
  GroupBy by = GroupBy::kFunction;
  const CallTree* tree = nullptr;                     // for kCall
  std::function<void()> step = [] {};                 // called for each stack: naming them may take a while
  std::function<bool(const StackAllocations&)> keep;  // empty: all
};

struct AllocationGroups {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<AllocationGroup> groups;
  std::vector<uint32_t> of_slot;  // by slot of Allocations::stacks(): the group that has it in `self`; kNone: not kept
};

AllocationGroups group_allocations(const Allocations& heap, Names& names, const Grouping& how);

}  // namespace penna
