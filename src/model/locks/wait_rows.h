// SPDX-License-Identifier: MIT
// Waits and holds, one row for each, streamed in the order in which they end.
//
// Why: reports that sum up (Locks, WaitChains) forget the single wait; timelines, SQL and exports need just that.
// Usage:  for_each_wait(recording, {}, [&](const WaitRow& row) { ...; return true; });
// The visitor returns false to stop. Rows of threads that were filtered out are left out; holders are known all the
// same. Times are ticks, threads and processes indices. Waits shorter than record's --min-wait are no waits and have no
// row; of a hold whose end was not recorded nothing is known, so it has none either.
// Invariant: every row overlaps the range; the waits of a thread do not overlap each other.
// Memory: O(locks + threads), whatever the number of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/locks/holder_tracker.h"
#include "model/locks/lock_stats.h"

namespace penna {

enum class WaitEnd : uint8_t {
  kGot,  // woken, or has the lock now
  kTimeout,
  kError,
  kOwnerDied,  // has the lock, whose owner died
  kLeft,       // the thread went on, but how the wait ended was not recorded
  kOpen,       // it had not ended when the recording, or the range that was read, did
};

struct WaitRow {
  uint32_t process = 0, thread = 0;
  uint32_t object =
      0;  // number of what was waited for: two locks that come after one another at an address differ in it
  penna_sync sync = PENNA_SYNC_MUTEX;  // how it was asked for: rwlocks to read or to write
  uint64_t address = 0;
  uint64_t begin = 0, end = 0;
  WaitEnd how = WaitEnd::kGot;
  uint32_t stack = 0;  // where it waited; 0: not known
  // Of locks, who held it when the wait began, or gave it back first since then; of all else, who ended the wait.
  OtherSide side = OtherSide::kUnknown;  // what is known of that thread: kHeld, kGaveBack, kWoke or kUnknown
  uint32_t other = kNoIndex;             // thread; kNoIndex: not known
  uint32_t other_stack = 0;              // a stack of its process: where it took, gave back or woke; 0: not known
};

struct HoldRow {
  uint32_t process = 0, thread = 0;
  uint32_t object = 0;  // as WaitRow's
  penna_sync sync = PENNA_SYNC_MUTEX;
  bool shared = false;  // held as a reader
  bool open = false;    // not over when the recording, or the range that was read, was
  uint64_t address = 0;
  uint64_t begin = 0, end = 0;
  uint32_t stack = 0, release_stack = 0;  // where it was taken and given back; 0: not known
  uint64_t longest_wait = 0;              // the longest that one other thread waited for it meanwhile
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
  // No more events: gives the rows that are still open.
  void finish();
  // Waits, or holds, that began before this time and have not ended.
  size_t open_before(uint64_t time) const;

 private:
  struct Waiting {
    OtherSide side = OtherSide::kUnknown;
    uint32_t other = kNoIndex, other_stack = 0;
    uint32_t object = kNoIndex;  // in whose queue it is; kNoIndex: in none
    size_t place = 0;            // there
    uint64_t last_end = 0;       // of the thread's wait before
  };
  // Of an object that somebody waited for, or was woken by.
  struct Contended {
    std::vector<uint32_t> waiters;               // threads
    uint64_t past_begin = 0, past_end = 0;       // the longest wait that ended while others held it
    uint32_t waker = kNoIndex, waker_stack = 0;  // who let waiters go on last,
    uint64_t woken = 0;                          // and when
  };
  Contended& contended(uint32_t object);
  void begin_wait(const Event& event, const LockStep& step);
  void leave_queue(uint32_t thread, uint64_t begin, uint64_t time);
  void drop_wait(const Event& event, const LockStep& step);
  void end_wait(const Event& event, const LockStep& step);
  void finish_wait(uint32_t thread, const OpenWait& wait, uint64_t end, WaitEnd how);
  void released(const Event& event, const LockStep& step);
  void give_hold(uint32_t object, const LockHold& hold, uint64_t end, uint32_t release_stack, bool open);
  uint64_t longest_wait(uint32_t object, const LockHold& hold, uint64_t end) const;
  uint64_t end_of(uint32_t thread) const;

  const HolderTracker& tracker_;
  OnWait on_wait_;
  OnHold on_hold_;
  std::vector<Waiting> waiting_;      // by thread
  std::vector<Contended> contended_;  // by object
};

struct RowOptions {
  uint64_t begin = 0, end = UINT64_MAX;  // ticks: rows that overlap [begin, end), besides the range that -r asks for
  // Read allocations, too: a lock in a new block of memory is another one than that at its address before. Slower.
  bool follow_memory = true;
  std::function<void()> step{};  // called for each event that is read; may be empty
};

WalkReport for_each_wait(const Recording& recording, const RowOptions& options,
                         const std::function<bool(const WaitRow&)>& on_row);
WalkReport for_each_hold(const Recording& recording, const RowOptions& options,
                         const std::function<bool(const HoldRow&)>& on_row);

}  // namespace penna
