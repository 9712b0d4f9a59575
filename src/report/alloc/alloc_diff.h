// SPDX-License-Identifier: MIT
// penna diff of allocations: the stacks of two recordings side by side, by the names of their functions and files.
//
// Why by name: between two builds every address and every line changes.
// Invariant: stacks with the same names are one row; a stack in only one recording has no numbers for the other.
#pragma once

#include <map>
#include <string>

#include "model/blocks/allocations.h"
#include "model/names/suppressions.h"
#include "report/calls/diff_report.h"

namespace penna {

struct NamedStackSums {
  uint64_t count = 0, bytes = 0;
};

// The stacks of one recording, with all that is needed of it.
struct StacksByName {
  // By "function\tmodule\n" of each frame, innermost first. Ordered, so that equal rows keep their place between runs.
  std::map<std::string, NamedStackSums> stacks;
  uint64_t count = 0, bytes = 0;
  uint64_t sample_mean = 0;  // Allocations::sample_mean()
  std::string program{};     // its file name: the two programs may differ in it and count as the same
};

enum class StackSums : uint8_t { kAllocated, kLeaked };

// Leaked: what was not freed, except what `suppressor` suppresses (null: nothing).
StacksByName stacks_by_name(const Allocations& heap, Names& names, StackSums sums, LeakSuppressor* suppressor);
Report alloc_diff_report(const StacksByName& a, const StacksByName& b, StackSums sums, const QuietLimit& quiet);

}  // namespace penna
