// SPDX-License-Identifier: MIT
// POSIX mutexes: how they are tried, and the slow paths of locking and unlocking.
#pragma once

#include <sys/single_threaded.h>

#include "agent/hooks/locks/lock_record.h"

namespace penna::agent {

inline uint64_t mutex_word(const pthread_mutex_t* lock) { return lock_word(lock, PENNA_SYNC_MUTEX); }

// Whether locks are recorded, without options.
__attribute__((always_inline)) inline bool only_plain_locks() {
  constexpr uint32_t kRecorded = class_bit(PENNA_LOCKS);
  return __builtin_expect((armed() & (kRecorded | kLockOptions)) == kRecorded, 1);
}
inline bool no_locks() { return only_others_recorded(PENNA_LOCKS); }

// Flags of glibc's mutex kinds: robust, or with a priority ceiling. These are tried differently.
inline constexpr int kRobust = 16, kCeiling = 64;
inline bool is_unusual(const pthread_mutex_t* lock) { return (lock->__data.__kind & (kRobust | kCeiling)) != 0; }

// In a single-threaded process libc's lock needs no locked instruction, but its trylock always does. If the only thread
// already holds the mutex, it is tried, so that the deadlock is recorded as a wait.
__attribute__((always_inline)) inline int try_mutex(pthread_mutex_t* lock) {
  const bool alone = __libc_single_threaded != 0 && __atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED) == 0;
  return alone ? real.pthread_mutex_lock(lock) : real.pthread_mutex_trylock(lock);
}

// The slow paths: reached by a jump, as if their caller had called them. Record with a stack or with options, or handle
// unusual kinds, or do not record at all. `with_stack`: the result of wants_stack(), if it was called.
int take_watched_mutex(pthread_mutex_t* lock, bool with_stack);
// The try returned `answer`, not 0.
int take_busy_mutex(pthread_mutex_t* lock, int answer);
int release_watched_mutex(pthread_mutex_t* lock);
// It was released at `time`; record that with a stack.
int record_mutex_released(pthread_mutex_t* lock, uint64_t time);

}  // namespace penna::agent
