// SPDX-License-Identifier: MIT
// Locks: who waited how long for which lock, and who held it.
//
// Usage:  Locks locks(recording); for_each_event(recording, {.classes = kLockEvents}, locks); locks.finish();
// Events must come merged in time order: the holder is known from the thread that took the lock last.
// All durations are ticks. Invariant: a lock has at most one holder; holds are counted from the outermost lock to the
// outermost unlock of one thread; a hold that contradicts that is counted as unmatched and not timed.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <vector>

#include "model/distribution.h"
#include "model/events.h"

namespace penna {

// Waits of one lock from one stack.
struct WaiterStack {
  uint32_t stack = 0;  // 0 = unknown
  uint64_t waits = 0;
  uint64_t time = 0;
  uint64_t longest = 0;
};

// Waits of one lock while one thread held it.
struct LockOwner {
  uint32_t tid = 0;
  uint64_t waits = 0;
  uint64_t time = 0;
};

struct LockStats {
  uint32_t process = 0;
  uint64_t address = 0;
  uint64_t first_time = 0;     // ticks, of its first event: with process and address, what Names needs
  uint64_t acquisitions = 0;   // all that succeeded, recursive ones and those at the end of a condition wait included
  uint64_t contended = 0;      // of them: after waiting for the lock
  uint64_t recursive = 0;      // of them: while the thread held it already
  uint64_t busy = 0;           // trylocks that found it taken
  uint64_t timeouts = 0;       // waits that ended without it
  uint64_t errors = 0;
  uint64_t owner_died = 0;     // acquisitions of a robust lock whose owner had died
  uint64_t condition_waits = 0;
  Distribution wait;            // for the lock: every wait, successful or not
  Distribution hold;            // finished holds
  Distribution condition_wait;  // in condition waits: until signalled and locked again
  uint64_t held_at_end = 0;        // 1: still held when the recording ended; not in `hold`
  uint64_t unmatched_unlocks = 0;  // given back by a thread that had not taken it (or before the recording)
  uint64_t missed_unlocks = 0;     // taken while another thread seemed to hold it
  std::vector<uint32_t> threads;   // indices of those that used it, ascending
  std::vector<WaiterStack> waiters;  // after finish(): most time first
  std::vector<LockOwner> owners;     // after finish(): most time first; those that the record names
};

struct ConditionStats {
  uint32_t process = 0;
  uint64_t address = 0;
  uint64_t first_time = 0;
  uint64_t lock = 0;  // of the last wait
  uint64_t timeouts = 0, errors = 0;
  Distribution wait;  // ticks
};

struct LockCounts {
  uint64_t locks = 0, acquisitions = 0, contended = 0, busy = 0, wait_time = 0;
  uint64_t unmatched_unlocks = 0, missed_unlocks = 0, held_at_end = 0;
  uint64_t impossible_waits = 0;  // began after they ended: counted, time taken as 0
};

class Locks {
 public:
  explicit Locks(const Recording& recording);  // must outlive it
  ~Locks();

  void operator()(const Event& event);
  void finish();  // then the results are there

  const std::vector<LockStats>& all() const { return locks_; }  // in order of first use
  std::vector<const LockStats*> by_wait() const;                // most waiting first, then most acquisitions
  const std::vector<ConditionStats>& conditions() const { return conditions_; }
  LockCounts counts() const;

 private:
  struct Holder {
    uint32_t thread = kNoIndex;
    uint32_t depth = 0;
    uint64_t since = 0;
  };
  uint32_t index_of(const Event& event, uint64_t address);
  void acquired(uint32_t lock, const Event& event);
  void waited(uint32_t lock, const Event& event);
  void unlocked(uint32_t lock, const Event& event);
  void condition_waited(uint32_t lock, const Event& event);
  uint64_t duration(uint64_t begin, uint64_t end);

  const Recording& recording_;
  std::vector<LockStats> locks_;
  std::vector<Holder> holders_;  // by lock
  std::vector<ConditionStats> conditions_;
  std::vector<tsl::robin_map<uint64_t, uint32_t>> lock_index_, condition_index_;  // by process: address -> index
  tsl::robin_map<uint64_t, uint32_t> waiter_index_;                               // lock << 32 | stack -> waiters
  std::vector<std::map<uint32_t, LockOwner>> owners_;                             // by lock
  uint64_t impossible_waits_ = 0;
};

}  // namespace penna
