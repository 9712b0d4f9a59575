// SPDX-License-Identifier: MIT
// HeldCalls: what threads did while they held locks: the time of each hold, by the function that ran meanwhile.
//
// Usage: pass() for each call and lock event, before the tracker, the locks and the tree take it; finish().
// Why not per stack: where a lock was taken is known without calls; what then takes the time is what makes others wait.
// Invariant: the sums of a lock add up to the time for which threads are known to have held it; of several locks held
// at once each gets the whole time. Memory: O(pairs of a lock and a function).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "model/calls/call_tree.h"
#include "model/locks/locks.h"

namespace penna {

class HeldCalls {
 public:
  // All must outlive it.
  HeldCalls(const HolderTracker& held, const Locks& locks, const CallTree& tree);

  bool holds(uint32_t thread) const { return !held_.held_by(thread).empty(); }
  // The thread's time up to now belongs to its innermost open call; `after_loss`: unknown.
  void pass(uint32_t thread, uint64_t time, bool after_loss = false) {
    if (holds(thread) && !after_loss) book(thread, time);
    passed_[thread] = time;
  }
  // Locks already held count from here on.
  void begin_range(uint64_t begin) { begin_ = begin; }
  // Open holds count up to open_ends(). Call before the tree is finished.
  void finish(std::span<const uint64_t> ends);

  struct Sum {
    uint32_t lock = 0;                  // index
    FunctionId function = kNoFunction;  // of the tree; kNoFunction: no recorded call was open
    uint64_t time = 0;                  // ticks
  };
  // Of one lock, most time first.
  std::vector<Sum> of(uint32_t lock) const;
  const CodePlace& place(FunctionId function) const { return tree_.functions().place(function); }

 private:
  void book(uint32_t thread, uint64_t time);

  const HolderTracker& held_;
  const Locks& locks_;
  const CallTree& tree_;
  std::vector<uint64_t> passed_;  // by thread: ticks
  std::vector<Sum> sums_;
  NumberMap<uint32_t> index_;  // lock, function -> sum
  uint64_t begin_ = 0;
};

}  // namespace penna
