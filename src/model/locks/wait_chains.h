// SPDX-License-Identifier: MIT
// WaitChains: for whom threads wait, and for whom those wait meanwhile: A for B, B for C.
//
// Why: shortening the hold that others wait for gains nothing if the holder itself waits for a third thread.
// Usage:  const LockStep step = held.take(event); chains(event, step); ... chains.finish(open_ends(...));
// A link is an object and the stack where it was taken, or where its waiters were woken; the chain continues with what
// that thread waited for at the time. If the holder is known in advance (locks, once, join) time is counted as it
// passes, by object and not by waiter; for everything else when the wait ends, by the thread that ended it.
// Invariant: the blocked time of all chains is that of all waits, up to the end of their process; a chain has at most
// kMostLinks.
// Memory: O(objects + threads + kMostChains), independent of the number of events.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tsl/robin_map.h>

#include "model/events/recent_ring.h"
#include "model/locks/holder_tracker.h"

namespace penna {

enum class LinkKind : uint8_t {
  kHeld,           // a thread has it; for a join: the thread runs
  kReleased,       // the same; the stack is where it was released, because where it was taken is unknown
  kUnknownHolder,  // a thread of another process held it, or one that was not recorded
  kFree,           // no thread has it, or none is known: being handed over
  kWoken,          // a thread woke the waiter: the stack is where it did so
  kTimedOut,       // no thread did
  kUnknownWaker,   // it is over, but what ended it is unknown: another process, a cancellation
  kNotWoken,       // still waiting, or was at the time
};

struct ChainLink {
  uint32_t object = kNoIndex;  // kNoIndex: all chains beyond kMostChains
  uint32_t stack = 0;          // 0: not known
  LinkKind kind = LinkKind::kHeld;
  bool is_cut = false;       // the chain goes on
  uint32_t next = kNoIndex;  // link: what the holder or waker waited for
  uint32_t length = 1;       // links from here on
  // First seen:
  uint32_t waiter = kNoIndex, waiter_stack = 0;
  uint32_t holder = kNoIndex, holder_wait_stack = 0;
  uint32_t holder_stack = 0;                        // of a holder of another process, if known: LockHold's
  bool more_waiters = false, more_holders = false;  // other threads were seen as well
  uint64_t time = 0;                                // ticks that threads were blocked in this link
  uint64_t times = 0;                               // how often it occurred: holds, wakes
};

class WaitChains {
 public:
  static constexpr uint32_t kMostLinks = 8;
  static constexpr size_t kMostChains = 1 << 18;

  explicit WaitChains(const HolderTracker& held);
  ~WaitChains();

  void operator()(const Event& event, const LockStep& step);
  // All events so far precede the range: they say who waits for whom, and no longer count.
  void begin_range(uint64_t begin);
  void finish(std::span<const uint64_t> ends);  // open_ends()

  const HolderTracker& held() const { return held_; }
  const std::vector<ChainLink>& links() const { return links_; }
  std::vector<uint32_t> by_time() const;  // links with time, most first
  uint64_t waits() const { return waits_; }
  uint64_t wait_time() const { return wait_time_; }
  uint64_t still_waiting() const { return still_waiting_; }
  uint64_t impossible() const { return impossible_; }  // began after they ended: counted with a time of 0

 private:
  struct Key {
    uint32_t object, stack, next;
    LinkKind kind;
    bool is_cut;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  // Time of a hold whose stack may still come with its end.
  struct Unplaced {
    uint32_t link;
    uint64_t time, times;
  };
  // State of an object with a holder.
  struct Flow {
    std::vector<uint32_t> waiters;  // threads
    uint32_t link = kNoIndex;       // the chain its waiters are in; kNoIndex: no waiters
    uint32_t depends = kNoIndex;    // object that its holder waits for
    uint64_t since = 0;             // up to which time is counted
    uint32_t held_link = kNoIndex;  // the last one with a holder
    uint64_t held_until = 0;
    std::vector<uint32_t> behind;  // objects that depend on it
    std::vector<Unplaced> unplaced;
  };
  // The thread that let waiters go on; for a lock: also since when it held it, and where taken.
  struct Waker {
    uint32_t thread = kNoIndex, stack = 0, taken = 0;
    uint64_t since = 0, time = 0;
  };
  // The holders of a mutex that condition waiters take again, by release time.
  using Releases = RecentRing<Waker>;
  struct PastWait {
    uint64_t begin, end;
    uint32_t link;
  };

  Flow& flow_of(uint32_t object);
  Waker& waker_of(uint32_t object);
  uint32_t link_of(const Key& key, uint32_t waiter, uint32_t waiter_stack, uint32_t holder, uint32_t holder_wait);
  uint32_t holder_link(uint32_t object, Flow& flow);
  void settle(Flow& flow, uint64_t time);
  void refresh(uint32_t object, uint64_t time, uint32_t depth);
  void holder_changed(uint32_t object, uint64_t time);
  void thread_changed(uint32_t thread, uint64_t time);
  void begin_wait(const Event& event, const LockStep& step);
  // `mutex`: that of the condition.
  void end_wait(uint32_t thread, const OpenWait& wait, uint64_t time, uint32_t end, bool is_over,
                uint32_t mutex = kNoIndex);
  void end_woken(uint32_t thread, const OpenWait& wait, uint64_t time, uint32_t end, bool is_over, uint32_t mutex);
  void woke(const Event& event, const LockStep& step);
  void charge_retaken(uint32_t thread, const OpenWait& wait, uint64_t woken, uint64_t time, uint32_t mutex);
  uint64_t end_retaken(uint32_t thread, const OpenWait& wait, uint64_t woken, uint64_t time, uint32_t mutex);
  void end_without_request(const Event& event, const LockStep& step);
  Unplaced* unplaced_of(Flow& flow);
  void count_time(Flow& flow);
  void place(const LockStep& step, uint64_t time);
  void remember(uint32_t thread, uint64_t begin, uint64_t end, uint32_t link);
  uint64_t duration(uint64_t begin, uint64_t end);

  const HolderTracker& held_;
  std::vector<ChainLink> links_;
  tsl::robin_map<Key, uint32_t, KeyHash> index_;
  std::vector<std::unique_ptr<Flow>> flows_;     // by object; null: no thread ever waited for it
  std::vector<Waker> wakers_;                    // by object
  tsl::robin_map<uint32_t, Releases> releases_;  // by object
  std::vector<uint32_t> joined_;                 // by thread: the object with which another thread waits for its end
  std::vector<std::vector<PastWait>> past_;      // by thread: a ring of its last waits
  std::vector<uint32_t> past_at_;
  uint64_t waits_ = 0, wait_time_ = 0, still_waiting_ = 0, impossible_ = 0;
};

}  // namespace penna
