// SPDX-License-Identifier: MIT
// What is known of locks, waits and holds when a recording has been read: the results of Locks (locks.h).
//
// All durations are ticks. "Lock" stands for everything that threads wait for; has_holder() tells those that one can
// hold.
// Invariant: the times of all pairs of a lock add up to the sum of its `wait`, but for waits that were left out as
// short.
#pragma once

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
  kOwn,  // known by its functions only
  kSemaphore,
  kCondition,
  kBarrier,
  kOnce,
  kJoin,
  kFutex,
};

// READ and WRITE are two ways to take one object.
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

// Of a thread that was woken at `woken` and had the mutex of its condition at `taken`: did it wait for the mutex?
// `released`: when another thread did so last. Then others held it for most of that time; else waking up took so
// long.
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
  // Of one that was there when the process was forked: an ancestor (index) that knows where it was made or first taken.
  uint32_t ancestor = kNoIndex;
  uint32_t ancestor_made_stack = 0, ancestor_first_stack = 0;
  uint64_t acquisitions = 0;  // all that succeeded, recursive ones and those at the end of a condition wait included
  uint64_t contended = 0;     // of them: after waiting for the lock
  uint64_t recursive = 0;     // of them: while the thread held it already
  uint64_t shared = 0;        // of them: by readers
  uint64_t busy = 0;          // trylocks that found it taken
  uint64_t given = 0;         // kSemaphore: posted
  uint64_t timeouts = 0;      // waits that ended without it
  uint64_t errors = 0;
  uint64_t owner_died = 0;         // acquisitions of a robust lock whose owner had died
  uint64_t open_waits = 0;         // in `wait`: that had not ended when the recording did
  uint64_t short_waits = 0;        // not in `wait`: shorter than was asked for
  uint64_t short_holds = 0;        // not in the groups: shorter than was asked for
  uint64_t queued_waits = 0;       // began while two others or more waited
  uint32_t deepest = 0;            // locks that a thread held when it had taken this one, itself included
  Distribution wait;               // for the lock: every wait, successful or not
  Distribution hold;               // those that were not over when the recording was count up to then
  Distribution condition_wait;     // of each condition wait with it: until it was held again
  bool held_at_end = false;        // still held when the recording ended
  bool seen = true;                // in the range that is read
  uint64_t inherited_unlocks = 0;  // given back by a forked process, held since before the fork
  uint64_t unmatched_unlocks = 0;  // given back by a thread that had not taken it (or before the recording)
  uint64_t missed_unlocks = 0;     // taken while another thread seemed to hold it
  std::vector<uint32_t> threads;   // indices of those that used it, ascending
  std::vector<uint32_t> waiting_threads;
};

using LockFilter = std::function<bool(const LockStats&)>;  // empty: all

// What a thread waited for, or who ended its wait.
enum class OtherSide : uint8_t {
  kHeld,      // a holder, by the stack that took the lock
  kGaveBack,  // a holder, by the stack that gave it back: where it was taken is not known
  kUnknown,   // a holder of whom the thread is known at most
  kNobody,    // the lock was free: the waiter had been woken, or another one would have come first
  kWoke,      // of what nobody holds: who gave, signalled, came last or ended
  kTimeout,   // nobody ended it
  kBroken,    // it ended with an error: interrupted by a signal, or cancelled
};

// The waits of one stack for one lock, as far as one stack of its holders is concerned.
struct WaitPair {
  uint32_t lock = 0;  // index
  uint32_t stack = 0, other_stack = 0;
  uint32_t other_process = kNoIndex;  // index: whose stack other_stack is; kNoIndex: the process of the lock
  uint32_t elsewhere = 0;             // 0, or a number for this stack of this other process, which shares the lock
  OtherSide side = OtherSide::kUnknown;
  bool many_threads = false, many_others = false;  // more than the one that is named
  uint64_t waits = 0;
  uint64_t time = 0;
  uint64_t longest = 0;
  uint64_t open = 0;  // of the waits: had not ended when the recording did
  // Indices, of the longest, or of one of which it is known; kNoIndex: not known.
  uint32_t thread = kNoIndex, other_thread = kNoIndex;
  uint32_t waker = kNoIndex;  // who gave the lock back, or woke, before the wait ended
};

// Whose numbers pair.other_stack is one of.
constexpr uint32_t other_process(const LockStats& lock, const WaitPair& pair) {
  return pair.other_process != kNoIndex ? pair.other_process : lock.process;
}

struct WaitSum {
  uint64_t waits = 0, time = 0, longest = 0;
  uint64_t open = 0;  // of the waits: had not ended when the recording did
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
  bool gave_back = false;  // the stack is that which gave it back; where it was taken is not known
  bool many_threads = false;
  uint32_t thread = kNoIndex;  // of the longest
  uint64_t open = 0;           // of the holds: were not over when the recording was
  uint64_t waited = 0;         // by others, meanwhile
  Distribution time;
};

struct ConditionStats {
  uint32_t index = 0;        // of its LockStats: waits, time-outs, errors
  uint32_t lock = kNoIndex;  // of the last wait
  uint64_t signals = 0, broadcasts = 0;
  uint64_t unheard = 0;   // signals and broadcasts when nobody waited
  uint64_t spurious = 0;  // waits that ended though nobody had signalled
  uint64_t herds = 0;     // broadcasts after which all but one waited for the mutex again
  uint64_t herded = 0;    // threads woken by these
};

// A signal that nobody heard, and then a wait that never ended.
struct LostWakeup {
  uint32_t condition = 0;  // index into the conditions
  uint32_t thread = 0, signaller = 0;
  uint64_t signalled = 0, begin = 0;  // ticks
  bool while_locked = false;          // the thread held the mutex when it was signalled: it was on its way to the wait
};

struct LockCounts {
  uint64_t locks = 0, acquisitions = 0, contended = 0, busy = 0, wait_time = 0, hold_time = 0, condition_waits = 0;
  uint64_t inherited_unlocks = 0, unmatched_unlocks = 0, missed_unlocks = 0, held_at_end = 0;
  uint64_t unended = 0;     // waits that the thread left in a way that was not recorded: not timed
  uint64_t impossible = 0;  // waits and holds that began after they ended: counted, their time taken as 0
  uint64_t folded = 0;      // locks that were made anew and are counted with those that were at their place before
};

}  // namespace penna
