// SPDX-License-Identifier: MIT
// Locks: who waited how long for which lock, where, and who held it meanwhile.
//
// Usage:  Locks locks(recording); for_each_event(recording, {.classes = kLockEvents}, locks); locks.finish();
// Before that, if only a range is read: visit_past(recording, kLockEvents, locks).
// A HolderTracker knows who holds what: either its own, or one shared with other observers; in that case Locks sees
// each event between the tracker's begin() and apply(). Events must come as the tracker needs them: merged in time
// order.
// Invariant: a lock has one holder, or readers; holds are counted from the outermost lock to the outermost unlock of
// one thread; a hold that contradicts this is counted as unmatched and not timed. A forked child may release, once,
// what its parent held at the fork: this is no contradiction. The threads that a process joins are one object, without
// address.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/events/events.h"
#include "model/events/process_families.h"
#include "model/events/recent_ring.h"
#include "model/events/threads_by_tid.h"
#include "model/locks/condition_waits.h"
#include "model/locks/forked_locks.h"
#include "model/locks/hold_groups.h"
#include "model/locks/holder_tracker.h"
#include "model/locks/lock_stats.h"
#include "model/locks/shared_locks.h"
#include "model/locks/wait_ledger.h"

namespace penna {

// What is left out, in ticks: waits in `pairs` and in the locks' `wait`, holds in `groups`.
struct LockOptions {
  uint64_t min_wait = 0, min_hold = 0;
};

class Locks {
 public:
  explicit Locks(const Recording& recording, const LockOptions& options = {});
  // `tracker` must outlive it.
  explicit Locks(const HolderTracker& tracker, const LockOptions& options = {});
  ~Locks();

  void operator()(const Event& event);                        // with its own tracker
  void operator()(const Event& event, const LockStep& step);  // before the tracker applies the step
  // All events so far precede the range: they establish who holds and waits for what, which counts from here on.
  void begin_range(uint64_t begin);
  void finish();  // the results are complete after it

  const std::vector<LockStats>& all() const { return locks_; }            // in order of first use
  std::vector<const LockStats*> by_wait() const;                          // most waiting first, then most acquisitions
  const std::vector<WaitPair>& pairs() const { return ledger_.pairs(); }  // also for objects without holder
  const std::vector<WaitStack>& wait_stacks() const { return ledger_.stacks(); }
  const std::vector<WaitSum>& thread_waits(bool for_locks) const { return ledger_.threads(for_locks); }  // by thread
  const std::vector<HoldGroup>& groups() const { return groups_.all(); }
  const std::vector<ConditionStats>& conditions() const { return conditions_.all(); }
  const std::vector<LostWakeup>& lost_wakeups() const { return conditions_.lost(); }
  // Sums over locks that have holders and pass the filter; without a filter over all.
  LockCounts counts(const LockFilter& wanted = {}) const;
  // The lock that an object of the tracker is currently counted as; kNoIndex: none yet.
  uint32_t lock_of(uint32_t object) const { return object < lock_of_.size() ? lock_of_[object] : kNoIndex; }

 private:
  // An open hold, as counted here.
  struct Hold {
    uint32_t lock = kNoIndex, thread = kNoIndex;  // kNoIndex: none
    uint32_t depth = 0, stack = 0;
    uint64_t weight = 1;  // when sampling: how many it stands for
    uint64_t since = 0;   // in the range that is read
    bool is_one() const { return thread != kNoIndex; }
  };
  // A hold that has ended.
  struct LastHold {
    WaitLedger::Other by;
    uint64_t end = 0;
  };
  // A post that lets a waiter of a semaphore go on.
  struct SemaphorePost {
    uint32_t thread, stack;
    uint64_t time;
  };
  static constexpr size_t kMostPosts = 64;
  struct State {
    std::vector<SemaphorePost> posts;  // while threads waited, and not yet used by any of them; oldest first
    uint32_t object = kNoIndex;        // the tracker's; kNoIndex: all threads that a process joins
    LastHold last;
    uint32_t waker = kNoIndex, waker_stack = 0;  // who released or woke last
    uint64_t woken = 0;                          // ticks, of that
    uint32_t group = kNoIndex;                   // of the last hold
    uint32_t condition = kNoIndex;               // number, of a condition
    RecentRing<LastHold> recent;                 // for a mutex used with conditions
    bool used = false;                           // beyond being initialised
    uint64_t noted = 0;                          // of the threads with indices below 64: those that have used it
  };
  // What a thread released last.
  struct LastRelease {
    uint32_t lock = kNoIndex;  // kNoIndex: none yet
    uint64_t since = 0;        // it had held it
  };

  // Where a thread's use of a lock is counted: nowhere for threads that were not asked for.
  LockStats& counted(uint32_t index, uint32_t thread) {
    return takes_thread(recording_, thread) ? locks_[index] : of_others_;
  }
  Locks(std::unique_ptr<HolderTracker> own, const LockOptions& options);
  uint32_t use(const Event& event, uint32_t object);
  uint32_t use(const Event& event, const LockStep& step);
  void note_use(const Event& event, uint32_t index);
  uint32_t add_lock(const Event& event, uint32_t object);
  uint32_t new_lock(const Event& event, LockKind kind, uint64_t address, uint32_t object);
  uint32_t lock_at(uint32_t process, LockKind kind, uint64_t address) const {
    return lock_of(tracker_.object_at(process, kind, address));
  }
  void inherit_name(LockStats& lock) const;
  WaitLedger::Other posted_elsewhere(const LockStats& lock, uint64_t begin) const;
  void replaced(uint32_t object);
  void made(const Event& event, const LockStep& step);

  void taken(uint32_t index, const Event& event, const LockRecord& read);
  void acquired(uint32_t index, const Event& event, const LockRecord& read);
  void released(const Event& event, const LockStep& step);
  void end_hold(const Hold& hold, uint64_t time, uint32_t stack);
  void joined(const Event& event, const LockRecord& read);
  uint64_t death_of(const Hold& hold, const Event& event, const LockRecord& read) const;
  Hold hold_from(uint32_t index, const LockHold& hold) const;
  template <typename Visit>
  void for_each_hold(uint32_t index, Visit&& visit) const;
  Hold hold_of(uint32_t index, uint32_t thread) const;
  Hold first_hold(uint32_t index) const;  // the writer, or the reader that has held it longest
  void count_hold(uint32_t group, const Hold& hold, uint64_t time, bool open);
  WaitLedger::Other holder(State& state, const Hold& hold, uint32_t stack);

  void requested(const Event& event, const LockStep& step);
  void waited(const Event& event, const LockStep& step);
  void condition_waited(const Event& event, const LockStep& step);
  uint64_t retaking_since(const Event& event, const LockRecord& read, uint32_t mutex, const State& condition) const;
  static std::vector<WaitLedger::Charge> holds_between(State& state, uint64_t begin, uint64_t end,
                                                       WaitLedger::Other* rest);
  void retaken(const Event& event, const LockRecord& read, uint32_t mutex, uint64_t begin);
  void woke(const Event& event, const LockStep& step);
  void end_wait(uint32_t index, uint32_t thread, uint64_t begin, uint64_t now, const LockRecord& read, bool open);
  void find_sharers(uint32_t index, uint32_t owner, uint64_t begin);
  bool was_held_by(uint32_t index, uint32_t thread, uint64_t time) const;
  bool is_waited_for_elsewhere(uint32_t index) const;
  void charge_sharers(uint32_t index, uint32_t thread, uint64_t begin, uint64_t end);
  void took_post(State& state, uint64_t begin, WaitLedger::End& end, WaitLedger::Other& rest);
  WaitLedger::Other other_side(uint32_t index, uint64_t begin, const LockRecord& read, uint32_t owner) const;
  uint64_t duration(uint64_t begin, uint64_t end);

  std::unique_ptr<HolderTracker> own_;  // null: it uses another's
  const HolderTracker& tracker_;
  const Recording& recording_;
  LockOptions options_;
  ProcessFamilies families_;
  ThreadsByTid threads_;
  std::vector<uint32_t> lock_of_;  // by object
  std::vector<uint32_t> joins_;    // by process: the lock that stands for all threads it joins
  struct Post {
    uint32_t thread, stack;
    uint64_t time;
  };
  // By address, for what several processes can wait for: the last post that let others go on.
  NumberMap<Post> posts_;
  SharedLocks shared_;
  ForkedLocks forked_;
  std::vector<LockStats> locks_;
  LockStats of_others_;
  std::vector<State> states_;               // of locks_
  std::vector<LastRelease> last_releases_;  // by thread
  HoldGroups groups_;
  WaitLedger ledger_;
  ConditionWaits conditions_;
  std::vector<uint64_t> joined_;  // by thread: when it was joined; 0: not yet
  uint64_t sample_;               // lock_sample()
  uint64_t unended_ = 0, impossible_ = 0;
  uint64_t from_ = 0;  // ticks: the beginning of the range
};

}  // namespace penna
