// SPDX-License-Identifier: MIT
// Limits on locks: how long threads may wait for them and hold them, and functions in which none may be taken.
//
// Invariant: as of checks.h; of limits on times, a stack is blamed with its longest wait or hold beyond what is
// allowed.
#pragma once

#include <vector>

#include "model/calls/call_tree.h"
#include "model/locks/locks.h"
#include "model/verdict/checks.h"

namespace penna {

// Nanoseconds. Of locks that have holders; what condition variables are waited for is their purpose.
Verdict check_longest_wait(const Recording& recording, const Locks& locks, uint64_t allowed);
// Of the lock with the longest 99th percentile of its waits.
Verdict check_wait_p99(const Recording& recording, const Locks& locks, uint64_t allowed);
// Those that were not over at the end included.
Verdict check_longest_hold(const Recording& recording, const Locks& locks, uint64_t allowed);

// Counts where locks were taken: by stack, where it was recorded, and by the call of the tree that was open.
class LockPlaces {
 public:
  // `tree`: sees each event before this does; null: no calls are recorded.
  explicit LockPlaces(const CallTree* tree) : tree_(tree) {}
  void operator()(const Event& event);

  struct Place {
    uint32_t process = 0, stack = 0, node = 0;
    uint64_t taken = 0;
  };
  const std::vector<Place>& all() const { return places_; }

 private:
  const CallTree* tree_;
  std::vector<Place> places_;
  NumberMap<NumberMap<uint32_t>> index_;  // by node: process, stack -> place
};

// Locks taken inside functions of these names: `allowed` of each limit.
std::vector<Verdict> check_locks_in(const Recording& recording, const LockPlaces& places, Names& names,
                                    const CallTree* tree, const std::vector<CallLimit>& limits);

}  // namespace penna
