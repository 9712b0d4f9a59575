// SPDX-License-Identifier: MIT
// Reader-writer locks. For the steps and the invariant see lock_record.h.
#include "agent/hooks/locks/lock_record.h"

namespace penna::agent {
namespace {

uint64_t for_reading(const pthread_rwlock_t* lock) { return lock_word(lock, PENNA_SYNC_READ); }
uint64_t for_writing(const pthread_rwlock_t* lock) { return lock_word(lock, PENNA_SYNC_WRITE); }

// glibc stores the writer's tid in the lock; readers are unknown.
uint32_t writer_of(const pthread_rwlock_t* lock) {
  return static_cast<uint32_t>(__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED));
}

// glibc refuses the lock to the thread that has it as a writer, for reading and for writing (EDEADLK).
uint32_t owner_or_refused(const pthread_rwlock_t* lock) {
  const uint32_t owner = writer_of(lock);
  return is_mine(owner) ? kRefused : owner;
}

template <typename Wait>
__attribute__((always_inline)) inline int take_shared(pthread_rwlock_t* lock, Wait wait) {
  return take<PosixAnswers>(
      for_reading(lock), [=] { return real.pthread_rwlock_tryrdlock(lock); }, wait,
      [=] { return owner_or_refused(lock); });
}
template <typename Wait>
__attribute__((always_inline)) inline int take_alone(pthread_rwlock_t* lock, Wait wait) {
  return take<PosixAnswers>(
      for_writing(lock), [=] { return real.pthread_rwlock_trywrlock(lock); }, wait,
      [=] { return owner_or_refused(lock); });
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

PENNA_EXPORT int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_init(lock, attributes));
  return make_lock(for_writing(lock), [=] { return real.pthread_rwlock_init(lock, attributes); });
}
PENNA_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_destroy(lock));
  return destroy_lock(for_writing(lock), [=] { return real.pthread_rwlock_destroy(lock); });
}

PENNA_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_rdlock(lock));
  return take_shared(lock, [=] { return real.pthread_rwlock_rdlock(lock); });
}
PENNA_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_tryrdlock(lock));
  return take_if_free<PosixAnswers>(for_reading(lock), [=] { return real.pthread_rwlock_tryrdlock(lock); });
}
PENNA_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_timedrdlock(lock, until));
  if (!is_time(CLOCK_REALTIME, until)) return real.pthread_rwlock_timedrdlock(lock, until);
  return take_shared(lock, [=] { return real.pthread_rwlock_timedrdlock(lock, until); });
}
PENNA_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_clockrdlock(lock, clock, until));
  if (!is_time(clock, until)) return real.pthread_rwlock_clockrdlock(lock, clock, until);
  return take_shared(lock, [=] { return real.pthread_rwlock_clockrdlock(lock, clock, until); });
}

PENNA_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_wrlock(lock));
  return take_alone(lock, [=] { return real.pthread_rwlock_wrlock(lock); });
}
PENNA_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_trywrlock(lock));
  return take_if_free<PosixAnswers>(for_writing(lock), [=] { return real.pthread_rwlock_trywrlock(lock); });
}
PENNA_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_timedwrlock(lock, until));
  if (!is_time(CLOCK_REALTIME, until)) return real.pthread_rwlock_timedwrlock(lock, until);
  return take_alone(lock, [=] { return real.pthread_rwlock_timedwrlock(lock, until); });
}
PENNA_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_clockwrlock(lock, clock, until));
  if (!is_time(clock, until)) return real.pthread_rwlock_clockwrlock(lock, clock, until);
  return take_alone(lock, [=] { return real.pthread_rwlock_clockwrlock(lock, clock, until); });
}

PENNA_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_rwlock_unlock(lock));
  // While a writer holds it, no other thread can release it.
  return release(writer_of(lock) != 0 ? for_writing(lock) : for_reading(lock),
                 [=] { return real.pthread_rwlock_unlock(lock); });
}
