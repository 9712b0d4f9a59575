// SPDX-License-Identifier: MIT
// Limits on locks: how long threads may wait for them and hold them, and functions in which none may be taken.
//
// Invariant: as in checks.h; for limits on times, a stack is blamed with its longest wait or hold beyond the limit.
#pragma once

#include <vector>

#include "model/calls/call_tree.h"
#include "model/locks/locks.h"
#include "model/verdict/checks.h"

namespace penna {

// Nanoseconds. For locks that have holders; waiting is what condition variables are for.
Verdict check_longest_wait(const Recording& recording, const Locks& locks, uint64_t allowed);
// For the lock with the longest 99th percentile of its waits.
Verdict check_wait_p99(const Recording& recording, const Locks& locks, uint64_t allowed);
// Including holds that were still open at the end.
Verdict check_longest_hold(const Recording& recording, const Locks& locks, uint64_t allowed);

// Counts where locks were taken: by stack, if recorded, and by the open call in the tree.
class LockPlaces {
 public:
  // `tree`: must see each event before this does; null: no calls are recorded.
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
