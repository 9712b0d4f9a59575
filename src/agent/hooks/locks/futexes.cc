// SPDX-License-Identifier: MIT
// Words that a program waits on directly, through libc's syscall(): std::atomic::wait, std::counting_semaphore,
// std::latch, and home-made locks. Every syscall() asks here first (jumps_x86_64.S), and is then reached by a jump:
// some system calls return twice, or on another stack.
//
// Only the program knows what the words mean: waits and wakes are recorded, with their stacks; a futex has no holder. A
// thread that waits for several words is shown as waiting for the first one; the end of the wait names the word that
// woke it.
// Invariant: results and errno are those of the kernel.
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>

#include "agent/core/sys.h"
#include "agent/hooks/locks/lock_record.h"
#include "agent/hooks/threads/filters.h"

namespace penna::agent {
namespace {

constexpr int kLockPi2 = 13;  // FUTEX_LOCK_PI2, since Linux 5.14

struct FutexArguments {
  uint32_t* word;
  long operation, value, timeout, other, value3;
};

long do_futex(const FutexArguments& call) {
  return real.syscall(SYS_futex, call.word, call.operation, call.value, call.timeout, call.other, call.value3);
}

uint64_t lock_of(const FutexArguments& call) { return lock_word(call.word, PENNA_SYNC_FUTEX); }

// The kernel does not wait if the word has another value; then there is no wait to record. If the word cannot be read,
// the kernel will fail the call.
bool would_wait(const FutexArguments& call) {
  const auto address = reinterpret_cast<uintptr_t>(call.word);
  return address % sizeof(uint32_t) == 0 && unwind::raw_probe(address & ~uintptr_t{7}) &&
         __atomic_load_n(call.word, __ATOMIC_RELAXED) == static_cast<uint32_t>(call.value);
}

penna_wait_end end_of(long answer) {
  if (answer >= 0) return PENNA_WAIT_GOT;
  return errno == ETIMEDOUT ? PENNA_WAIT_TIMEOUT : PENNA_WAIT_ERROR;
}

// The word of a priority-inheritance futex contains its owner's tid, and flags. The kernel decides whether the call has
// to wait.
uint32_t owner_of(const FutexArguments& call) {
  const auto address = reinterpret_cast<uintptr_t>(call.word);
  if (address % sizeof(uint32_t) != 0 || !unwind::raw_probe(address & ~uintptr_t{7})) return 0;
  return __atomic_load_n(call.word, __ATOMIC_RELAXED) & FUTEX_TID_MASK;
}

long wait_for_futex(const FutexArguments& call, uint32_t owner, const unwind::HookFrame* hook) {
  LockWait recorded = LockWait::begin_now(lock_of(call), 0, owner, hook);
  const long answer = do_futex(call);
  recorded.end(end_of(answer), penna_now());
  return answer;
}

long wake_futex(const FutexArguments& call, bool wakes_one, const unwind::HookFrame* hook) {
  // INT_MAX is the usual way to say "all". Recorded before the call: a wake must not be later than the end of the
  // wait that it ended.
  const uint32_t most = wakes_one ? 1 : call.value > INT32_MAX / 2 ? UINT32_MAX : static_cast<uint32_t>(call.value);
  record_wake(lock_of(call), most, current_stack(hook->caller()));
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

namespace {

constexpr long kFutexWaitv = 449;  // since Linux 5.16, like all below: headers may be older
// The kernel's struct futex_waitv.
struct WaitedWord {
  uint64_t value, address;
  uint32_t flags, reserved;
};

bool is_readable(uint64_t begin, uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  for (uint64_t at = begin & ~uint64_t{7}; at < begin + bytes; at = (at & ~(kPage - 1)) + kPage)
    if (!unwind::raw_probe(at)) return false;
  return true;
}

// As for one word: all still have the expected values.
bool would_wait_for_all(const WaitedWord* words, unsigned long count) {
  // The kernel's FUTEX_WAITV_MAX; with more, the call fails.
  constexpr unsigned long kMostWords = 128;
  if (count == 0 || count > kMostWords || !is_readable(reinterpret_cast<uint64_t>(words), count * sizeof *words))
    return false;
  for (unsigned long i = 0; i < count; ++i) {
    const FutexArguments one{
        reinterpret_cast<uint32_t*>(words[i].address), 0, static_cast<long>(words[i].value), 0, 0, 0};
    if (!would_wait(one)) return false;
  }
  return true;
}

}  // namespace

// The same for syscall(SYS_futex_waitv, ...): the result is the index of the word that was woken.
extern "C" __attribute__((visibility("hidden"), used)) long penna_agent_futex_waitv(long number,
                                                                                    const WaitedWord* words,
                                                                                    unsigned long count, long flags,
                                                                                    long until, long clock) {
  const auto wait = [=] { return real.syscall(number, words, count, flags, until, clock); };
  if (!would_wait_for_all(words, count)) return wait();
  const auto lock_at = [=](unsigned long i) {
    return lock_word(reinterpret_cast<const void*>(words[i].address), PENNA_SYNC_FUTEX);
  };
  LockWait recorded = LockWait::begin_now(lock_at(0), 0, 0, unwind::HookFrame::here());
  const long answer = wait();
  // Checked again: while this thread waited, the program may have unmapped the list.
  const bool is_woken = answer > 0 && static_cast<unsigned long>(answer) < count &&
                        is_readable(reinterpret_cast<uint64_t>(words), count * sizeof *words);
  if (is_woken) recorded.lock = lock_at(static_cast<unsigned long>(answer));
  recorded.end(end_of(answer), penna_now());
  return answer;
}

// What libc's function does, until that one is known.
static long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const long answer = sys(number, a, b, c, d, e, f);
  if (!sys_failed(answer)) return answer;
  errno = static_cast<int>(-answer);
  return -1;
}

static long go_on(long number, long a, long b, long c, long d, long e, long f) {
  return have_real() ? real.syscall(number, a, b, c, d, e, f) : raw_syscall(number, a, b, c, d, e, f);
}

// For syscall(SYS_seccomp, ...). A filter is installed for all threads or for none: if it fails, the result is the tid
// of a thread that cannot have it.
extern "C" __attribute__((visibility("hidden"), used)) long penna_agent_seccomp(long number, long operation, long flags,
                                                                                long program, long d, long e, long f) {
  const auto ask = [=] { return go_on(number, operation, flags, program, d, e, f); };
  if (operation != SECCOMP_SET_MODE_FILTER) return ask();
  constexpr long kNewListener = 1 << 3;  // Linux 5.0; the result is then a file descriptor
  const bool all_or_none = (flags & SECCOMP_FILTER_FLAG_TSYNC) != 0 && (flags & kNewListener) == 0;
  return install_filter(reinterpret_cast<const void*>(program), ask, all_or_none);
}

extern "C" __attribute__((visibility("hidden"), used)) long penna_agent_prctl(long number, long option, long mode,
                                                                              long program, long d, long e, long f) {
  return change_process(option, mode, program, [=] { return go_on(number, option, mode, program, d, e, f); });
}

// Called for every system call: returns the function to continue with.
extern "C" __attribute__((visibility("hidden"), used)) void* penna_agent_before_syscall(long number) {
  if (number == SYS_seccomp || number == SYS_prctl) system_calls_filtered = true;  // it may install a filter
  if (number == SYS_seccomp) return reinterpret_cast<void*>(penna_agent_seccomp);
  if (number == SYS_prctl) return reinterpret_cast<void*>(penna_agent_prctl);
  const bool is_futex = number == SYS_futex || number == kFutexWaitv;
  if (is_futex && recording(PENNA_LOCKS) && !is_part_of_lock_function())
    return number == SYS_futex ? reinterpret_cast<void*>(penna_agent_futex)
                               : reinterpret_cast<void*>(penna_agent_futex_waitv);
  return have_real() ? reinterpret_cast<void*>(real.syscall) : reinterpret_cast<void*>(raw_syscall);
}

}  // namespace penna::agent
