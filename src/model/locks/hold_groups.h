// SPDX-License-Identifier: MIT
// HoldGroups: the holds of locks, summed up by lock and stack: the stack that took the lock, or if that is unknown, the
// one that released it.
//
// Invariant: a group keeps its number. Memory: O(pairs of lock and stack).
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "model/locks/lock_stats.h"

namespace penna {

class HoldGroups {
 public:
  // The number of the group; a new one begins with this thread. `last`: the group of the lock's hold before, replaced
  // by the result: a lock is often taken in the same place again.
  uint32_t find(uint32_t lock, uint32_t stack, bool stack_is_release, uint32_t thread, uint32_t& last);
  // A hold of `held` ticks that stands for `weight`; `open`: the recording ended before it did.
  void add(uint32_t group, uint32_t thread, uint64_t held, uint64_t weight, bool open);
  // Sums restart; groups stay.
  void begin_range();

  const std::vector<HoldGroup>& all() const { return all_; }
  std::vector<HoldGroup>& all() { return all_; }

 private:
  std::vector<HoldGroup> all_;
  NumberMap<uint32_t> by_taken_, by_release_;  // lock, stack -> group
};

}  // namespace penna
