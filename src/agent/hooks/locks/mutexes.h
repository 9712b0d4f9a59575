// SPDX-License-Identifier: MIT
// Mutexes of POSIX: what is tried, and the ways of locking and unlocking that are not the usual ones.
#pragma once

#include <sys/single_threaded.h>

#include "agent/hooks/locks/lock_record.h"

namespace penna::agent {

inline uint64_t mutex_word(const pthread_mutex_t* lock) { return lock_word(lock, PENNA_SYNC_MUTEX); }

// Locks are recorded, and without options.
__attribute__((always_inline)) inline bool only_plain_locks() {
  constexpr uint32_t kRecorded = class_bit(PENNA_LOCKS);
  return __builtin_expect((armed() & (kRecorded | kLockOptions)) == kRecorded, 1);
}
inline bool no_locks() { return only_others_recorded(PENNA_LOCKS); }

// By glibc's kinds: robust, or with a ceiling of priorities. These are tried in ways of their own.
inline constexpr int kRobust = 16, kCeiling = 64;
inline bool is_unusual(const pthread_mutex_t* lock) { return (lock->__data.__kind & (kRobust | kCeiling)) != 0; }

// Alone in the process, libc's lock does without a locked instruction, which its trylock never does. A mutex that the
// one thread holds already goes the other way: what it waits for shall be told.
__attribute__((always_inline)) inline int try_mutex(pthread_mutex_t* lock) {
  const bool alone = __libc_single_threaded != 0 && __atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED) == 0;
  return alone ? real.pthread_mutex_lock(lock) : real.pthread_mutex_trylock(lock);
}

// The unusual ways: reached by a jump, as if their caller had called them.
// With a stack, or options, or of an unusual kind, or not recorded at all. `with_stack`: what wants_stack() said, if it
// was asked.
int take_watched_mutex(pthread_mutex_t* lock, bool with_stack);
// It was tried, which gave `answer`, not 0.
int take_busy_mutex(pthread_mutex_t* lock, int answer);
int release_watched_mutex(pthread_mutex_t* lock);
// It was, at `time`; that is to be told with a stack.
int record_mutex_released(pthread_mutex_t* lock, uint64_t time);

}  // namespace penna::agent
