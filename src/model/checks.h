// SPDX-License-Identifier: MIT
// Checks: whether a recording keeps within limits, and which stacks are to blame where it does not.
//
// A kind of limit is a function that gives a Verdict; what a Verdict is about (bytes, counts, times) is its unit, so that
// limits on locks or calls need nothing else.
// Invariant: a verdict's `blames` add up to what was found, or to less where a limit is not one of sums.
#pragma once

#include <string>
#include <vector>

#include "model/allocations.h"
#include "model/call_limits.h"
#include "model/call_tree.h"
#include "model/suppressions.h"

namespace penna {

struct Blame {
  uint32_t process = 0;  // index
  uint32_t stack = 0;
  uint64_t amount = 0;
};

struct Verdict {
  enum class Unit : uint8_t { kCount, kBytes, kTime };  // nanoseconds
  std::string limit;                                    // as one types it: "--max-leak 0"
  Unit unit = Unit::kCount;
  uint64_t allowed = 0, found = 0;
  std::vector<Blame> blames;  // the largest first
  bool of_locks = false;      // the stacks are shown from where the lock was taken
  std::string doubt;          // why it may say nothing, and what then; empty: it does
  bool is_broken() const { return found > allowed; }
};

// Of the blocks that were never freed, in bytes and in number, but for those that are no news (null: all are).
Verdict check_leak(const Allocations& heap, LeakSuppressor* suppressor, Verdict::Unit unit, uint64_t allowed);
// Of the process with the largest peak.
Verdict check_peak(const Allocations& heap, uint64_t allowed);

// Allocations inside functions of these names: they stand in the stack, or their call is recorded and open. The contexts
// of `heap` are the nodes of `tree`, unless that is null: then no calls are recorded.
std::vector<Verdict> check_allocations(const Recording& recording, const Allocations& heap, Names& names,
                                       const CallTree* tree, const std::vector<CallLimit>& limits);

}  // namespace penna
