// SPDX-License-Identifier: MIT
// What all lock hooks do, whatever the lock: try and record; or record, wait, record.
//
// Why try first: a lock that is free costs one compact record and no stack; only a wait pays for its details.
// Timestamps: of an acquisition after it, of a release before it, so on one clock holds of one lock never overlap.
// Stacks are walked before a lock is taken or after it was released: never while it is held.
// Invariant: results and errno are those of the real functions; a lock is held exactly when it would be without the
// agent.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

#include "agent/core/sampling.h"
#include "agent/core/writer.h"
#include "agent/hooks/locks/lock_calls.h"
#include "agent/hooks/locks/lock_watch.h"
#include "agent/modules/real.h"
#include "agent/stacks/stacks.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))
// The first line of a hook. Hooks are written out, one per function of libc, though many are alike: their
// signatures are libc's, and each is the frame that HookFrame::here() finds.
#define PENNA_UNLESS_LOCKS_ARE_RECORDED(...) \
  if (!recording(PENNA_LOCKS)) return have_real() ? (__VA_ARGS__) : 0

namespace penna::agent {

// For records of locks that were only tried.
inline constexpr uint64_t kTried = uint64_t{PENNA_SYNC_TRIED} << 56;

inline uint64_t lock_word(uintptr_t object, uint8_t sync) {
  return object | uint64_t{sync} << 56;  // user addresses have at most 56 bits
}
inline uint64_t lock_word(const volatile void* object, penna_sync sync) {
  return lock_word(reinterpret_cast<uintptr_t>(object), sync);
}

// In each hook: if locks are recorded, the real functions are known. So the fast path needs only one test. Without them
// the hooks return 0: then dlsym is looking them up during start-up, in the only thread, and allocates (jemalloc
// locks).
__attribute__((always_inline)) inline bool have_real() {
  return __builtin_expect(real_is_known, 1) || resolve_real_functions();
}

__attribute__((always_inline)) inline void write_lock(penna_kind kind, uint64_t lock, uint64_t time) {
  write_record(kind, penna_lock{lock}, PENNA_LOCKS, time);
}
inline void write_lock_at(penna_kind kind, uint64_t lock, uint32_t stack, uint64_t time) {
  write_record(kind, penna_lock_at{lock, stack, 0}, PENNA_LOCKS, time);
}

// LOCK, or LOCK_AT if there is a stack.
inline void write_taken(uint64_t lock, uint32_t stack, uint64_t time) {
  if (stack == 0)
    write_lock(PENNA_KIND_LOCK, lock, time);
  else
    write_lock_at(PENNA_KIND_LOCK_AT, lock, stack, time);
}

// How the functions of an API report the outcome.
struct PosixAnswers {  // 0 or an error number
  static constexpr int kGot = 0;
  static bool got(int answer) { return answer == kGot; }
  static bool busy(int answer) { return answer == EBUSY; }
  static penna_wait_end end(int answer) {
    switch (answer) {
      case 0: return PENNA_WAIT_GOT;
      case EOWNERDEAD: return PENNA_WAIT_OWNER_DIED;
      case ETIMEDOUT: return PENNA_WAIT_TIMEOUT;
      default: return PENNA_WAIT_ERROR;
    }
  }
};

struct ErrnoAnswers {  // 0, or -1 and errno
  static constexpr int kGot = 0;
  static bool got(int answer) { return answer == kGot; }
  static bool busy(int) { return errno == EAGAIN; }
  static penna_wait_end end(int answer) {
    if (answer == 0) return PENNA_WAIT_GOT;
    return errno == ETIMEDOUT ? PENNA_WAIT_TIMEOUT : PENNA_WAIT_ERROR;
  }
};

struct C11Answers {
  static constexpr int kGot = thrd_success;
  static bool got(int answer) { return answer == kGot; }
  static bool busy(int answer) { return answer == thrd_busy; }
  static penna_wait_end end(int answer) {
    if (answer == thrd_success) return PENNA_WAIT_GOT;
    return answer == thrd_timedout ? PENNA_WAIT_TIMEOUT : PENNA_WAIT_ERROR;
  }
};

// An invalid time or clock makes the waiting functions fail even if they need not wait.
inline bool is_time(clockid_t clock, const timespec* until) {
  const bool is_clock = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
  return is_clock && (until == nullptr || static_cast<uint64_t>(until->tv_nsec) < 1'000'000'000);
}

// A wait that has begun; end() records it.
struct LockWait {
  uint64_t lock;   // as in records
  uint64_t begin;  // ticks
  uint32_t stack;
  uint32_t owner;  // tid; 0: unknown

  // `stack`: 0 = not walked yet.
  static LockWait begin_now(uint64_t lock, uint32_t stack, uint32_t owner, const unwind::HookFrame* hook) {
    LockWait wait{lock, penna_now(), stack, owner};
    if (stack == 0) wait.stack = current_stack(hook->caller());
    write_record(PENNA_KIND_LOCK_REQUEST, penna_lock_at{lock, wait.stack, owner}, PENNA_LOCKS, wait.begin);
    return wait;
  }
  void end(penna_wait_end end, uint64_t now) const {
    write_record(PENNA_KIND_LOCK_WAIT, penna_lock_wait{lock, begin, stack, owner, static_cast<uint32_t>(end), 0},
                 PENNA_LOCKS, now);
  }
  // The same for a wait for a lock, which is held now if `how` is success; a wait below record --min-wait counts as
  // none.
  void end_for_lock(penna_wait_end how, uint64_t now) const {
    if (how == PENNA_WAIT_GOT && now - begin < process.min_wait)
      write_lock_at(PENNA_KIND_LOCK_AT, lock, stack, now);
    else
      end(how, now);
    if (how == PENNA_WAIT_GOT || how == PENNA_WAIT_OWNER_DIED) holds_since(lock, now);
  }
  // For pthread_cleanup_push: the thread is cancelled while it waits.
  static void cancelled(void* wait) { static_cast<LockWait*>(wait)->end(PENNA_WAIT_ERROR, penna_now()); }
};

// A wait for a condition that has begun. Its lock is released meanwhile, and held again at the end, however it ends.
struct ConditionWait {
  uint64_t lock, condition, begin;
  uint32_t stack;

  static ConditionWait begin_now(uint64_t lock, uint64_t condition, uint32_t stack) {
    const ConditionWait wait{lock, condition, penna_now(), stack};
    write_record(PENNA_KIND_LOCK_REQUEST, penna_lock_at{condition, stack, 0}, PENNA_LOCKS, wait.begin);
    return wait;
  }
  void end(penna_wait_end end) const {
    const uint64_t now = penna_now();
    write_record(PENNA_KIND_COND_WAIT,
                 penna_cond_wait{lock, condition & PENNA_ADDRESS_MASK, begin, stack, static_cast<uint32_t>(end)},
                 PENNA_LOCKS, now);
    holds_since(lock, now);
  }
  // As in LockWait: by then the mutex is held again.
  static void cancelled(void* wait) { static_cast<ConditionWait*>(wait)->end(PENNA_WAIT_ERROR); }
};

inline void record_wake(uint64_t condition, uint32_t most, uint32_t stack) {
  write_record(PENNA_KIND_WAKE, penna_wake{condition, stack, most}, PENNA_LOCKS, penna_now());
}

// The lock is taken. Here and below the record comes last: its slow path need not preserve anything.
__attribute__((always_inline)) inline void record_acquired(uint64_t lock) {
  const uint64_t now = penna_now();
  holds(lock);
  write_lock(PENNA_KIND_LOCK, lock, now);
}
// The slow path: with a stack, or subject to record --sample-locks and --holds. `tried`: kTried, or 0.
void record_acquired_at(uint64_t lock, uint32_t stack, uint64_t tried = 0);

__attribute__((always_inline)) inline bool has_lock_options() {
  return __builtin_expect((armed() & kLockOptions) != 0, 0);
}
// Whether this thread is in a lock function that is recorded as a whole.
__attribute__((always_inline)) inline bool is_part_of_lock_function() {
  return has_lock_options() && inside_lock_function();
}

// The lock's owner had died: recorded as a wait of no duration, which is the record that says so.
__attribute__((noinline, cold)) inline void record_owner_died(uint64_t lock, const unwind::HookFrame* hook) {
  const uint64_t now = penna_now();
  LockWait{lock, now, current_stack(hook->caller()), 0}.end(PENNA_WAIT_OWNER_DIED, now);
  holds_since(lock, now);
}

// The lock is busy: `wait` waits for it. Out of line, so that the path of a free lock saves few registers.
template <typename Answers, typename Wait>
__attribute__((noinline)) int wait_for(uint64_t lock, uint32_t stack, uint32_t owner, Wait wait,
                                       const unwind::HookFrame* hook) {
  watch_contended(lock);
  const LockWait recorded = LockWait::begin_now(lock, stack, owner, hook);
  const int answer = wait();
  const uint64_t now = penna_now();
  watch_wait_over(lock);
  recorded.end_for_lock(Answers::end(answer), now);
  return answer;
}

// Instead of an owner: the lock's holder requests it again, and that fails with EDEADLK: there is no wait to record.
inline constexpr uint32_t kRefused = UINT32_MAX;
inline bool is_mine(uint32_t owner) { return owner != 0 && owner == thread.tid; }

// The lock was tried and is busy.
template <typename Answers, typename Wait, typename Owner>
__attribute__((noinline)) int take_busy(uint64_t lock, int answer, uint32_t stack, Wait wait, Owner owner_of,
                                        const unwind::HookFrame* hook) {
  if (Answers::busy(answer)) {
    // A hint: between the try and this, the lock may have changed hands, or be free.
    const uint32_t owner = owner_of();
    return owner == kRefused ? wait() : wait_for<Answers>(lock, stack, owner, wait, hook);
  }
  if (Answers::end(answer) == PENNA_WAIT_OWNER_DIED) {
    record_owner_died(lock, hook);
    return answer;
  }
  // The try failed with an error that the waiting function would not return: ask that one.
  return wait();
}

// The slow path; the stack is walked before.
template <typename Answers, typename Try, typename Wait, typename Owner>
__attribute__((noinline)) int take_at(uint64_t lock, bool with_stack, Try try_it, Wait wait, Owner owner_of,
                                      const unwind::HookFrame* hook) {
  if (inside_lock_function()) return wait();
  const uint32_t stack = with_stack ? current_stack(hook->caller()) : 0;
  const int answer = try_it();
  if (!Answers::got(answer)) return take_busy<Answers>(lock, answer, stack, wait, owner_of, hook);
  record_acquired_at(lock, stack);
  return answer;
}

// Tries; if the lock is busy, `wait` waits for it. Must be inlined: it uses the hook's frame. Everything but the fast
// path is out of line, so that the hook saves few registers.
template <typename Answers, typename Try, typename Wait, typename Owner>
__attribute__((always_inline)) inline int take(uint64_t lock, Try try_it, Wait wait, Owner owner_of) {
  const bool with_stack = wants_stack(lock);
  if (__builtin_expect(with_stack, 0) || has_lock_options())
    return take_at<Answers>(lock, with_stack, try_it, wait, owner_of, unwind::HookFrame::here());
  const int answer = try_it();
  if (__builtin_expect(!Answers::got(answer), 0))
    return take_busy<Answers>(lock, answer, 0, wait, owner_of, unwind::HookFrame::here());
  record_acquired(lock);
  return Answers::kGot;
}

// Tries, without waiting.
template <typename Answers, typename Try>
__attribute__((always_inline)) inline int take_if_free(uint64_t lock, Try try_it) {
  if (is_part_of_lock_function()) return try_it();
  uint32_t stack = 0;
  if (__builtin_expect(wants_stack(lock), 0)) stack = current_stack(unwind::HookFrame::here()->caller());
  const int answer = try_it();
  if (Answers::got(answer))
    record_acquired_at(lock, stack, kTried);
  else if (Answers::busy(answer))
    write_lock(PENNA_KIND_LOCK_BUSY, lock, penna_now());
  else if (Answers::end(answer) == PENNA_WAIT_OWNER_DIED)
    record_owner_died(lock, unwind::HookFrame::here());
  return answer;
}

// The lock was released at `time`: recorded with a stack, or subject to the options.
void record_released_at(uint64_t lock, uint64_t time, const unwind::HookFrame* hook);

__attribute__((always_inline)) inline void record_released(uint64_t lock, uint64_t time,
                                                           const unwind::HookFrame* hook) {
  if (wants_end(lock) || has_lock_options()) return record_released_at(lock, time, hook);
  note_release(lock);
  write_lock(PENNA_KIND_UNLOCK, lock, time);
}

// The record is written after the release, so that it does not lengthen the hold; its timestamp is from before.
template <typename Unlock>
__attribute__((always_inline)) inline int release(uint64_t lock, Unlock unlock) {
  const uint64_t now = penna_now();
  const bool is_unrecorded = wants_end(lock);
  const int answer = unlock();
  if (__builtin_expect(answer != 0, 0)) return answer;
  if (is_unrecorded) request_end_record(lock);
  record_released(lock, now, unwind::HookFrame::here());
  return 0;
}

inline void record_created(uint64_t lock, const unwind::HookFrame* hook) {
  watch_from_birth(lock);
  write_lock_at(PENNA_KIND_LOCK_MADE, lock, current_stack(hook->caller()), penna_now());
}

// A lock was initialised, and is about to be destroyed.
template <typename Make>
__attribute__((always_inline)) inline int make_lock(uint64_t lock, Make make) {
  const int answer = make();
  if (answer == 0) record_created(lock, unwind::HookFrame::here());
  return answer;
}
template <typename Destroy>
__attribute__((always_inline)) inline int destroy_lock(uint64_t lock, Destroy destroy) {
  const uint64_t now = penna_now();
  // Timed before: once it is destroyed, its memory may become another lock.
  const int answer = destroy();
  if (answer == 0) write_lock(PENNA_KIND_LOCK_GONE, lock, now);
  return answer;
}

}  // namespace penna::agent
