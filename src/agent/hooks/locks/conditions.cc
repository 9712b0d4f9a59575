// SPDX-License-Identifier: MIT
// Condition variables, of POSIX and of C11. glibc releases and reacquires the mutex internally, so both are recorded
// here.
//
// Why the mutex counts as acquired at the end of the wait: from outside, the moment of waking and the moment of having
// the mutex again cannot be distinguished; a reader can, by the WAKE of the thread that signalled.
// Invariant: results are those of the real functions; between its UNLOCK and its COND_WAIT a thread does not hold the
// mutex.
#include <threads.h>

#include "agent/hooks/locks/lock_record.h"

namespace penna::agent {
namespace {

template <typename Condition>
uint64_t condition_word(const Condition* condition) {
  return lock_word(condition, PENNA_SYNC_CONDITION);
}

template <typename Answers, typename Condition, typename Mutex, typename Wait>
int wait_on(Condition* condition, Mutex* mutex, Wait wait, const unwind::HookFrame* hook) {
  if (is_part_of_lock_function()) return wait();
  const uint64_t lock = lock_word(mutex, PENNA_SYNC_MUTEX);
  const uint32_t stack = current_stack(hook->caller());
  record_released(lock, penna_now(), hook);
  ConditionWait recorded = ConditionWait::begin_now(lock, condition_word(condition), stack);
  int answer;
  // A cancellation acts during the wait. POSIX: the mutex is held again before the first cleanup handler runs.
  pthread_cleanup_push(ConditionWait::cancelled, &recorded);
  answer = wait();
  pthread_cleanup_pop(0);
  recorded.end(Answers::end(answer));
  return answer;
}

// glibc counts the waiters above three bits of flags. Unless the caller holds the mutex, the count may be out of
// date: it only decides whether a stack is walked.
bool is_waited_for(const pthread_cond_t* condition) {
  return __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) >> 3 != 0;
}
bool is_waited_for(const cnd_t* condition) { return is_waited_for(reinterpret_cast<const pthread_cond_t*>(condition)); }

// Calls that wake a thread record their stack. So do the first that wake none; after that, such a call costs next to
// nothing.
template <typename Condition, typename Wake>
__attribute__((always_inline)) inline int wake(Condition* condition, uint32_t most, Wake wake_them) {
  if (is_part_of_lock_function()) return wake_them();
  uint32_t stack = 0;
  const bool wakes = is_waited_for(condition);
  if (wakes) watch_woken();
  if (wakes || wants_stack(condition_word(condition))) stack = current_stack(unwind::HookFrame::here()->caller());
  // Before the call: a wake must not be later than the end of the wait that it ended.
  record_wake(condition_word(condition), most, stack);
  return wake_them();
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;
using penna::unwind::HookFrame;

PENNA_EXPORT int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_cond_init(condition, attributes));
  return make_lock(condition_word(condition), [=] { return real.pthread_cond_init(condition, attributes); });
}
PENNA_EXPORT int pthread_cond_destroy(pthread_cond_t* condition) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_cond_destroy(condition));
  return destroy_lock(condition_word(condition), [=] { return real.pthread_cond_destroy(condition); });
}
PENNA_EXPORT int pthread_cond_signal(pthread_cond_t* condition) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_cond_signal(condition));
  return wake(condition, 1, [=] { return real.pthread_cond_signal(condition); });
}
PENNA_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_cond_broadcast(condition));
  return wake(condition, UINT32_MAX, [=] { return real.pthread_cond_broadcast(condition); });
}
PENNA_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_cond_wait(condition, lock));
  return wait_on<PosixAnswers>(
      condition, lock, [=] { return real.pthread_cond_wait(condition, lock); }, HookFrame::here());
}
PENNA_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* lock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_cond_timedwait(condition, lock, until));
  return wait_on<PosixAnswers>(
      condition, lock, [=] { return real.pthread_cond_timedwait(condition, lock, until); }, HookFrame::here());
}
PENNA_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* lock, clockid_t clock,
                                        const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.pthread_cond_clockwait(condition, lock, clock, until));
  return wait_on<PosixAnswers>(
      condition, lock, [=] { return real.pthread_cond_clockwait(condition, lock, clock, until); }, HookFrame::here());
}

PENNA_EXPORT int cnd_init(cnd_t* condition) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.cnd_init(condition));
  return make_lock(condition_word(condition), [=] { return real.cnd_init(condition); });
}
PENNA_EXPORT void cnd_destroy(cnd_t* condition) {
  if (!recording(PENNA_LOCKS)) {
    if (have_real()) real.cnd_destroy(condition);
    return;
  }
  destroy_lock(condition_word(condition), [=] {
    real.cnd_destroy(condition);
    return 0;
  });
}
PENNA_EXPORT int cnd_signal(cnd_t* condition) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.cnd_signal(condition));
  return wake(condition, 1, [=] { return real.cnd_signal(condition); });
}
PENNA_EXPORT int cnd_broadcast(cnd_t* condition) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.cnd_broadcast(condition));
  return wake(condition, UINT32_MAX, [=] { return real.cnd_broadcast(condition); });
}
PENNA_EXPORT int cnd_wait(cnd_t* condition, mtx_t* lock) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.cnd_wait(condition, lock));
  return wait_on<C11Answers>(
      condition, lock, [=] { return real.cnd_wait(condition, lock); }, HookFrame::here());
}
PENNA_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* lock, const timespec* until) {
  PENNA_UNLESS_LOCKS_ARE_RECORDED(real.cnd_timedwait(condition, lock, until));
  return wait_on<C11Answers>(
      condition, lock, [=] { return real.cnd_timedwait(condition, lock, until); }, HookFrame::here());
}
