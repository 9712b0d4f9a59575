// SPDX-License-Identifier: MIT
// WaitLedger: the open waits, and whom their time is charged to.
//
// While a thread waits, the lock may change hands: every holder is charged with the time for which it held it during
// the wait. Of several readers it is the one that has held it longest. The remainder belongs to no holder, or to an
// unknown one. Charges are booked when the wait ends, since only then is it known whether it was long enough to count.
// Invariant: the amount that a wait books is its length. Memory: O(threads) and O(pairs of stacks); events allocate
// none.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "model/locks/lock_stats.h"

namespace penna {

class WaitLedger {
 public:
  // Bounds for hostile recordings: how many threads waiting for one lock are charged exactly, and how many holders of
  // one wait are distinguished. Beyond them the holder is unknown.
  static constexpr size_t kMostCharged = 1024, kMostParts = 64;

  struct Open {
    uint32_t lock = kNoIndex;  // kNoIndex: the thread is not waiting
    uint32_t stack = 0;
    uint32_t owner = kNoIndex;  // thread that held it at the beginning, according to libc
    uint64_t begin = 0;
    size_t place = 0;      // in the queue
    uint64_t charged = 0;  // ticks: up to when
    struct Part {
      OtherSide side;
      uint32_t stack, thread, group;
      uint64_t time;
      bool many_threads = false;      // more than the one named
      uint32_t elsewhere = kNoIndex;  // as Other's
    };
    std::vector<Part> parts;
  };
  // One side of a charge.
  struct Other {
    OtherSide side = OtherSide::kUnknown;
    uint32_t stack = 0;
    uint32_t thread = kNoIndex;
    uint32_t group = kNoIndex;  // of holds
    uint64_t since = 0;
    uint32_t elsewhere = kNoIndex;  // process of the stack, if not the lock's process
  };

  // `recording` must outlive it: it knows whose waits count.
  explicit WaitLedger(const Recording& recording) : recording_(recording), open_(recording.threads().size()) {
    for (std::vector<WaitSum>& one : threads_) one.resize(recording.threads().size());
  }

  void add_lock(bool has_holder) {
    queues_.emplace_back();
    has_holder_.push_back(has_holder);
  }
  // False if the thread was already waiting, and how that wait ended is unknown.
  bool begin(uint32_t thread, uint32_t lock, uint64_t time, uint32_t stack, uint32_t owner);
  const Open& open(uint32_t thread) const { return open_[thread]; }
  size_t waiting(uint32_t lock) const { return queues_[lock].size(); }

  // `other` has held the lock until now.
  void charge(uint32_t lock, const Other& other, uint64_t now) {
    if (!queues_[lock].empty()) charge_all(lock, other, now);
  }
  // The wait is over (or, `still_open`, the recording is): books its time, unless it is left out as `is_short`.
  struct End {
    uint64_t time;  // its duration
    uint32_t stack;
    uint32_t waker;
    bool is_short, still_open;
  };
  // A hold by another process that shares the lock overlapped this thread's wait for this long.
  void charge_one(uint32_t thread, const Other& other, uint64_t time) { add_part(open_[thread], other, time); }
  // `rest` gets the time that is charged to no holder.
  void end(uint32_t thread, uint32_t lock, const End& end, const Other& rest, std::vector<HoldGroup>& groups);
  // The same for a wait of which only the end was recorded; `known`: the holds that overlapped it, and for how long.
  struct Charge {
    Other other;
    uint64_t time;
  };
  void end_only(uint32_t thread, uint32_t lock, const End& end, const Other& rest, std::span<const Charge> known,
                std::vector<HoldGroup>& groups);

  // Forgets what was booked so far; open waits count from here on.
  void begin_range(uint64_t begin);

  const std::vector<WaitPair>& pairs() const { return pairs_; }
  const std::vector<WaitStack>& stacks() const { return stacks_; }
  // By thread: for locks, which have holders, and for everything else.
  const std::vector<WaitSum>& threads(bool for_locks) const { return threads_[for_locks]; }

 private:
  void charge_all(uint32_t lock, const Other& other, uint64_t now);
  static void add_part(Open& wait, const Other& other, uint64_t time);
  void leave_queue(uint32_t thread);
  void charge_holders(const std::vector<Open::Part>& parts, uint64_t time, std::vector<HoldGroup>& groups) const;
  void book(uint32_t thread, uint32_t lock, const End& end, const Other& rest, std::vector<HoldGroup>& groups);
  void add(uint32_t waiter, uint32_t thread, uint32_t lock, const End& end, const Open::Part& part, uint64_t time);

  const Recording& recording_;
  std::vector<Open> open_;                     // by thread
  std::vector<std::vector<uint32_t>> queues_;  // by lock: threads
  std::vector<bool> has_holder_;               // by lock
  std::vector<WaitSum> threads_[2];            // threads()
  std::vector<WaitPair> pairs_;
  std::vector<WaitStack> stacks_;
  NumberMap<uint32_t> waiters_;               // lock, stack -> index in stacks_
  std::array<NumberMap<uint32_t>, 7> index_;  // by OtherSide: number of the waiter, stack -> pair
  NumberMap<uint32_t> elsewhere_index_;       // number of the waiter, and of a stack of another process -> pair
  NumberMap<NumberMap<uint32_t>> elsewhere_;  // process, side: stack -> its number, from 1
  uint32_t elsewhere_count_ = 0;
};

}  // namespace penna
