// SPDX-License-Identifier: MIT
// Which acquisitions of a lock are recorded with their stacks.
//
// Why not all: an uncontended lock should cost two small records. Stacks are recorded for its first acquisitions (they
// show where it was made and used), then for those that had to wait, and for a while for all that follow; and for the
// first time that it is taken while another one is held, to find lock order inversions.
// How: one byte per lock, by a hash of its address; locks that share a byte have slightly more or fewer stacks than
// necessary. What a thread holds is in Thread::held.
// Invariant: counts do not depend on any of this: it only chooses between records with a stack and without.
// Async-signal-safe.
#pragma once

#include <stdint.h>

#include "agent/core/state.h"
#include "penna/event.h"

namespace penna::agent {

// What the byte of a lock says.
inline constexpr uint8_t kYoungAcquisitions = 8;    // below: this many acquisitions were recorded with their stack
inline constexpr uint8_t kQuietLock = 8;            // no wait lately
inline constexpr uint8_t kContendedUnrecorded = 9;  // a wait began during a hold that has no stack: its end records one
inline constexpr uint8_t kContendedLock =
    128;  // above: counts down to quiet with each acquisition that found the lock free

// 224 KiB in all, of which only pages that are written to take memory.
inline constexpr uint32_t kLockStateBits = 16, kLockOrderBits = 15;
#pragma GCC visibility push(hidden)
extern uint8_t lock_states[1 << kLockStateBits];
extern uint16_t lock_waiters[1 << kLockStateBits];  // of this process
extern uint8_t lock_orders[1 << kLockOrderBits];    // 1: a pair with this hash was recorded
#pragma GCC visibility pop

inline constexpr uint64_t kLockHash = 0x9e3779b97f4a7c15;

inline uint8_t* state_of_lock(uint64_t lock) {
  return lock_states +
         ((lock << 8) * kLockHash >> (64 - kLockStateBits));  // by the address only: readers and writers share it
}

// The slow path of wants_stack().
bool wants_stack_of_watched(uint8_t* state);

// Whether `lock` is taken for the first time while the lock that this thread took last is still held.
inline bool is_new_order(uint64_t lock) {
  const uint64_t held = thread.held[(thread.held_count - 1) % kMostHeld];
  if (held == lock) return false;
  // Not symmetric: a lock order inversion is two pairs.
  uint8_t* seen = lock_orders + ((held * 3 + lock) * kLockHash >> (64 - kLockOrderBits));
  if (__atomic_load_n(seen, __ATOMIC_RELAXED) != 0) return false;
  __atomic_store_n(seen, 1, __ATOMIC_RELAXED);
  return true;
}

// Called before a lock is tried: whether to record the acquisition with its stack.
__attribute__((always_inline)) inline bool wants_stack(uint64_t lock) {
  uint8_t* state = state_of_lock(lock);
  if (__builtin_expect(__atomic_load_n(state, __ATOMIC_RELAXED) != kQuietLock, 0)) return wants_stack_of_watched(state);
  return __builtin_expect(thread.held_count != 0, 0) && is_new_order(lock);
}

// Call when a wait begins, and when it ends. While any thread waits, a lock does not become quiet: others may take it a
// thousand times before the sleeper is awake.
void watch_contended(uint64_t lock);
void watch_wait_over(uint64_t lock);

// The thread wakes others: one that waited for a condition requests its mutex next, which this thread may hold. Only
// libc knows which mutex that is.
inline void watch_woken() {
  if (thread.held_count == 0) return;
  uint8_t* state = state_of_lock(thread.held[(thread.held_count - 1) % kMostHeld]);
  if (__atomic_load_n(state, __ATOMIC_RELAXED) == kQuietLock)
    __atomic_store_n(state, kContendedUnrecorded, __ATOMIC_RELAXED);
}

// A lock was initialised: another one may have been at its address.
inline void watch_from_birth(uint64_t lock) { __atomic_store_n(state_of_lock(lock), 0, __ATOMIC_RELAXED); }

// Called at a release: whether it should record a stack because the acquisition did not.
__attribute__((always_inline)) inline bool wants_end(uint64_t lock) {
  return __builtin_expect(__atomic_load_n(state_of_lock(lock), __ATOMIC_RELAXED) == kContendedUnrecorded, 0);
}
// The release should record a stack, whatever waiters have recorded since the lock was free.
inline void request_end_record(uint64_t lock) {
  __atomic_store_n(state_of_lock(lock), kContendedUnrecorded, __ATOMIC_RELAXED);
}
// The release has recorded its stack.
inline void end_recorded(uint64_t lock) { __atomic_store_n(state_of_lock(lock), UINT8_MAX, __ATOMIC_RELAXED); }

// Notes what the thread holds; with more than kMostHeld locks at once, new ones overwrite the oldest.
__attribute__((always_inline)) inline void holds(uint64_t lock) {
  const uint32_t count = thread.held_count;
  thread.held[count % kMostHeld] = lock;
  thread.held_count = count + 1;
}
// With kLockOptions: held since `ticks`, or 0.
inline void holds_since(uint64_t lock, uint64_t ticks) {
  thread.held_since[thread.held_count % kMostHeld] = ticks;
  holds(lock);
}
// The value given to holds_since(); UINT64_MAX if the hold is unknown.
uint64_t held_since(uint64_t lock);
void holds_no_more_of_others(uint64_t lock);
__attribute__((always_inline)) inline void note_release(uint64_t lock) {
  const uint32_t count = thread.held_count;
  if (__builtin_expect(count != 0 && thread.held[(count - 1) % kMostHeld] == lock, 1))
    thread.held_count = count - 1;
  else if (count != 0)
    holds_no_more_of_others(lock);
}

}  // namespace penna::agent
