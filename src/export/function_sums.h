// SPDX-License-Identifier: MIT
// FunctionSums: what was recorded, summed by function and by who called it: the numbers of formats that show a graph of
// functions (callgrind, graphviz).
//
// Calls come from the tree of all ways to them; all else (allocations, waits, points) from stacks, as of folded.
// Invariants: the self weights of all functions add up to all(). Recursion counts once: the total of a function, or of
// an edge, is the weight of the stacks in which it appears.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "export/folded_export.h"

namespace penna {

struct FunctionSum {
  std::string name;
  std::string file{};  // source; may be empty
  uint32_t line = 0;   // 0: unknown
  uint64_t calls = 0;  // 0 where the weight is not one of calls
  uint64_t self = 0;   // nanoseconds, or what FoldedWeight counts
  uint64_t total = 0;
};

struct EdgeSum {
  uint32_t caller = 0, callee = 0;  // places in functions()
  uint64_t calls = 0;               // as of FunctionSum
  uint64_t total = 0;
};

struct FunctionSums {
  std::vector<FunctionSum> functions;
  std::vector<EdgeSum> edges;  // by caller, then callee
  uint64_t all = 0;
};

// `step` is called with the number of events that were read since.
FoldedReport sum_functions(const Recording& recording, Names& names, const FoldedOptions& options, FunctionSums& sums,
                           const std::function<void(uint64_t)>& step);

}  // namespace penna
