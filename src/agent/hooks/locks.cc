// SPDX-License-Identifier: MIT
// Mutexes and condition variables.
//
// Why try first: a lock that nobody holds costs one compact record and no stack; only a wait pays for its story.
// Stamps: taken after, given back before, so that on one clock holds of one lock never overlap.
// Invariant: results are those of the real functions; a mutex is locked exactly when it would be without us.
#include <errno.h>
#include <stdint.h>

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

void write_lock(penna_kind kind, const void* lock) {
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

// Tries; when the lock is held, `wait` waits for it. Must be inlined: it looks at the hook's frame.
template <typename Wait>
__attribute__((always_inline)) inline int lock_with(pthread_mutex_t* lock, Wait wait, const unwind::Registers& caller) {
  int error = real.pthread_mutex_trylock(lock);
  if (__builtin_expect(error != EBUSY, 1)) {
    // Trylock says things that lock would not (EINVAL of a ceiling, say): then the real one shall speak.
    if (error != 0 && error != EOWNERDEAD) return wait();
    write_lock(PENNA_KIND_LOCK, lock);
    return error;
  }
  uint32_t owner = owner_of(lock);
  uint64_t begin = penna_now();
  error = wait();
  uint64_t now = penna_now();
  penna_lock_wait told{word(lock), begin, current_stack(caller), owner, static_cast<uint32_t>(wait_end(error)), 0};
  write_record(PENNA_KIND_LOCK_WAIT, told, PENNA_LOCKS, now);
  return error;
}

// What wait_on() tells when the wait ends, also when the thread is cancelled in it.
struct CondWait {
  pthread_cond_t* condition;
  pthread_mutex_t* lock;
  uint64_t begin;
  const unwind::Registers* caller;

  void tell(penna_wait_end end) const {
    uint64_t now = penna_now();
    penna_cond_wait told{word(lock), word(condition), begin, current_stack(*caller), static_cast<uint32_t>(end)};
    write_record(PENNA_KIND_COND_WAIT, told, PENNA_LOCKS, now);
  }
};

// Runs when the thread is cancelled while it waits: by then the mutex is held again.
void cond_wait_cancelled(void* wait) { static_cast<CondWait*>(wait)->tell(PENNA_WAIT_ERROR); }

template <typename Wait>
int wait_on(pthread_cond_t* condition, pthread_mutex_t* lock, Wait wait, const unwind::Registers& caller) {
  write_lock(PENNA_KIND_UNLOCK, lock);
  CondWait told{condition, lock, penna_now(), &caller};
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
using penna::unwind::caller_registers;

PENNA_EXPORT int pthread_mutex_lock(pthread_mutex_t* lock) {
  if (!have_real()) return 0;  // dlsym at start-up: one thread
  if (!recording(PENNA_LOCKS)) return real.pthread_mutex_lock(lock);
  return lock_with(lock, [lock] { return real.pthread_mutex_lock(lock); }, caller_registers());
}

PENNA_EXPORT int pthread_mutex_trylock(pthread_mutex_t* lock) {
  if (!have_real()) return 0;
  int error = real.pthread_mutex_trylock(lock);
  if (!recording(PENNA_LOCKS)) return error;
  if (error == 0 || error == EOWNERDEAD) write_lock(PENNA_KIND_LOCK, lock);
  if (error == EBUSY) write_lock(PENNA_KIND_LOCK_BUSY, lock);
  return error;
}

PENNA_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* lock, const timespec* until) {
  if (!have_real()) return 0;
  if (!recording(PENNA_LOCKS)) return real.pthread_mutex_timedlock(lock, until);
  return lock_with(lock, [=] { return real.pthread_mutex_timedlock(lock, until); }, caller_registers());
}

PENNA_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* lock, clockid_t clock, const timespec* until) {
  if (!have_real()) return 0;
  if (!recording(PENNA_LOCKS)) return real.pthread_mutex_clocklock(lock, clock, until);
  return lock_with(lock, [=] { return real.pthread_mutex_clocklock(lock, clock, until); }, caller_registers());
}

PENNA_EXPORT int pthread_mutex_unlock(pthread_mutex_t* lock) {
  if (!have_real()) return 0;
  if (!recording(PENNA_LOCKS)) return real.pthread_mutex_unlock(lock);
  uint64_t now = penna_now();
  int error = real.pthread_mutex_unlock(lock);
  // Written when the lock is free again, so that the record does not lengthen the hold; stamped before.
  if (error == 0) write_record(PENNA_KIND_UNLOCK, penna_lock{word(lock)}, PENNA_LOCKS, now);
  return error;
}

PENNA_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* lock) {
  if (!have_real()) return 0;
  if (!recording(PENNA_LOCKS)) return real.pthread_cond_wait(condition, lock);
  return wait_on(condition, lock, [=] { return real.pthread_cond_wait(condition, lock); }, caller_registers());
}

PENNA_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* lock, const timespec* until) {
  if (!have_real()) return 0;
  if (!recording(PENNA_LOCKS)) return real.pthread_cond_timedwait(condition, lock, until);
  return wait_on(condition, lock, [=] { return real.pthread_cond_timedwait(condition, lock, until); },
                 caller_registers());
}

PENNA_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* lock, clockid_t clock,
                                        const timespec* until) {
  if (!have_real()) return 0;
  if (!recording(PENNA_LOCKS)) return real.pthread_cond_clockwait(condition, lock, clock, until);
  return wait_on(condition, lock, [=] { return real.pthread_cond_clockwait(condition, lock, clock, until); },
                 caller_registers());
}
