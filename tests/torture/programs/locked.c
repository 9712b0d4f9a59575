/* SPDX-License-Identifier: MIT
 * A library for reopen, guarded by its own lock, whose functions are hooked whenever it is opened. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __clang__
#define FUNCTION __attribute__((noinline, aligned(16)))
#else
#define FUNCTION __attribute__((noipa, aligned(16)))
#endif

static int word; /* 0: free, 1: taken, 2: taken with waiters */
static long inside;

FUNCTION static int own_trylock(int* lock) {
  int seen = 0;
  return __atomic_compare_exchange_n(lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
FUNCTION static void own_lock(int* lock) {
  if (own_trylock(lock)) return;
  while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0) syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}
FUNCTION static void own_unlock(int* lock) {
  if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2) syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

int plugin_work(int value) {
  int sum = 0;
  for (int i = 2; i <= value; ++i) {
    own_lock(&word);
    const long before = inside++;
    sum += i;
    if (inside != before + 1) sum = -1; /* another thread is inside */
    --inside;
    own_unlock(&word);
  }
  return sum;
}
