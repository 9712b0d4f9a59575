// SPDX-License-Identifier: MIT
// Which acquisitions of a lock tell where they happened.
//
// Why not all: a lock that nobody waits for should cost two small records. Its first acquisitions are told with their
// stacks (who made it, who uses it), then those that were waited for, and for a while all that follow; and the first
// time that it is taken while another one is held, for whoever looks for two locks taken in both orders.
// How: a byte for each lock, by the hash of its address; locks that share one are told more often than they need be, or
// a little less. What a thread holds stands in Thread::held.
// Invariant: nothing here is needed to count: it only chooses between records with a stack and without.
// Async-signal-safe.
#pragma once

#include <stdint.h>

#include "agent/core/state.h"
#include "penna/event.h"

namespace penna::agent {

// What the byte of a lock says.
inline constexpr uint8_t kYoungAcquisitions = 8;    // below: so many acquisitions were told with their stack
inline constexpr uint8_t kQuietLock = 8;            // nobody waited lately
inline constexpr uint8_t kContendedUnrecorded = 9;  // a wait began during a hold that had no stack: its end tells one
inline constexpr uint8_t kContendedLock =
    128;  // above: counts down, with each acquisition that found it free, to quiet

inline constexpr uint32_t kLockStateBits = 16, kLockOrderBits = 15;
#pragma GCC visibility push(hidden)
extern uint8_t lock_states[1 << kLockStateBits];
extern uint16_t lock_waiters[1 << kLockStateBits];  // in this process
extern uint8_t lock_orders[1 << kLockOrderBits];    // 1: a pair of this hash was told
#pragma GCC visibility pop

inline constexpr uint64_t kLockHash = 0x9e3779b97f4a7c15;

inline uint8_t* state_of_lock(uint64_t lock) {
  return lock_states + ((lock << 8) * kLockHash >> (64 - kLockStateBits));  // of the address alone: readers and writers
}

// The slow half of wants_stack().
bool wants_stack_of_watched(uint8_t* state);

// Is `lock` taken for the first time while what the thread took last is still held?
inline bool is_new_order(uint64_t lock) {
  const uint64_t held = thread.held[(thread.held_count - 1) % kMostHeld];
  if (held == lock) return false;
  uint8_t* seen = lock_orders + ((held * 3 + lock) * kLockHash >> (64 - kLockOrderBits));
  if (__atomic_load_n(seen, __ATOMIC_RELAXED) != 0) return false;
  __atomic_store_n(seen, 1, __ATOMIC_RELAXED);
  return true;
}

// Asked before a lock is tried: shall the acquisition say where it happens?
__attribute__((always_inline)) inline bool wants_stack(uint64_t lock) {
  uint8_t* state = state_of_lock(lock);
  if (__builtin_expect(__atomic_load_n(state, __ATOMIC_RELAXED) != kQuietLock, 0)) return wants_stack_of_watched(state);
  return __builtin_expect(thread.held_count != 0, 0) && is_new_order(lock);
}

// A wait for it begins, and is over. While anybody waits, a lock does not become quiet: others may take it a thousand
// times before who sleeps has woken up.
void watch_contended(uint64_t lock);
void watch_wait_over(uint64_t lock);

// The thread wakes others: who waited for a condition asks next for the mutex, which the thread may hold. That is known
// in libc only.
inline void watch_woken() {
  if (thread.held_count == 0) return;
  uint8_t* state = state_of_lock(thread.held[(thread.held_count - 1) % kMostHeld]);
  if (__atomic_load_n(state, __ATOMIC_RELAXED) == kQuietLock)
    __atomic_store_n(state, kContendedUnrecorded, __ATOMIC_RELAXED);
}

// A lock was made: its place may have been another's.
inline void watch_from_birth(uint64_t lock) { __atomic_store_n(state_of_lock(lock), 0, __ATOMIC_RELAXED); }

// Asked when it was given back: shall that say where, because the acquisition did not?
__attribute__((always_inline)) inline bool wants_end(uint64_t lock) {
  return __builtin_expect(__atomic_load_n(state_of_lock(lock), __ATOMIC_RELAXED) == kContendedUnrecorded, 0);
}
// It shall, whatever others, who waited for it, have told since it was free.
inline void shall_record_end(uint64_t lock) {
  __atomic_store_n(state_of_lock(lock), kContendedUnrecorded, __ATOMIC_RELAXED);
}
// It did.
inline void end_recorded(uint64_t lock) { __atomic_store_n(state_of_lock(lock), UINT8_MAX, __ATOMIC_RELAXED); }

// What the thread holds; more than kMostHeld at once overwrite the first.
__attribute__((always_inline)) inline void holds(uint64_t lock) {
  const uint32_t count = thread.held_count;
  thread.held[count % kMostHeld] = lock;
  thread.held_count = count + 1;
}
// With kLockOptions: since `ticks`, or 0.
inline void holds_since(uint64_t lock, uint64_t ticks) {
  thread.held_since[thread.held_count % kMostHeld] = ticks;
  holds(lock);
}
// What was said there; UINT64_MAX when the hold is not known.
uint64_t held_since(uint64_t lock);
void holds_no_more_of_others(uint64_t lock);
__attribute__((always_inline)) inline void holds_no_more(uint64_t lock) {
  const uint32_t count = thread.held_count;
  if (__builtin_expect(count != 0 && thread.held[(count - 1) % kMostHeld] == lock, 1))
    thread.held_count = count - 1;
  else if (count != 0)
    holds_no_more_of_others(lock);
}

}  // namespace penna::agent
