// SPDX-License-Identifier: MIT
// Deadlocks: threads that wait for each other when the recording ends, and those that wait for a thread that will never
// release.
//
// Why it is certain: a thread that waits writes nothing, so a wait without end lasted until the recording's end; and it
// waits for one of a few kinds of object, whose holder is known.
// Usage:  HolderTracker held(recording); ... all events ...; Deadlocks found = find_deadlocks(held);
// Invariant: each waiting thread is in `waiting` once; the threads of a cycle wait for one another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/locks/holder_tracker.h"

namespace penna {

struct StuckThread {
  enum class Why : uint8_t {
    kWaits,        // the holder itself does not wait, or is unknown
    kInDeadlock,   // directly or indirectly it waits for itself
    kBehind,       // for a thread in a deadlock
    kHolderEnded,  // for a lock that a thread held when it ended
    kElsewhere,    // held since before the fork, by a thread that this process does not have
  };
  uint32_t thread = 0;  // index
  OpenWait wait;
  uint32_t holder = kNoIndex;  // thread; in a deadlock the next one in the cycle
  Why why = Why::kWaits;
};

struct Deadlocks {
  std::vector<StuckThread> waiting;           // for a lock, a once, a thread's end; by thread
  std::vector<std::vector<uint32_t>> cycles;  // of `waiting`: each waits for the next, the last for the first
  uint64_t count(StuckThread::Why why) const;
};

Deadlocks find_deadlocks(const HolderTracker& held);

}  // namespace penna
