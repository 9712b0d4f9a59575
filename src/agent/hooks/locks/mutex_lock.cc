// SPDX-License-Identifier: MIT
// The fast paths of pthread_mutex_lock and pthread_mutex_unlock.
//
// Why a separate file: it is compiled without frame pointers and with sibling calls, so each function saves one to
// three registers, and everything unusual is reached by a jump.
// Invariant: that of lock_record.h, and such a jump leaves the stack as the caller had it.
#include "agent/hooks/locks/mutexes.h"

using namespace penna::agent;

PENNA_EXPORT int pthread_mutex_lock(pthread_mutex_t* lock) {
  if (!only_plain_locks()) return no_locks() ? real.pthread_mutex_lock(lock) : take_watched_mutex(lock, false);
  if (__builtin_expect(is_unusual(lock), 0)) return take_watched_mutex(lock, false);
  if (wants_stack(mutex_word(lock))) return take_watched_mutex(lock, true);
  const int answer = try_mutex(lock);
  if (__builtin_expect(answer != 0, 0)) return take_busy_mutex(lock, answer);
  record_acquired(mutex_word(lock));
  return 0;
}

PENNA_EXPORT int pthread_mutex_unlock(pthread_mutex_t* lock) {
  if (!only_plain_locks()) return no_locks() ? real.pthread_mutex_unlock(lock) : release_watched_mutex(lock);
  if (wants_end(mutex_word(lock))) return release_watched_mutex(lock);
  const uint64_t now = penna_now();
  const int answer = real.pthread_mutex_unlock(lock);
  if (__builtin_expect(answer > 0, 0)) return answer;  // an error; tested as != 0, gcc would keep the 0 to return it
  if (wants_end(mutex_word(lock))) return record_mutex_released(lock, now);
  note_release(mutex_word(lock));
  write_lock(PENNA_KIND_UNLOCK, mutex_word(lock), now);
  return 0;
}
