// SPDX-License-Identifier: MIT
// The allocations of all stacks, added up by function or by module: what each allocated itself, and with all it called.
//
// Why: a program has more stacks than anybody reads; most questions are about one function, wherever it was called from.
// Invariant: the sum of all `self` is the sum of all stacks; a function that stands in a stack several times (recursion)
// counts once in its `total`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/allocations.h"
#include "model/names.h"

namespace penna {

struct AllocationSums {
  uint64_t allocations = 0, bytes = 0, temporary = 0;
  uint64_t live_blocks = 0, live_bytes = 0, peak_bytes = 0;
  void add(const StackAllocations& stack);
};

struct AllocationGroup {
  const NameFrame* frame = nullptr;  // one of those in it; lives as long as Names; null: of stacks that are not known
  AllocationSums self, total;
};

enum class GroupBy : uint8_t { kFunction, kModule };

// In order of most own bytes, then most bytes in all. `step` is called for each stack: naming them may take a while.
std::vector<AllocationGroup> group_allocations(const Allocations& heap, Names& names, GroupBy by,
                                               const std::function<void()>& step);

}  // namespace penna
