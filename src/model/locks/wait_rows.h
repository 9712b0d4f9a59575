// SPDX-License-Identifier: MIT
// Waits and holds, one row each, streamed in the order in which they end.
//
// Why: reports that sum up (Locks, WaitChains) drop the individual wait; timelines, SQL and exports need exactly that.
// Usage:  for_each_wait(recording, {}, [&](const WaitRow& row) { ...; return true; });
// The visitor returns false to stop. Rows of filtered-out threads are left out; holders are known anyway. Times are
// ticks, threads and processes indices. Waits shorter than record's --min-wait are not waits and have no row; nothing
// is known about a hold whose end was not recorded, so it has none either. A wait for a condition has a second row if
// it was one for the mutex from the signal on, as in Locks; that is known when it ends, so holds of the mutex do not
// count it as a wait that they caused.
// Invariant: every row lies in the range of -r, where what began before it begins, and overlaps that of RowOptions; the
// waits of a thread do not overlap each other.
// Memory: O(locks + threads), regardless of the number of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/events/recent_ring.h"
#include "model/locks/holder_tracker.h"
#include "model/locks/lock_stats.h"

namespace penna {

enum class WaitEnd : uint8_t {
  kGot,  // woken, or has acquired the lock
  kTimeout,
  kError,
  kOwnerDied,  // acquired the lock, whose owner had died
  kLeft,       // the thread went on, but how the wait ended was not recorded
  kOpen,       // not ended when the recording, or the range that was read, ended
};

struct WaitRow {
  uint32_t process = 0, thread = 0;
  uint32_t object = 0;                 // number of the object waited for: distinguishes successive locks at one address
  penna_sync sync = PENNA_SYNC_MUTEX;  // how it was requested: rwlocks for reading or writing
  uint64_t address = 0;
  uint64_t begin = 0, end = 0;
  WaitEnd how = WaitEnd::kGot;
  uint32_t stack = 0;  // where it waited; 0: unknown
  // For locks, the holder when the wait began, or the first to release it since then; otherwise the thread that ended
  // the wait.
  OtherSide side = OtherSide::kUnknown;  // what is known about that thread: kHeld, kReleased, kWoke or kUnknown
  uint32_t other = kNoIndex;             // thread; kNoIndex: unknown
  uint32_t other_stack = 0;              // a stack of its process: where it took, released or woke; 0: unknown
  // The rest of a wait for a condition, after the signal: for its mutex.
  bool retaken = false;
};

struct HoldRow {
  uint32_t process = 0, thread = 0;
  uint32_t object = 0;  // like WaitRow's
  penna_sync sync = PENNA_SYNC_MUTEX;
  bool shared = false;  // held as a reader
  bool open = false;    // still held when the recording, or the range that was read, ended
  uint64_t address = 0;
  uint64_t begin = 0, end = 0;
  uint32_t stack = 0, release_stack = 0;  // where it was taken and released; 0: unknown
  uint64_t longest_wait = 0;              // the longest that any one other thread waited for it meanwhile
};

// Follows a HolderTracker and calls back at the end of each wait and hold.
class WaitRows {
 public:
  using OnWait = std::function<void(const WaitRow&)>;
  using OnHold = std::function<void(const HoldRow&)>;
  // Either may be empty.
  WaitRows(const HolderTracker& tracker, OnWait on_wait, OnHold on_hold);
  ~WaitRows();

  void operator()(const Event& event, const LockStep& step);
  // No more events: reports the rows that are still open.
  void finish();
  // Number of waits, or holds, that began before this time and have not ended.
  size_t count_open_before(uint64_t time) const;

 private:
  struct Waiting {
    OtherSide side = OtherSide::kUnknown;
    uint32_t other = kNoIndex, other_stack = 0;
    uint32_t object = kNoIndex;  // whose queue it is in; kNoIndex: none
    size_t place = 0;            // in that queue
    uint64_t last_end = 0;       // of the thread's previous wait
  };
  // A hold of a lock that has ended.
  struct Release {
    uint32_t thread = kNoIndex, stack = 0;  // as WaitRow's other and other_stack
    OtherSide side = OtherSide::kUnknown;
    uint64_t time = 0;
  };
  // An object that a thread has waited for, was woken by, or has released.
  struct Contended {
    std::vector<uint32_t> waiters;               // threads
    uint64_t past_begin = 0, past_end = 0;       // the longest wait that ended while others held it
    uint32_t waker = kNoIndex, waker_stack = 0;  // the last thread that let waiters go on,
    uint64_t woken = 0;                          // and when
    Release last;                                // of a lock
    RecentRing<Release> recent;                  // likewise; for a mutex used with conditions
  };
  Contended& contended(uint32_t object);
  void begin_wait(const Event& event, const LockStep& step);
  void leave_queue(uint32_t thread, uint64_t begin, uint64_t time);
  void drop_wait(const Event& event, const LockStep& step);
  void end_wait(const Event& event, const LockStep& step);
  uint64_t retaking_since(const Event& event, const LockStep& step);
  void end_retaking(const Event& event, const LockStep& step, uint32_t stack, uint64_t since);
  void finish_wait(uint32_t thread, const OpenWait& wait, uint64_t end, WaitEnd how, bool retaken = false);
  void released(const Event& event, const LockStep& step);
  void report_hold(uint32_t object, const LockHold& hold, uint64_t end, uint32_t release_stack, bool open);
  uint64_t longest_wait(uint32_t object, const LockHold& hold, uint64_t end) const;

  bool precedes_range(uint64_t begin, uint64_t end) const { return begin < from_ && end <= from_; }

  const HolderTracker& tracker_;
  const uint64_t from_;  // ticks: the beginning of the range of -r
  OnWait on_wait_;
  OnHold on_hold_;
  std::vector<Waiting> waiting_;      // by thread
  std::vector<Contended> contended_;  // by object
};

struct RowOptions {
  uint64_t begin = 0, end = UINT64_MAX;  // ticks: rows that overlap [begin, end), within the range of -r
  // Also read allocations: a lock in newly allocated memory differs from the one previously at its address. Slower.
  bool follow_memory = true;
  std::function<void()> step{};  // called for each event read; may be empty
};

WalkReport for_each_wait(const Recording& recording, const RowOptions& options,
                         const std::function<bool(const WaitRow&)>& on_row);
WalkReport for_each_hold(const Recording& recording, const RowOptions& options,
                         const std::function<bool(const HoldRow&)>& on_row);

}  // namespace penna
