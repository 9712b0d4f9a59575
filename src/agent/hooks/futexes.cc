// SPDX-License-Identifier: MIT
// Words that a program waits for by itself, through libc's syscall(): std::atomic::wait, std::counting_semaphore,
// std::latch, and whoever makes locks of its own. Every syscall() asks first (jumps_x86_64.S), then is jumped to: some of
// them return twice, or on another stack.
//
// What the words mean, only the program knows: told are the waits and who wakes, with their stacks; nobody holds a futex.
// Invariant: results and errno are those of the kernel.
#include <errno.h>
#include <linux/futex.h>

#include "agent/hooks/lock_record.h"
#include "agent/sys.h"

namespace penna::agent {
namespace {

constexpr int kLockPi2 = 13;  // FUTEX_LOCK_PI2, of Linux 5.14

struct FutexArguments {
  uint32_t* word;
  long operation, value, timeout, other, value3;
};

long do_futex(const FutexArguments& call) {
  return real.syscall(SYS_futex, call.word, call.operation, call.value, call.timeout, call.other, call.value3);
}

uint64_t lock_of(const FutexArguments& call) { return lock_word(call.word, PENNA_SYNC_FUTEX); }

// The kernel does not wait when the word says something else already; then there is no wait to tell. What cannot be read
// the kernel will refuse.
bool would_wait(const FutexArguments& call) {
  const auto address = reinterpret_cast<uintptr_t>(call.word);
  return address % sizeof(uint32_t) == 0 && unwind::raw_probe(address & ~uintptr_t{7}) &&
         __atomic_load_n(call.word, __ATOMIC_RELAXED) == static_cast<uint32_t>(call.value);
}

penna_wait_end end_of(long answer) {
  if (answer >= 0) return PENNA_WAIT_GOT;
  return errno == ETIMEDOUT ? PENNA_WAIT_TIMEOUT : PENNA_WAIT_ERROR;
}

// Of those that inherit priorities, the word is the tid of who has it, and flags. The kernel finds out whether it must wait.
uint32_t owner_of(const FutexArguments& call) {
  const auto address = reinterpret_cast<uintptr_t>(call.word);
  if (address % sizeof(uint32_t) != 0 || !unwind::raw_probe(address & ~uintptr_t{7})) return 0;
  return __atomic_load_n(call.word, __ATOMIC_RELAXED) & FUTEX_TID_MASK;
}

long wait_for_futex(const FutexArguments& call, uint32_t owner, const unwind::HookFrame* hook) {
  LockWait told = LockWait::begin_now(lock_of(call), 0, owner, hook);
  const long answer = do_futex(call);
  told.end(end_of(answer), penna_now());
  return answer;
}

long wake_futex(const FutexArguments& call, bool wakes_one, const unwind::HookFrame* hook) {
  const uint32_t most = wakes_one ? 1 : call.value > INT32_MAX / 2 ? UINT32_MAX : static_cast<uint32_t>(call.value);
  tell_wake(lock_of(call), most, current_stack(hook->caller()));
  return do_futex(call);
}

}  // namespace

// Called with the arguments of syscall(SYS_futex, ...), while locks are recorded.
extern "C" __attribute__((visibility("hidden"), used)) long penna_agent_futex(long, uint32_t* word, long operation,
                                                                              long value, long timeout, long other,
                                                                              long value3) {
  const FutexArguments call{word, operation, value, timeout, other, value3};
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
      return would_wait(call) ? wait_for_futex(call, 0, unwind::HookFrame::here()) : do_futex(call);
    case FUTEX_LOCK_PI:
    case kLockPi2: {
      const uint32_t owner = owner_of(call);
      return owner != 0 ? wait_for_futex(call, owner, unwind::HookFrame::here()) : do_futex(call);
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
    case FUTEX_WAKE_OP: return wake_futex(call, false, unwind::HookFrame::here());
    case FUTEX_UNLOCK_PI: return wake_futex(call, true, unwind::HookFrame::here());
    default: return do_futex(call);
  }
}

// As long as libc's is not known: what it does.
static long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const long answer = sys(number, a, b, c, d, e, f);
  if (!sys_failed(answer)) return answer;
  errno = static_cast<int>(-answer);
  return -1;
}

// Asked for every system call: which function goes on with it?
extern "C" __attribute__((visibility("hidden"), used)) void* penna_agent_before_syscall(long number) {
  if (number == SYS_seccomp || number == SYS_prctl) system_calls_filtered = true;  // as it may be to install a filter
  const bool is_told = number == SYS_futex && recording(PENNA_LOCKS) && !is_part_of_lock_function();
  if (is_told) return reinterpret_cast<void*>(penna_agent_futex);
  return have_real() ? reinterpret_cast<void*>(real.syscall) : reinterpret_cast<void*>(raw_syscall);
}

}  // namespace penna::agent
