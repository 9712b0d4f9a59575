// SPDX-License-Identifier: MIT
// FunctionSums: what was recorded, summed by function and by caller: the numbers for formats that show a graph of
// functions (callgrind, graphviz).
//
// Calls come from the tree of call paths; everything else (allocations, waits, points) from stacks, as in folded.
// Invariants: the self weights of all functions add up to all(). Recursion counts once: the total of a function, or of
// an edge, is the weight of the stacks in which it appears.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "export/calls/folded_export.h"

namespace penna {

struct FunctionSum {
  std::string name;
  std::string file{};  // source; may be empty
  uint32_t line = 0;   // 0: unknown
  uint64_t calls = 0;  // 0 unless the weight is one of calls
  uint64_t self = 0;   // nanoseconds, or what FoldedWeight counts
  uint64_t total = 0;
};

struct EdgeSum {
  uint32_t caller = 0, callee = 0;  // indices into functions()
  uint64_t calls = 0;               // like FunctionSum's
  uint64_t total = 0;
};

struct FunctionSums {
  std::vector<FunctionSum> functions;
  std::vector<EdgeSum> edges;  // by caller, then callee
  uint64_t all = 0;
};

// Calls `step` with the number of events read since the last time.
FoldedReport sum_functions(const Recording& recording, Names& names, const FoldedOptions& options, FunctionSums& sums,
                           const std::function<void(uint64_t)>& step);

}  // namespace penna
