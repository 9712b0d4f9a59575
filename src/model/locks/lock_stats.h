// SPDX-License-Identifier: MIT
// What is known about locks, waits and holds after a recording has been read: the results of Locks (locks.h).
//
// All durations are ticks. "Lock" stands for everything that threads wait for; has_holder() says which can be held.
// Invariant: the times of all pairs of a lock add up to the sum of its `wait`, except for waits left out as short.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/events/distribution.h"
#include "model/events/event_cursor.h"
#include "model/events/lock_records.h"

namespace penna {

enum class LockKind : uint8_t {
  kMutex,
  kRwlock,
  kSpin,
  kOwn,  // known only by its functions
  kSemaphore,
  kCondition,
  kBarrier,
  kOnce,
  kJoin,
  kFutex,
};

// READ and WRITE are two ways to take the same object.
constexpr LockKind lock_kind(penna_sync sync) {
  switch (sync) {
    case PENNA_SYNC_READ:
    case PENNA_SYNC_WRITE: return LockKind::kRwlock;
    case PENNA_SYNC_SPIN: return LockKind::kSpin;
    case PENNA_SYNC_OWN: return LockKind::kOwn;
    case PENNA_SYNC_SEMAPHORE: return LockKind::kSemaphore;
    case PENNA_SYNC_CONDITION: return LockKind::kCondition;
    case PENNA_SYNC_BARRIER: return LockKind::kBarrier;
    case PENNA_SYNC_ONCE: return LockKind::kOnce;
    case PENNA_SYNC_JOIN: return LockKind::kJoin;
    case PENNA_SYNC_FUTEX: return LockKind::kFutex;
    default: return LockKind::kMutex;
  }
}
constexpr const char* lock_kind_name(LockKind kind) {
  constexpr const char* kNames[] = {"mutex",     "rwlock",  "spinlock", "own lock", "semaphore",
                                    "condition", "barrier", "once",     "join",     "futex"};
  return kNames[static_cast<int>(kind)];
}
constexpr bool has_holder(LockKind kind) {
  return kind == LockKind::kMutex || kind == LockKind::kRwlock || kind == LockKind::kSpin || kind == LockKind::kOwn ||
         kind == LockKind::kOnce;
}

// Did a thread that was woken at `woken` and had its condition's mutex at `taken` wait for the mutex? `released`: when
// another thread last released it. If most of that time had passed by then, others held the mutex; otherwise waking up
// took so long.
constexpr bool mutex_was_held(uint64_t woken, uint64_t released, uint64_t taken) {
  return released > woken && released <= taken && released - woken > (taken - woken) / 2;
}

struct LockStats {
  uint32_t process = 0;
  uint64_t address = 0;
  uint64_t first_time = 0;  // ticks, of its first event: with process and address, what Names needs
  LockKind kind = LockKind::kMutex;
  uint32_t made_stack = 0;   // where it was initialised; 0 = unknown
  uint32_t first_stack = 0;  // where it was first taken or waited for; 0 = unknown
  // For a lock that existed at the fork: an ancestor (index) that knows where it was made or first taken.
  uint32_t ancestor = kNoIndex;
  uint32_t ancestor_made_stack = 0, ancestor_first_stack = 0;
  uint64_t acquisitions = 0;  // all that succeeded, including recursive ones and those at the end of a condition wait
  uint64_t contended = 0;     // of these: after waiting for the lock
  uint64_t recursive = 0;     // of these: while the thread already held it
  uint64_t shared = 0;        // of these: by readers
  uint64_t busy = 0;          // trylocks that found it held
  uint64_t given = 0;         // kSemaphore: posted
  uint64_t timeouts = 0;      // waits that ended without the lock
  uint64_t errors = 0;
  uint64_t owner_died = 0;         // acquisitions of a robust lock whose owner had died
  uint64_t open_waits = 0;         // in `wait`: not ended when the recording ended
  uint64_t short_waits = 0;        // not in `wait`: shorter than requested
  uint64_t short_holds = 0;        // not in the groups: shorter than requested
  uint64_t queued_waits = 0;       // began while at least two others waited
  uint32_t deepest = 0;            // most locks that a thread held after taking this one, including it
  Distribution wait;               // for the lock: every wait, successful or not
  Distribution hold;               // holds still open at the end of the recording count until then
  Distribution condition_wait;     // of each condition wait with it: until the lock was held again
  bool held_at_end = false;        // still held when the recording ended
  bool seen = true;                // in the range that is read
  uint64_t inherited_unlocks = 0;  // released by a forked process, held since before the fork
  uint64_t unmatched_unlocks = 0;  // released by a thread that had not taken it (or before the recording)
  uint64_t missed_unlocks = 0;     // taken while another thread seemed to hold it
  std::vector<uint32_t> threads;   // indices of those that used it, ascending
  std::vector<uint32_t> waiting_threads;
};

// To LockStats::threads or waiting_threads; few threads use one lock.
inline void add_thread(std::vector<uint32_t>& threads, uint32_t thread) {
  const auto at = std::lower_bound(threads.begin(), threads.end(), thread);
  if (at == threads.end() || *at != thread) threads.insert(at, thread);
}

using LockFilter = std::function<bool(const LockStats&)>;  // empty: all

// What a thread waited for, or what ended its wait.
enum class OtherSide : uint8_t {
  kHeld,         // a holder, by the stack that took the lock
  kReleased,     // a holder, by the stack that released the lock: where it was taken is unknown
  kUnknown,      // a holder of which at most the thread is known
  kFree,         // the lock was free: the waiter had been woken, or another one overtook it
  kWoke,         // for objects without holder: the thread that posted, signalled, arrived last or ended
  kTimeout,      // the wait was not ended by any thread
  kInterrupted,  // it ended with an error: interrupted by a signal, or cancelled
};

// The waits of one stack for one lock, split by the stacks of its holders.
struct WaitPair {
  uint32_t lock = 0;  // index
  uint32_t stack = 0, other_stack = 0;
  uint32_t other_process = kNoIndex;  // index of the process that other_stack belongs to; kNoIndex: the lock's
  uint32_t elsewhere = 0;             // 0, or a number for this stack of another process that shares the lock
  OtherSide side = OtherSide::kUnknown;
  bool many_threads = false, many_others = false;  // more than the one named
  uint64_t waits = 0;
  uint64_t time = 0;
  uint64_t longest = 0;
  uint64_t open = 0;  // of the waits: not ended when the recording ended
  // Indices, of the longest wait, or one for which they are known; kNoIndex: unknown.
  uint32_t thread = kNoIndex, other_thread = kNoIndex;
  uint32_t waker = kNoIndex;  // the thread that released the lock, or woke the waiter, before the wait ended
};

// The process whose stack numbers pair.other_stack uses.
constexpr uint32_t other_process(const LockStats& lock, const WaitPair& pair) {
  return pair.other_process != kNoIndex ? pair.other_process : lock.process;
}

struct WaitSum {
  uint64_t waits = 0, time = 0, longest = 0;
  uint64_t open = 0;  // of the waits: not ended when the recording ended
  void add(const WaitSum& more) {
    waits += more.waits;
    open += more.open;
    longest = longest > more.longest ? longest : more.longest;
    if (__builtin_add_overflow(time, more.time, &time)) time = UINT64_MAX;
  }
};

// The waits of one stack for one lock, whoever held it.
struct WaitStack {
  uint32_t lock = 0;  // index
  uint32_t stack = 0;
  uint64_t longest = 0;
  WaitSum sum;
};

// Holds of one lock, by the stack that took it.
struct HoldGroup {
  uint32_t lock = 0;  // index
  uint32_t stack = 0;
  bool stack_is_release = false;  // the stack is where it was released; where it was taken is unknown
  bool many_threads = false;
  uint32_t thread = kNoIndex;  // of the longest
  uint64_t open = 0;           // of the holds: still open when the recording ended
  uint64_t waited = 0;         // by others, meanwhile
  Distribution time;
};

struct ConditionStats {
  uint32_t index = 0;        // of its LockStats: waits, timeouts, errors
  uint32_t lock = kNoIndex;  // of the last wait
  uint64_t signals = 0, broadcasts = 0;
  uint64_t unheard = 0;   // signals and broadcasts while no thread waited
  uint64_t spurious = 0;  // waits that ended without a signal
  uint64_t herds = 0;     // broadcasts after which all woken threads but one waited for the mutex again
  uint64_t herded = 0;    // threads woken by these
};

// A signal that no thread heard, followed by a wait that never ended.
struct LostWakeup {
  uint32_t condition = 0;  // index into the conditions
  uint32_t thread = 0, signaller = 0;
  uint64_t signalled = 0, begin = 0;  // ticks
  bool while_locked = false;          // the thread held the mutex when the signal came: it was about to wait
};

struct LockCounts {
  uint64_t locks = 0, acquisitions = 0, contended = 0, busy = 0, wait_time = 0, hold_time = 0, condition_waits = 0;
  uint64_t inherited_unlocks = 0, unmatched_unlocks = 0, missed_unlocks = 0, held_at_end = 0;
  uint64_t unended = 0;     // waits that the thread left in an unrecorded way: not timed
  uint64_t impossible = 0;  // waits and holds that began after they ended: counted with a time of 0
  uint64_t folded = 0;      // remade locks that are counted with those previously at their address
};

}  // namespace penna
