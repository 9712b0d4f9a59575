// SPDX-License-Identifier: MIT
// Mutexes and condition variables.
//
// Why try first: a lock that nobody holds costs one compact record and no stack; only a wait pays for its story.
// Stamps: taken after, given back before, so that on one clock holds of one lock never overlap.
// Invariant: results are those of the real functions; a mutex is locked exactly when it would be without us.
#include <errno.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "agent/real.h"
#include "agent/stacks.h"
#include "agent/writer.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

uint64_t word(const void* object) { return reinterpret_cast<uintptr_t>(object); }

__attribute__((always_inline)) inline bool have_real() {
  return __builtin_expect(real.pthread_mutex_lock != nullptr, 1) || resolve_real_functions();
}

__attribute__((always_inline)) inline void write_lock(penna_kind kind, const void* lock) {
  write_record(kind, penna_lock{word(lock)}, PENNA_LOCKS, penna_now());
}

penna_wait_end wait_end(int error) {
  switch (error) {
    case 0: return PENNA_WAIT_GOT;
    case EOWNERDEAD: return PENNA_WAIT_OWNER_DIED;
    case ETIMEDOUT: return PENNA_WAIT_TIMEOUT;
    default: return PENNA_WAIT_ERROR;
  }
}

// glibc keeps the tid of the holder in the mutex; read without the lock it may be stale by the time it is used.
uint32_t owner_of(const pthread_mutex_t* lock) {
  return static_cast<uint32_t>(__atomic_load_n(&lock->__data.__owner, __ATOMIC_RELAXED));
}

// The lock is held: `wait` waits for it. Out of line, so that the way of a free lock keeps little.
template <typename Wait>
__attribute__((noinline)) int wait_for(pthread_mutex_t* lock, Wait wait, const unwind::HookFrame* hook) {
  uint32_t owner = owner_of(lock);
  uint64_t begin = penna_now();
  int error = wait();
  uint64_t now = penna_now();
  penna_lock_wait told{word(lock), begin, current_stack(hook->caller()), owner, static_cast<uint32_t>(wait_end(error)),
                       0};
  write_record(PENNA_KIND_LOCK_WAIT, told, PENNA_LOCKS, now);
  return error;
}

// Tries; when the lock is held, `wait` waits for it. Must be inlined: it looks at the hook's frame.
template <typename Wait>
__attribute__((always_inline)) inline int lock_with(pthread_mutex_t* lock, Wait wait) {
  // Alone in the process, libc's lock does without a locked instruction, which its trylock never does. A mutex that the
  // one thread holds already goes the other way: what it waits for shall be told.
  bool alone = __libc_single_threaded != 0 && __atomic_load_n(&lock->__data.__lock, __ATOMIC_RELAXED) == 0;
  int error = alone ? wait() : real.pthread_mutex_trylock(lock);
  if (__builtin_expect(error == 0 || error == EOWNERDEAD, 1)) {
    write_lock(PENNA_KIND_LOCK, lock);
    return error;
  }
  // Trylock says things that lock would not (EINVAL of a ceiling, say): then the real one shall speak.
  return error == EBUSY ? wait_for(lock, wait, unwind::HookFrame::here()) : wait();
}

// What wait_on() tells when the wait ends, also when the thread is cancelled in it.
struct CondWait {
  pthread_cond_t* condition;
  pthread_mutex_t* lock;
  uint64_t begin;
  const unwind::HookFrame* hook;

  void tell(penna_wait_end end) const {
    uint64_t now = penna_now();
    penna_cond_wait told{word(lock), word(condition), begin, current_stack(hook->caller()), static_cast<uint32_t>(end)};
    write_record(PENNA_KIND_COND_WAIT, told, PENNA_LOCKS, now);
  }
};

// Runs when the thread is cancelled while it waits: by then the mutex is held again.
void cond_wait_cancelled(void* wait) { static_cast<CondWait*>(wait)->tell(PENNA_WAIT_ERROR); }

template <typename Wait>
int wait_on(pthread_cond_t* condition, pthread_mutex_t* lock, Wait wait, const unwind::HookFrame* hook) {
  write_lock(PENNA_KIND_UNLOCK, lock);
  CondWait told{condition, lock, penna_now(), hook};
  int error;
  pthread_cleanup_push(cond_wait_cancelled, &told);
  error = wait();
  pthread_cleanup_pop(0);
  told.tell(wait_end(error));
  return error;
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;
using penna::unwind::HookFrame;

// In each hook, that locks are recorded implies that there are real functions: one test on the usual way. Without them
// (0 below) dlsym is being asked for them at start-up, by the only thread there is.

PENNA_EXPORT int pthread_mutex_lock(pthread_mutex_t* lock) {
  if (!recording(PENNA_LOCKS)) return have_real() ? real.pthread_mutex_lock(lock) : 0;
  return lock_with(lock, [lock] { return real.pthread_mutex_lock(lock); });
}

PENNA_EXPORT int pthread_mutex_trylock(pthread_mutex_t* lock) {
  if (!recording(PENNA_LOCKS)) return have_real() ? real.pthread_mutex_trylock(lock) : 0;
  int error = real.pthread_mutex_trylock(lock);
  if (error == 0 || error == EOWNERDEAD) write_lock(PENNA_KIND_LOCK, lock);
  if (error == EBUSY) write_lock(PENNA_KIND_LOCK_BUSY, lock);
  return error;
}

PENNA_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* lock, const timespec* until) {
  if (!recording(PENNA_LOCKS)) return have_real() ? real.pthread_mutex_timedlock(lock, until) : 0;
  return lock_with(lock, [=] { return real.pthread_mutex_timedlock(lock, until); });
}

PENNA_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* lock, clockid_t clock, const timespec* until) {
  if (!recording(PENNA_LOCKS)) return have_real() ? real.pthread_mutex_clocklock(lock, clock, until) : 0;
  return lock_with(lock, [=] { return real.pthread_mutex_clocklock(lock, clock, until); });
}

PENNA_EXPORT int pthread_mutex_unlock(pthread_mutex_t* lock) {
  if (!recording(PENNA_LOCKS)) return have_real() ? real.pthread_mutex_unlock(lock) : 0;
  uint64_t now = penna_now();
  int error = real.pthread_mutex_unlock(lock);
  // Written when the lock is free again, so that the record does not lengthen the hold; stamped before.
  if (__builtin_expect(error == 0, 1)) write_record(PENNA_KIND_UNLOCK, penna_lock{word(lock)}, PENNA_LOCKS, now);
  return error;
}

PENNA_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* lock) {
  if (!recording(PENNA_LOCKS)) return have_real() ? real.pthread_cond_wait(condition, lock) : 0;
  return wait_on(
      condition, lock, [=] { return real.pthread_cond_wait(condition, lock); }, HookFrame::here());
}

PENNA_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* lock, const timespec* until) {
  if (!recording(PENNA_LOCKS)) return have_real() ? real.pthread_cond_timedwait(condition, lock, until) : 0;
  return wait_on(
      condition, lock, [=] { return real.pthread_cond_timedwait(condition, lock, until); }, HookFrame::here());
}

PENNA_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* lock, clockid_t clock,
                                        const timespec* until) {
  if (!recording(PENNA_LOCKS)) return have_real() ? real.pthread_cond_clockwait(condition, lock, clock, until) : 0;
  return wait_on(
      condition, lock, [=] { return real.pthread_cond_clockwait(condition, lock, clock, until); }, HookFrame::here());
}
