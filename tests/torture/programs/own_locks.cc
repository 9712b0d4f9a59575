// SPDX-License-Identifier: MIT
// The program's own locks, whose functions are hooked by their description (cases.py): taken by many threads; with all
// sorts of arguments and results; left by exceptions, jumps, cancellations and other stacks. Anything left blocked by
// one of these would show: libc mutexes are taken afterwards, in the same way.
#include <execinfo.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "torture.h"

#ifdef __clang__
#define EXPORT extern "C" __attribute__((noinline))
#else
#define EXPORT extern "C" __attribute__((noipa))
#endif

struct Lock {
  int word;  // 0: free, 1: taken, 2: taken with waiters
  long guarded;
};

static long futex(int* word, int operation, int value) { return syscall(SYS_futex, word, operation, value, 0, 0, 0); }

// Returns 0, and its try variant returns true: their results differ.
EXPORT int own_lock(Lock* lock) {
  const int before = errno;
  int seen = 0;
  for (int spins = 0; spins < 100; spins++, seen = 0)
    if (__atomic_compare_exchange_n(&lock->word, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 0;
  while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) != 0) futex(&lock->word, FUTEX_WAIT_PRIVATE, 2);
  errno = before;
  return 0;
}
EXPORT bool own_trylock(Lock* lock) {
  int seen = 0;
  errno = EBUSY;  // callers of a lock function do not expect that
  return __atomic_compare_exchange_n(&lock->word, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
EXPORT int own_unlock(Lock* lock) {
  if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2) futex(&lock->word, FUTEX_WAKE_PRIVATE, 1);
  return 5;
}

static Lock counter;
static pthread_mutex_t after[6] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long wrong;

NOINLINE static void take_after(int way) {
  pthread_mutex_lock(&after[way]);
  pthread_mutex_unlock(&after[way]);
}

static void* count_up(void* unused) {
  for (int i = 0; i < 20000; i++) {
    errno = 7;
    if (own_lock(&counter) != 0 || errno != 7) wrong++;
    counter.guarded++;
    if (own_unlock(&counter) != 5) wrong++;
    if (i % 100 == 0 && own_trylock(&counter)) {
      counter.guarded--, counter.guarded++;
      own_unlock(&counter);
    }
  }
  return unused;
}

// ---- Arguments and results ---------------------------------------------------------------------------------------------

struct Token {
  double weight;
  long id;
};
struct Wide {
  long words[6];
};
EXPORT Token big_lock(Lock* lock, double weight, long a, long b, long c, long d, long e, long f, Wide wide,
                      float more) {
  own_lock(lock);
  return {weight + more, a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + wide.words[0] + wide.words[5]};
}
EXPORT __int128 big_unlock(Lock* lock, const char* format, ...) {
  __builtin_va_list rest;
  __builtin_va_start(rest, format);
  const double one = __builtin_va_arg(rest, double);
  const int two = __builtin_va_arg(rest, int);
  __builtin_va_end(rest);
  own_unlock(lock);
  return (__int128)two << 64 | (unsigned long)one;
}

static void take_big(void) {
  for (long i = 0; i < 1000; i++) {
    Lock lock = {};
    const Token token = big_lock(&lock, 1.5, i, 2, 3, 4, 5, 6, {{7, 0, 0, 0, 0, 8}}, 0.25f);
    const __int128 given = big_unlock(&lock, "%f %d", 9.0, 10);
    if (token.weight != 1.75 || token.id != i + 4 + 9 + 16 + 25 + 36 + 15) wrong++;
    if ((long)given != 9 || (long)(given >> 64) != 10) wrong++;
  }
}

// Walks its callers.
static int callers;
EXPORT void looking_lock(Lock* lock) {
  void* frames[32];
  own_lock(lock);
  callers += backtrace(frames, 32);
}
EXPORT void looking_unlock(Lock* lock) { own_unlock(lock); }

// ---- Ways to leave -----------------------------------------------------------------------------------------------------

static jmp_buf target;
static sem_t never;
static ucontext_t main_context, fiber;
static long fiber_rounds;

EXPORT void leaving_lock(Lock* lock, const char* way) {
  own_lock(lock);
  own_unlock(lock);
  switch (*way) {
    case 'e': throw 7;
    case 'j': longjmp(target, 1);
    case 'c':
      for (;;) sem_wait(&never);
    case 's': swapcontext(&fiber, &main_context); break;
    case 'x': pthread_exit(nullptr);
    default: break;
  }
  own_lock(lock);
}
EXPORT void leaving_unlock(Lock* lock) { own_unlock(lock); }

static Lock left;
static void* leave_thread(void* way) {
  leaving_lock(&left, (const char*)way);
  return nullptr;
}
static void fiber_body(void) {
  Lock lock = {};
  for (int i = 0; i < 50; i++) {
    leaving_lock(&lock, "s");
    fiber_rounds++;
    leaving_unlock(&lock);
  }
}

int main(void) {
  pthread_t threads[4];
  for (pthread_t& thread : threads) pthread_create(&thread, NULL, count_up, NULL);
  for (pthread_t& thread : threads) pthread_join(thread, NULL);
  take_big();
  for (int i = 0; i < 3; i++) {
    looking_lock(&counter);
    looking_unlock(&counter);
  }
  static long caught, jumps, cancelled, rounds;
  for (; rounds < 100; rounds++) {
    try {
      leaving_lock(&left, "e");
    } catch (int) {
      caught++;
    }
    take_after(0);
    if (setjmp(target) == 0) leaving_lock(&left, "j");
    jumps++;
    take_after(1);
  }
  sem_init(&never, 0, 0);
  for (int i = 0; i < 20; i++) {
    void* result;
    pthread_create(&threads[0], NULL, leave_thread, (void*)(i % 2 ? "c" : "x"));
    if (i % 2) pthread_cancel(threads[0]);
    pthread_join(threads[0], &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  getcontext(&fiber);
  fiber.uc_stack.ss_size = 1 << 18;
  fiber.uc_stack.ss_sp = malloc(fiber.uc_stack.ss_size);
  fiber.uc_link = &main_context;
  makecontext(&fiber, fiber_body, 0);
  for (int i = 0; i < 51; i++) {
    swapcontext(&main_context, &fiber);
    take_after(2);
  }
  own_lock(&counter);
  fflush(stdout);
  if (fork() == 0) {
    own_unlock(&counter);
    own_lock(&counter);
    _exit((int)work(3) - 1);
  }
  int status;
  wait(&status);
  own_unlock(&counter);
  printf("counted %ld, wrong %ld, caught %ld, jumps %ld, cancelled %ld, fiber %ld, child %d, callers %d, %ld\n",
         counter.guarded, wrong, caught, jumps, cancelled, fiber_rounds, WEXITSTATUS(status), callers, work(10));
}
