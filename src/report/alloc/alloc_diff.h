// SPDX-License-Identifier: MIT
// penna diff of allocations: the stacks of two recordings side by side, by the names of their functions and files.
//
// Why by name: between two builds every address and every line changes.
// Invariant: stacks of the same names are one row; what is in one recording only has no numbers for the other.
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

// The stacks of one recording, all that is needed of it.
struct StacksByName {
  // By "function\tmodule\n" of each frame, the innermost first. Ordered, so that equal rows keep
  // their place between runs.
  std::map<std::string, NamedStackSums> stacks;
  uint64_t count = 0, bytes = 0;
  uint64_t sample_mean = 0;  // Allocations'
  std::string program{};     // the name of its file: another name for it is no other program
};

enum class StackSums : uint8_t { kAllocated, kLeaked };

// Leaked: what was not freed, but for what `suppressor` suppresses (null: nothing).
StacksByName stacks_by_name(const Allocations& heap, Names& names, StackSums sums, LeakSuppressor* suppressor);
Report alloc_diff_report(const StacksByName& a, const StacksByName& b, StackSums sums, const QuietLimit& quiet);

}  // namespace penna
