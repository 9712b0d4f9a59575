// SPDX-License-Identifier: MIT
// ConditionWaits: who signalled a condition variable, who heard it, and the consequences.
//
// Which of several waiters a signal wakes is not recorded; it is enough to know how many have been woken and are not
// back yet.
// Invariant: of the threads that wait for a condition, `woken` are on their way back.
// Memory: O(conditions, threads).
#pragma once

#include <cstdint>
#include <vector>

#include "model/events/event_cursor.h"
#include "model/locks/lock_stats.h"

namespace penna {

class ConditionWaits {
 public:
  explicit ConditionWaits(size_t threads) : waits_(threads) {}

  // A new condition; returns its number.
  uint32_t add(uint32_t index);
  // A thread begins to wait; it had held the mutex since `locked`.
  // `given`: the lock that the thread released last, as one does before waiting; kNoIndex: none.
  void requested(uint32_t condition, uint32_t thread, uint64_t time, uint64_t locked, uint32_t given = kNoIndex);
  // `elsewhere`: a thread waits in another process that shares the condition.
  void woke(uint32_t condition, uint32_t thread, uint64_t time, bool everybody, bool elsewhere = false);
  // `released`: when the mutex was last released, by the thread `released_by`; 0: never.
  void ended(uint32_t condition, uint32_t thread, uint32_t lock, bool timed_out, uint64_t released,
             uint32_t released_by);
  // The thread stopped waiting in a way that was not recorded.
  void dropped(uint32_t thread);
  // Counting starts over.
  void begin_range() {
    for (ConditionStats& one : all_) {
      ConditionStats fresh;
      fresh.index = one.index;
      fresh.lock = one.lock;
      one = fresh;
    }
  }
  // No more events. `exited(thread)`: its process ended by itself.
  template <typename Exited>
  void finish(Exited&& exited) {
    for (uint32_t i = 0; i < states_.size(); ++i) judge_broadcast(i);
    for (uint32_t thread = 0; thread < waits_.size(); ++thread)
      if (waits_[thread].condition != kNoIndex) suspect(thread, exited(thread));
  }

  const std::vector<ConditionStats>& all() const { return all_; }
  const std::vector<LostWakeup>& lost() const { return lost_; }

 private:
  // The last broadcast of a condition, until it is known whether its waiters could make use of it.
  struct Broadcast {
    uint64_t time = 0;
    uint32_t thread = kNoIndex;
    uint32_t woken = 0, queued = 0;  // `queued`: waited for the mutex behind another woken thread
  };
  // State needed in addition to ConditionStats while events come in: `open` threads wait, `woken` of them have been
  // signalled.
  struct State {
    uint32_t open = 0, woken = 0;
    uint64_t last_wake = 0;     // ticks
    uint64_t last_unheard = 0;  // ticks; 0: none
    uint32_t unheard_by = kNoIndex;
    Broadcast broadcast;
  };
  struct Wait {
    uint32_t condition = kNoIndex;
    uint64_t begin = 0, locked = 0;
  };
  void leave(uint32_t thread, bool was_woken);
  void judge_broadcast(uint32_t condition);
  void suspect(uint32_t thread, bool exited);

  std::vector<ConditionStats> all_;
  std::vector<State> states_;  // of all_
  std::vector<Wait> waits_;    // by thread
  std::vector<LostWakeup> lost_;
};

}  // namespace penna
