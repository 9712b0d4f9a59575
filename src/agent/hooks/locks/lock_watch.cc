// SPDX-License-Identifier: MIT
// See lock_watch.h.
#include "agent/hooks/locks/lock_watch.h"

namespace penna::agent {

uint8_t lock_states[1 << kLockStateBits];
uint16_t lock_waiters[1 << kLockStateBits];
uint8_t lock_orders[1 << kLockOrderBits];

namespace {

uint16_t* waiters_of(const uint8_t* state) { return lock_waiters + (state - lock_states); }

}  // namespace

// Threads that do this at once lose each other's updates: one stack more or less.
bool wants_stack_of_watched(uint8_t* state) {
  const uint8_t seen = __atomic_load_n(state, __ATOMIC_RELAXED);
  // Counts up while the lock is young, and down to quiet after a wait; not while any thread waits.
  if (seen < kYoungAcquisitions)
    __atomic_store_n(state, seen + 1, __ATOMIC_RELAXED);
  else if (seen >= kContendedLock && __atomic_load_n(waiters_of(state), __ATOMIC_RELAXED) != 0)
    return true;
  else if (seen > kContendedLock)
    __atomic_store_n(state, seen - 1, __ATOMIC_RELAXED);
  else if (seen == kContendedLock)
    __atomic_store_n(state, kQuietLock, __ATOMIC_RELAXED);
  return true;
}

void watch_contended(uint64_t lock) {
  uint8_t* state = state_of_lock(lock);
  const uint8_t seen = __atomic_load_n(state, __ATOMIC_RELAXED);
  __atomic_fetch_add(waiters_of(state), 1, __ATOMIC_RELAXED);
  // The holder's acquisition was recorded with its stack, unless the lock was quiet.
  const bool is_unrecorded = seen == kQuietLock || seen == kContendedUnrecorded;
  __atomic_store_n(state, is_unrecorded ? kContendedUnrecorded : UINT8_MAX, __ATOMIC_RELAXED);
}

void watch_wait_over(uint64_t lock) { __atomic_fetch_sub(waiters_of(state_of_lock(lock)), 1, __ATOMIC_RELAXED); }

namespace {

// How many acquisitions ago it was taken, 1 being the last; 0: unknown.
uint32_t find_held(uint64_t lock) {
  const uint32_t count = thread.held_count, known = count < kMostHeld ? count : kMostHeld;
  for (uint32_t i = 1; i <= known; ++i)
    if (thread.held[(count - i) % kMostHeld] == lock) return i;
  return 0;
}

}  // namespace

uint64_t held_since(uint64_t lock) {
  const uint32_t ago = find_held(lock);
  return ago == 0 ? UINT64_MAX : thread.held_since[(thread.held_count - ago) % kMostHeld];
}

// Released out of order, or taken before recording began.
void holds_no_more_of_others(uint64_t lock) {
  const uint32_t count = thread.held_count, ago = find_held(lock);
  if (ago == 0) return;
  for (uint32_t at = count - ago; at + 1 < count; ++at) {
    thread.held[at % kMostHeld] = thread.held[(at + 1) % kMostHeld];
    thread.held_since[at % kMostHeld] = thread.held_since[(at + 1) % kMostHeld];
  }
  thread.held_count = count - 1;
}

}  // namespace penna::agent
