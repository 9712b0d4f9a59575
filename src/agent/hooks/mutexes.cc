// SPDX-License-Identifier: MIT
// Mutexes: of POSIX, of C11, and spinlocks. How, and the invariant: lock_record.h.
#include <sys/single_threaded.h>
#include <threads.h>

#include "agent/hooks/lock_record.h"

namespace penna::agent {
namespace {

uint64_t word(const pthread_mutex_t* lock) { return lock_word(lock, PENNA_SYNC_MUTEX); }
uint64_t word(const mtx_t* lock) { return lock_word(lock, PENNA_SYNC_MUTEX); }
uint64_t word(const volatile pthread_spinlock_t* lock) { return lock_word(lock, PENNA_SYNC_SPIN); }

// glibc keeps the tid of the holder in the mutex; read without the lock it may be stale by the time it is used.
uint32_t owner_of(const pthread_mutex_t* lock) {
  return static_cast<uint32_t>(__atomic_load_n(&lock->__data.__owner, __ATOMIC_RELAXED));
}
// glibc's mtx_t is a mutex of POSIX, with another name.
uint32_t owner_of(const mtx_t* lock) { return owner_of(reinterpret_cast<const pthread_mutex_t*>(lock)); }

// glibc's trylock of a robust mutex that nobody can recover any more leaves it locked: by a caller who does not have it, and who
// waits for ever the next time. A time-out that is over tries as well.
__attribute__((noinline, cold)) int try_robust(pthread_mutex_t* lock) {
  constexpr timespec kOver{-1, 0};
  const int answer = real.pthread_mutex_timedlock(lock, &kOver);
  return answer == ETIMEDOUT ? EBUSY : answer;
}
// By glibc's kinds: those that inherit priorities are the kernel's to free.
bool is_robust(const pthread_mutex_t* lock) {
  constexpr int kRobust = 16, kInherits = 32;
  return (lock->__data.__kind & (kRobust | kInherits)) == kRobust;
}

// Alone in the process, libc's lock does without a locked instruction, which its trylock never does. A mutex that the
// one thread holds already goes the other way: what it waits for shall be told.
__attribute__((always_inline)) inline int try_mutex(pthread_mutex_t* lock) {
  if (__builtin_expect(is_robust(lock), 0)) return try_robust(lock);
  const bool alone = __libc_single_threaded != 0 && __atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED) == 0;
  return alone ? real.pthread_mutex_lock(lock) : real.pthread_mutex_trylock(lock);
}

uint32_t owner_or_refused(const pthread_mutex_t* lock) {
  constexpr int kTypes = 3;  // of glibc's kinds
  const uint32_t owner = owner_of(lock);
  return (lock->__data.__kind & kTypes) == PTHREAD_MUTEX_ERRORCHECK && is_mine(owner) ? kRefused : owner;
}

template <typename Wait>
__attribute__((always_inline)) inline int take_mutex(pthread_mutex_t* lock, Wait wait) {
  return take<PosixAnswers>(
      word(lock), [=] { return try_mutex(lock); }, wait, [=] { return owner_or_refused(lock); });
}

template <typename Wait>
__attribute__((always_inline)) inline int take_c11(mtx_t* lock, Wait wait) {
  return take<C11Answers>(
      word(lock), [=] { return real.mtx_trylock(lock); }, wait, [=] { return owner_of(lock); });
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

PENNA_EXPORT int pthread_mutex_init(pthread_mutex_t* lock, const pthread_mutexattr_t* attributes) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_init(lock, attributes));
  return make_lock(word(lock), [=] { return real.pthread_mutex_init(lock, attributes); });
}
PENNA_EXPORT int pthread_mutex_destroy(pthread_mutex_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_destroy(lock));
  return destroy_lock(word(lock), [=] { return real.pthread_mutex_destroy(lock); });
}
PENNA_EXPORT int pthread_mutex_lock(pthread_mutex_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_lock(lock));
  return take_mutex(lock, [=] { return real.pthread_mutex_lock(lock); });
}
PENNA_EXPORT int pthread_mutex_trylock(pthread_mutex_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_trylock(lock));
  return take_if_free<PosixAnswers>(word(lock), [=] { return real.pthread_mutex_trylock(lock); });
}
PENNA_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* lock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_timedlock(lock, until));
  return take_mutex(lock, [=] { return real.pthread_mutex_timedlock(lock, until); });
}
PENNA_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* lock, clockid_t clock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_clocklock(lock, clock, until));
  if (!is_time(clock, nullptr))
    return real.pthread_mutex_clocklock(lock, clock, until);  // the time matters to waits only
  return take_mutex(lock, [=] { return real.pthread_mutex_clocklock(lock, clock, until); });
}
PENNA_EXPORT int pthread_mutex_unlock(pthread_mutex_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_unlock(lock));
  return give_back(word(lock), [=] { return real.pthread_mutex_unlock(lock); });
}

// glibc's own calls of its mutexes do not come by here: these are hooks of their own.
PENNA_EXPORT int mtx_init(mtx_t* lock, int type) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.mtx_init(lock, type));
  static_assert(thrd_success == 0);
  return make_lock(word(lock), [=] { return real.mtx_init(lock, type); });
}
PENNA_EXPORT void mtx_destroy(mtx_t* lock) {
  if (!recording(PENNA_LOCKS)) {
    if (have_real()) real.mtx_destroy(lock);
    return;
  }
  destroy_lock(word(lock), [=] {
    real.mtx_destroy(lock);
    return 0;
  });
}
PENNA_EXPORT int mtx_lock(mtx_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.mtx_lock(lock));
  return take_c11(lock, [=] { return real.mtx_lock(lock); });
}
PENNA_EXPORT int mtx_trylock(mtx_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.mtx_trylock(lock));
  return take_if_free<C11Answers>(word(lock), [=] { return real.mtx_trylock(lock); });
}
PENNA_EXPORT int mtx_timedlock(mtx_t* lock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.mtx_timedlock(lock, until));
  return take_c11(lock, [=] { return real.mtx_timedlock(lock, until); });
}
PENNA_EXPORT int mtx_unlock(mtx_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.mtx_unlock(lock));
  return give_back(word(lock), [=] { return real.mtx_unlock(lock); });
}

PENNA_EXPORT int pthread_spin_init(pthread_spinlock_t* lock, int shared) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_spin_init(lock, shared));
  return make_lock(word(lock), [=] { return real.pthread_spin_init(lock, shared); });
}
PENNA_EXPORT int pthread_spin_destroy(pthread_spinlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_spin_destroy(lock));
  return destroy_lock(word(lock), [=] { return real.pthread_spin_destroy(lock); });
}
PENNA_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_spin_lock(lock));
  return take<PosixAnswers>(
      word(lock), [=] { return real.pthread_spin_trylock(lock); }, [=] { return real.pthread_spin_lock(lock); },
      [] { return uint32_t{0}; });
}
PENNA_EXPORT int pthread_spin_trylock(pthread_spinlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_spin_trylock(lock));
  return take_if_free<PosixAnswers>(word(lock), [=] { return real.pthread_spin_trylock(lock); });
}
PENNA_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_spin_unlock(lock));
  return give_back(word(lock), [=] { return real.pthread_spin_unlock(lock); });
}
