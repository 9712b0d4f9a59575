// SPDX-License-Identifier: MIT
// What else threads wait for: semaphores, barriers, the first call of pthread_once, the end of a thread.
//
// These have no holder, except for pthread_once: the thread that makes the call. For how waits are recorded see
// lock_record.h.
// Invariant: results and errno are those of the real functions.
#include <fcntl.h>
#include <stdarg.h>
#include <threads.h>

#include "agent/core/sys.h"
#include "agent/core/thread_of.h"
#include "agent/hooks/locks/lock_record.h"

namespace penna::agent {

// A pthread_once in progress in this thread, until its call begins.
struct OnceCall {
  void (*function)();
  uint64_t lock;
  uint32_t stack;        // of the caller of pthread_once
  const LockWait* wait;  // for another thread's call, if one was in progress
  bool began;
};

namespace {

uint64_t word(const sem_t* semaphore) { return lock_word(semaphore, PENNA_SYNC_SEMAPHORE); }
uint64_t word(const pthread_barrier_t* barrier) { return lock_word(barrier, PENNA_SYNC_BARRIER); }

// glibc counts the waiters in the upper half of the first word.
bool is_waited_for(const sem_t* semaphore) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(semaphore), __ATOMIC_RELAXED) >> 32 != 0;
}

// The rest of a wait, which may be cancelled.
template <typename Answers, typename Wait>
__attribute__((noinline)) int wait_cancellably(LockWait* recorded, Wait wait) {
  int answer;
  pthread_cleanup_push(LockWait::cancelled, recorded);
  answer = wait();
  pthread_cleanup_pop(0);
  const uint64_t now = penna_now();
  recorded->end(Answers::end(answer), now);
  return answer;
}

// Not `take`: a semaphore is not held, and its try sets errno if a wait must follow. Also, a try does not act on a
// pending cancellation, which glibc's sem_wait() and sem_timedwait() do before they look at the semaphore.
template <typename Wait>
__attribute__((always_inline)) inline int take_one(sem_t* semaphore, Wait wait) {
  if (is_part_of_lock_function()) return wait();
  const int saved = errno;
  uint32_t stack = 0;
  if (wants_stack(word(semaphore))) stack = current_stack(unwind::HookFrame::here()->caller());
  if (real.sem_trywait(semaphore) == 0) {
    write_taken(word(semaphore), stack, penna_now());
    return 0;
  }
  errno = saved;
  LockWait recorded = LockWait::begin_now(word(semaphore), stack, 0, unwind::HookFrame::here());
  return wait_cancellably<ErrnoAnswers>(&recorded, wait);
}

// The function that the real pthread_once() calls. An exception may leave it: then the hold has no end.
void make_once_call() {
  OnceCall* call = thread.once_call;
  const uint64_t lock = call->lock;
  call->began = true;
  if (call->wait != nullptr)
    call->wait->end(PENNA_WAIT_GOT, penna_now());  // the other thread left its call, for example by an exception
  write_lock_at(PENNA_KIND_LOCK_AT, lock, call->stack, penna_now());
  call->function();
  write_lock(PENNA_KIND_UNLOCK, lock, penna_now());
}

// Once the call is done, glibc's word is 2; libc's own test costs a call.
bool is_done(const int* once) { return __atomic_load_n(once, __ATOMIC_ACQUIRE) == 2; }
// It is odd while a thread makes the call.
bool is_going_on(const int* once) { return (__atomic_load_n(once, __ATOMIC_RELAXED) & 1) != 0; }

template <typename Call>
void record_once(const int* once, void (*function)(), Call call_it, const unwind::HookFrame* hook) {
  const uint64_t lock = lock_word(once, PENNA_SYNC_ONCE);
  const uint32_t stack = current_stack(hook->caller());
  const bool waits = is_going_on(once);
  const LockWait wait = waits ? LockWait::begin_now(lock, stack, 0, hook) : LockWait{lock, penna_now(), stack, 0};
  OnceCall call{function, lock, stack, waits ? &wait : nullptr, false};
  // What is called once may itself call something else once.
  OnceCall* outer = thread.once_call;
  thread.once_call = &call;
  call_it(make_once_call);
  thread.once_call = outer;
  if (!call.began) wait.end(PENNA_WAIT_GOT, penna_now());  // another thread made it, perhaps one that came in between
}

// glibc stores the tid in the thread control block before pthread_create() returns, until the thread ends. Its offset
// is not documented: so it is trusted only if it is right for the calling thread. Otherwise the tid that the thread
// itself has recorded; 0 before its first event.
uint32_t tid_of(pthread_t other) {
  constexpr uintptr_t kTidPlace = 720;  // glibc 2.x on x86-64
  const auto noted = [](uintptr_t block) {
    return __atomic_load_n(reinterpret_cast<const uint32_t*>(block + kTidPlace), __ATOMIC_RELAXED);
  };
  if (noted(unwind::thread_pointer()) == static_cast<uint32_t>(sys(SYS_gettid)))
    if (const uint32_t tid = noted(other); tid != 0 && tid <= INT32_MAX) return tid;
  return __atomic_load_n(&thread_of(other)->tid, __ATOMIC_RELAXED);
}

template <typename Answers, typename Join>
__attribute__((always_inline)) inline int join(pthread_t other, Join join_it) {
  const uint64_t lock = static_cast<uint64_t>(other) | uint64_t{PENNA_SYNC_JOIN} << 56;
  LockWait recorded = LockWait::begin_now(lock, 0, tid_of(other), unwind::HookFrame::here());
  return wait_cancellably<Answers>(&recorded, join_it);
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;
using penna::unwind::HookFrame;

PENNA_EXPORT int sem_init(sem_t* semaphore, int shared, unsigned value) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.sem_init(semaphore, shared, value));
  return make_lock(word(semaphore), [=] { return real.sem_init(semaphore, shared, value); });
}
PENNA_EXPORT int sem_destroy(sem_t* semaphore) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.sem_destroy(semaphore));
  return destroy_lock(word(semaphore), [=] { return real.sem_destroy(semaphore); });
}
// Named semaphores: for this process, they are created here.
PENNA_EXPORT sem_t* sem_open(const char* name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const bool creates = (flags & O_CREAT) != 0;
  const mode_t mode = creates ? va_arg(more, mode_t) : 0;
  const unsigned value = creates ? va_arg(more, unsigned) : 0;
  va_end(more);
  if (!recording(PENNA_LOCKS)) return have_real() ? real.sem_open(name, flags, mode, value) : SEM_FAILED;
  sem_t* semaphore = real.sem_open(name, flags, mode, value);
  if (semaphore != SEM_FAILED) make_lock(word(semaphore), [] { return 0; });
  return semaphore;
}
PENNA_EXPORT int sem_close(sem_t* semaphore) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.sem_close(semaphore));
  return destroy_lock(word(semaphore), [=] { return real.sem_close(semaphore); });
}
PENNA_EXPORT int sem_wait(sem_t* semaphore) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.sem_wait(semaphore));
  pthread_testcancel();
  return take_one(semaphore, [=] { return real.sem_wait(semaphore); });
}
PENNA_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.sem_timedwait(semaphore, until));
  if (!is_time(CLOCK_REALTIME, until)) return real.sem_timedwait(semaphore, until);
  pthread_testcancel();
  return take_one(semaphore, [=] { return real.sem_timedwait(semaphore, until); });
}
PENNA_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.sem_clockwait(semaphore, clock, until));
  if (!is_time(clock, until)) return real.sem_clockwait(semaphore, clock, until);
  return take_one(semaphore, [=] { return real.sem_clockwait(semaphore, clock, until); });
}
PENNA_EXPORT int sem_trywait(sem_t* semaphore) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.sem_trywait(semaphore));
  const int answer = real.sem_trywait(semaphore);
  if (is_part_of_lock_function()) return answer;
  if (answer == 0)
    write_lock(PENNA_KIND_LOCK, word(semaphore), penna_now());
  else if (ErrnoAnswers::busy(answer))
    write_lock(PENNA_KIND_LOCK_BUSY, word(semaphore), penna_now());
  return answer;
}
PENNA_EXPORT int sem_post(sem_t* semaphore) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.sem_post(semaphore));
  const uint64_t now = penna_now();
  // Before the post: after it, a thread that was woken may destroy the semaphore.
  const bool wakes = is_waited_for(semaphore);
  const int answer = real.sem_post(semaphore);
  if (is_part_of_lock_function() || answer != 0) return answer;
  if (wakes)
    write_lock_at(PENNA_KIND_UNLOCK_AT, word(semaphore), current_stack(HookFrame::here()->caller()), now);
  else
    write_lock(PENNA_KIND_UNLOCK, word(semaphore), now);
  return answer;
}

PENNA_EXPORT int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                      unsigned count) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_barrier_init(barrier, attributes, count));
  return make_lock(word(barrier), [=] { return real.pthread_barrier_init(barrier, attributes, count); });
}
PENNA_EXPORT int pthread_barrier_destroy(pthread_barrier_t* barrier) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_barrier_destroy(barrier));
  return destroy_lock(word(barrier), [=] { return real.pthread_barrier_destroy(barrier); });
}
PENNA_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_barrier_wait(barrier));
  const uint64_t lock = word(barrier);
  // A barrier cannot be tried: also the thread that comes last records a wait, a short one.
  const LockWait recorded = LockWait::begin_now(lock, 0, 0, HookFrame::here());
  const int answer = real.pthread_barrier_wait(barrier);
  // This thread came last, and woke the others.
  if (answer == PTHREAD_BARRIER_SERIAL_THREAD)
    write_record(PENNA_KIND_WAKE, penna_wake{lock, recorded.stack, UINT32_MAX}, PENNA_LOCKS, recorded.begin);
  const bool passed = answer == 0 || answer == PTHREAD_BARRIER_SERIAL_THREAD;
  recorded.end(passed ? PENNA_WAIT_GOT : PENNA_WAIT_ERROR, penna_now());
  return answer;
}

PENNA_EXPORT int pthread_once(pthread_once_t* once, void (*function)()) {
  if (is_done(once) || !recording(PENNA_LOCKS)) return have_real() ? real.pthread_once(once, function) : 0;
  int answer = 0;
  record_once(
      once, function, [&](void (*ours)()) { answer = real.pthread_once(once, ours); }, HookFrame::here());
  return answer;
}
PENNA_EXPORT void call_once(once_flag* once, void (*function)()) {
  auto* same = reinterpret_cast<pthread_once_t*>(once);  // glibc's once_flag is a pthread_once_t by another name
  if (is_done(same) || !recording(PENNA_LOCKS)) {
    if (have_real()) real.call_once(once, function);
    return;
  }
  record_once(
      same, function, [&](void (*ours)()) { real.call_once(once, ours); }, HookFrame::here());
}

PENNA_EXPORT int pthread_join(pthread_t other, void** result) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_join(other, result));
  return join<PosixAnswers>(other, [=] { return real.pthread_join(other, result); });
}
PENNA_EXPORT int pthread_timedjoin_np(pthread_t other, void** result, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_timedjoin_np(other, result, until));
  return join<PosixAnswers>(other, [=] { return real.pthread_timedjoin_np(other, result, until); });
}
PENNA_EXPORT int pthread_clockjoin_np(pthread_t other, void** result, clockid_t clock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_clockjoin_np(other, result, clock, until));
  return join<PosixAnswers>(other, [=] { return real.pthread_clockjoin_np(other, result, clock, until); });
}
PENNA_EXPORT int thrd_join(thrd_t other, int* result) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.thrd_join(other, result));
  return join<C11Answers>(other, [=] { return real.thrd_join(other, result); });
}
