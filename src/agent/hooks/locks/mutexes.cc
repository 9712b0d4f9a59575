// SPDX-License-Identifier: MIT
// Mutexes of POSIX and C11, and spinlocks. For the steps and the invariant see lock_record.h.
#include "agent/hooks/locks/mutexes.h"

#include <threads.h>

namespace penna::agent {
namespace {

uint64_t word(const pthread_mutex_t* lock) { return mutex_word(lock); }
uint64_t word(const mtx_t* lock) { return lock_word(lock, PENNA_SYNC_MUTEX); }
uint64_t word(const volatile pthread_spinlock_t* lock) { return lock_word(lock, PENNA_SYNC_SPIN); }

// glibc stores the holder's tid in the mutex; read without the lock it may be out of date.
uint32_t owner_of(const pthread_mutex_t* lock) {
  return static_cast<uint32_t>(__atomic_load_n(&lock->__data.__owner, __ATOMIC_RELAXED));
}
// glibc's mtx_t is a pthread_mutex_t by another name.
uint32_t owner_of(const mtx_t* lock) { return owner_of(reinterpret_cast<const pthread_mutex_t*>(lock)); }

// glibc's trylock leaves an unrecoverable robust mutex locked by a caller that does not have it, and that would wait
// forever the next time. A lock with an expired timeout is a try as well. Mutexes that inherit priorities are released
// by the kernel.
int try_robust(pthread_mutex_t* lock) {
  constexpr int kInherits = 32;  // in glibc's mutex kinds
  if ((lock->__data.__kind & kInherits) != 0) return real.pthread_mutex_trylock(lock);
  constexpr timespec kOver{-1, 0};
  const int answer = real.pthread_mutex_timedlock(lock, &kOver);
  return answer == ETIMEDOUT ? EBUSY : answer;
}

// With a priority ceiling, the bits of the word below the ceiling say whether it is locked.
int try_with_ceiling(pthread_mutex_t* lock) {
  constexpr int kLocked = 3;
  const bool is_locked = (__atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED) & kLocked) != 0;
  return is_locked ? EBUSY : real.pthread_mutex_trylock(lock);
}

uint32_t owner_or_refused(const pthread_mutex_t* lock) {
  constexpr int kTypes = 3;  // in glibc's mutex kinds
  const uint32_t owner = owner_of(lock);
  return (lock->__data.__kind & kTypes) == PTHREAD_MUTEX_ERRORCHECK && is_mine(owner) ? kRefused : owner;
}

// glibc's priority ceiling functions fail in a thread whose priority cannot be raised, but leave it as if it had been:
// the next call then gets the lock. So the result of the try counts, unless it says that the lock is busy.
template <typename Wait>
__attribute__((noinline, cold)) int take_unusual(pthread_mutex_t* lock, Wait wait, const unwind::HookFrame* hook) {
  const bool has_ceiling = (lock->__data.__kind & kCeiling) != 0;
  int refused = 0;
  const auto try_it = [&] {
    const int answer = has_ceiling ? try_with_ceiling(lock) : try_robust(lock);
    if (has_ceiling && answer != EBUSY) refused = answer;
    return answer;
  };
  return take_at<PosixAnswers>(
      word(lock), wants_stack(word(lock)), try_it, [&] { return refused != 0 ? refused : wait(); },
      [=] { return owner_or_refused(lock); }, hook);
}

template <typename Wait>
__attribute__((always_inline)) inline int take_mutex(pthread_mutex_t* lock, Wait wait) {
  if (__builtin_expect(is_unusual(lock), 0)) return take_unusual(lock, wait, unwind::HookFrame::here());
  return take<PosixAnswers>(
      word(lock), [=] { return try_mutex(lock); }, wait, [=] { return owner_or_refused(lock); });
}

template <typename Wait>
__attribute__((always_inline)) inline int take_c11(mtx_t* lock, Wait wait) {
  // C11 has neither robust mutexes nor priority ceilings.
  return take<C11Answers>(
      word(lock), [=] { return real.mtx_trylock(lock); }, wait, [=] { return owner_of(lock); });
}

}  // namespace

int take_watched_mutex(pthread_mutex_t* lock, bool with_stack) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_lock(lock));
  const auto wait = [=] { return real.pthread_mutex_lock(lock); };
  if (is_unusual(lock)) return take_unusual(lock, wait, unwind::HookFrame::here());
  return take_at<PosixAnswers>(
      word(lock), with_stack || wants_stack(word(lock)), [=] { return try_mutex(lock); }, wait,
      [=] { return owner_or_refused(lock); }, unwind::HookFrame::here());
}
int take_busy_mutex(pthread_mutex_t* lock, int answer) {
  return take_busy<PosixAnswers>(
      word(lock), answer, 0, [=] { return real.pthread_mutex_lock(lock); }, [=] { return owner_or_refused(lock); },
      unwind::HookFrame::here());
}
int release_watched_mutex(pthread_mutex_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_mutex_unlock(lock));
  return release(word(lock), [=] { return real.pthread_mutex_unlock(lock); });
}
int record_mutex_released(pthread_mutex_t* lock, uint64_t time) {
  record_released_at(word(lock), time, unwind::HookFrame::here());
  return 0;
}

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
    return real.pthread_mutex_clocklock(lock, clock, until);  // the time only matters to waits
  return take_mutex(lock, [=] { return real.pthread_mutex_clocklock(lock, clock, until); });
}

// glibc's internal calls of its mutexes do not come here, so C11 needs its own hooks.
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
  return release(word(lock), [=] { return real.mtx_unlock(lock); });
}

PENNA_EXPORT int pthread_spin_init(pthread_spinlock_t* lock, int shared) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_spin_init(lock, shared));
  return make_lock(word(lock), [=] { return real.pthread_spin_init(lock, shared); });
}
PENNA_EXPORT int pthread_spin_destroy(pthread_spinlock_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_spin_destroy(lock));
  return destroy_lock(word(lock), [=] { return real.pthread_spin_destroy(lock); });
}
// A spinlock does not name its owner.
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
  return release(word(lock), [=] { return real.pthread_spin_unlock(lock); });
}
