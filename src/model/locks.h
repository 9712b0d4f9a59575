// SPDX-License-Identifier: MIT
// Locks: who waited how long for which lock, and who held it.
//
// Usage:  Locks locks(recording); for_each_event(recording, {.classes = kLockEvents}, locks); locks.finish();
// Events must come merged in time order: the holder is known from the thread that took the lock last.
// All durations are ticks. Invariant: a lock has at most one holder; holds are counted from the outermost lock to the
// outermost unlock of one thread; a hold that contradicts that is counted as unmatched and not timed. A forked child may
// give back, once, what its parent held at the fork: that is no contradiction.
#pragma once

#include <cstdint>
#include <vector>

#include "model/distribution.h"
#include "model/events.h"
#include "model/forked_locks.h"
#include "model/hash.h"

namespace penna {

// Waits for one lock: those from one stack, or while one thread held it.
struct LockWaits {
  uint32_t id = 0;  // of the stack (0 = unknown), or tid of the holder
  uint64_t waits = 0;
  uint64_t time = 0;
  uint64_t longest = 0;
};

struct LockStats {
  uint32_t process = 0;
  uint64_t address = 0;
  uint64_t first_time = 0;    // ticks, of its first event: with process and address, what Names needs
  uint64_t acquisitions = 0;  // all that succeeded, recursive ones and those at the end of a condition wait included
  uint64_t contended = 0;     // of them: after waiting for the lock
  uint64_t recursive = 0;     // of them: while the thread held it already
  uint64_t busy = 0;          // trylocks that found it taken
  uint64_t timeouts = 0;      // waits that ended without it
  uint64_t errors = 0;
  uint64_t owner_died = 0;         // acquisitions of a robust lock whose owner had died
  Distribution wait;               // for the lock: every wait, successful or not
  Distribution hold;               // finished holds
  Distribution condition_wait;     // of each condition wait with it: until it was held again
  bool held_at_end = false;        // still held when the recording ended: that hold is not in `hold`
  uint64_t inherited_unlocks = 0;  // given back by a forked process, held since before the fork
  uint64_t unmatched_unlocks = 0;  // given back by a thread that had not taken it (or before the recording)
  uint64_t missed_unlocks = 0;     // taken while another thread seemed to hold it
  std::vector<uint32_t> threads;   // indices of those that used it, ascending
  std::vector<LockWaits> waiters;  // by stack; after finish(): most time first
  std::vector<LockWaits> owners;   // by tid of the holder when the wait began, where known; the same order
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
  uint64_t locks = 0, acquisitions = 0, contended = 0, busy = 0, wait_time = 0, condition_waits = 0;
  uint64_t inherited_unlocks = 0, unmatched_unlocks = 0, missed_unlocks = 0, held_at_end = 0;
  uint64_t impossible = 0;  // waits and holds that began after they ended: counted, their time taken as 0
};

class Locks {
 public:
  explicit Locks(const Recording& recording);
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
  void acquired(uint32_t index, const Event& event);
  void unlocked(uint32_t index, const Event& event);
  void waited(const Event& event, const penna_lock_wait& wait);
  void condition_waited(const Event& event, const penna_cond_wait& wait);
  void add_wait(std::vector<LockWaits>& list, NumberMap<uint32_t>& map, uint32_t lock, uint32_t id, uint64_t time);
  uint64_t duration(uint64_t begin, uint64_t end);

  std::vector<LockStats> locks_;
  std::vector<Holder> holders_;  // by lock
  ForkedLocks forked_;
  std::vector<ConditionStats> conditions_;
  std::vector<NumberMap<uint32_t>> lock_index_, condition_index_;  // by process: address -> index
  NumberMap<uint32_t> waiter_index_, owner_index_;                 // lock, id -> index into its waiters, owners
  uint64_t impossible_ = 0;
};

}  // namespace penna
