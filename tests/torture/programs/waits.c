/* SPDX-License-Identifier: MIT
 * Everything else that threads wait for, by POSIX, C11 and raw system calls, and what each call returns, including
 * errors. */
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#include "torture.h"

static struct timespec in_ms(clockid_t clock, long ms) {
  struct timespec when;
  clock_gettime(clock, &when);
  when.tv_nsec += ms * 1000000;
  when.tv_sec += when.tv_nsec / 1000000000;
  when.tv_nsec %= 1000000000;
  return when;
}

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t tokens, never;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static long written, spun, calls, serials, torn;

static void call_once_only(void) {
  calls++;
  struct timespec pause = {0, 2000000};
  nanosleep(&pause, NULL);
}

static void* use_all(void* number) {
  for (int i = 0; i < 300; i++) {
    pthread_once(&once, call_once_only);
    if ((i + (long)number) % 8 == 0) {
      pthread_rwlock_wrlock(&table);
      written++, sched_yield(), written++;
      pthread_rwlock_unlock(&table);
    } else {
      pthread_rwlock_rdlock(&table);
      pthread_rwlock_rdlock(&table); /* shared by one thread, too */
      torn += written % 2;
      pthread_rwlock_unlock(&table);
      pthread_rwlock_unlock(&table);
    }
    pthread_spin_lock(&spin);
    spun++;
    pthread_spin_unlock(&spin);
    while (sem_wait(&tokens) != 0)
      ;
    sem_post(&tokens);
    if (i % 50 == 0 && pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
      __atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
  }
  return number;
}

static void errors(void) {
  struct timespec soon = in_ms(CLOCK_REALTIME, 2), steady = in_ms(CLOCK_MONOTONIC, 2), bad = {0, -1};
  pthread_rwlock_wrlock(&table);
  printf("rwlock: deadlock %d", pthread_rwlock_wrlock(&table));
  printf(" try %d %d", pthread_rwlock_tryrdlock(&table), pthread_rwlock_trywrlock(&table));
  printf(" deadlock of a timed one %d", pthread_rwlock_timedrdlock(&table, &soon));
  pthread_rwlock_unlock(&table);
  pthread_rwlock_rdlock(&table);
  printf(" timed %d", pthread_rwlock_timedwrlock(&table, &soon));
  printf(" clock %d", pthread_rwlock_clockwrlock(&table, CLOCK_MONOTONIC, &steady));
  printf(" bad time %d\n", pthread_rwlock_timedwrlock(&table, &bad));
  pthread_rwlock_unlock(&table);
  errno = 0;
  printf("semaphore: try %d", sem_trywait(&never));
  printf(" %d", errno), errno = 0;
  printf(" timed %d", sem_timedwait(&never, &soon));
  printf(" %d", errno), errno = 0;
  printf(" clock %d", sem_clockwait(&never, CLOCK_MONOTONIC, &steady));
  printf(" %d", errno), errno = 42;
  sem_post(&never);
  printf(" got %d", sem_wait(&never));
  printf(" %d\n", errno);
  char name[32];
  snprintf(name, sizeof name, "/penna-%d", getpid());
  sem_t* named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  printf("named: %d", sem_wait(named));
  printf(" again %d", sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED);
  printf(" %d", errno);
  sem_t* same = sem_open(name, 0);
  printf(" posted %d", sem_post(same));
  printf(" got %d", sem_trywait(named));
  printf(" closed %d", sem_close(same));
  printf(" %d", sem_close(named));
  printf(" unlinked %d\n", sem_unlink(name));
  pthread_spin_lock(&spin);
  printf("spin: try %d\n", pthread_spin_trylock(&spin));
  pthread_spin_unlock(&spin);
}

static void* wait_for_ever(void* what) {
  if (what == NULL) sem_wait(&never);
  pthread_t* other = what;
  if (what != NULL) pthread_join(*other, NULL);
  return NULL;
}
static void* sleep_on(void* unused) {
  (void)unused;
  pause();
  return NULL;
}

static void ended_from_outside(void) {
  pthread_t waiting, sleeping, joining;
  void* result;
  pthread_create(&waiting, NULL, wait_for_ever, NULL);
  pthread_create(&sleeping, NULL, sleep_on, NULL);
  pthread_create(&joining, NULL, wait_for_ever, &sleeping);
  struct timespec soon = in_ms(CLOCK_REALTIME, 3);
  printf("join: timed %d", pthread_timedjoin_np(waiting, &result, &soon));
  pthread_cancel(waiting), pthread_cancel(joining);
  printf(" cancelled %d", pthread_join(waiting, &result));
  printf(" %d %d", result == PTHREAD_CANCELED, pthread_join(joining, &result));
  printf(" %d", result == PTHREAD_CANCELED);
  pthread_cancel(sleeping);
  printf(" %d self %d\n", pthread_join(sleeping, NULL), pthread_join(pthread_self(), NULL));
}

static mtx_t plain;
static cnd_t changed;
static int turns;
static int take_turns(void* odd) {
  for (int i = 0; i < 100; i++) {
    mtx_lock(&plain);
    while (turns % 2 != (int)(long)odd) cnd_wait(&changed, &plain);
    turns++;
    cnd_broadcast(&changed);
    mtx_unlock(&plain);
  }
  return 7;
}
static void of_c11(void) {
  thrd_t threads[2];
  int results[2];
  mtx_init(&plain, mtx_timed), cnd_init(&changed);
  for (long i = 0; i < 2; i++) thrd_create(&threads[i], take_turns, (void*)i);
  for (int i = 0; i < 2; i++) thrd_join(threads[i], &results[i]);
  struct timespec soon = in_ms(CLOCK_REALTIME, 2);
  mtx_lock(&plain);
  printf("C11: turns %d, ended with %d %d, try %d", turns, results[0], results[1], mtx_trylock(&plain) == thrd_busy);
  printf(" timed %d", cnd_timedwait(&changed, &plain, &soon) == thrd_timedout);
  printf(" %d", mtx_timedlock(&plain, &soon) == thrd_timedout);
  printf(" unlock %d\n", mtx_unlock(&plain));
  cnd_destroy(&changed), mtx_destroy(&plain);
}

static unsigned word;
static void* set_word(void* unused) {
  (void)unused;
  struct timespec soon = {0, 3000000};
  nanosleep(&soon, NULL);
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return (void*)(woken < 0 ? woken : 0);
}
static void by_system_calls(void) {
  struct timespec none = {0, 1000000};
  printf("futex: changed %ld", syscall(SYS_futex, &word, FUTEX_WAIT, 5, NULL, NULL, 0));
  printf(" %d", errno);
  printf(" timed %ld", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &none, NULL, 0));
  printf(" %d", errno);
  printf(" bad %ld", syscall(SYS_futex, 16, FUTEX_WAIT, 0, NULL, NULL, 0));
  printf(" %d", errno);
  printf(" wake of nothing %ld\n", syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0));
  pthread_t thread;
  void* result;
  pthread_create(&thread, NULL, set_word, NULL);
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  pthread_join(thread, &result);
  printf("woken %ld; others: pid %d", (long)result, syscall(SYS_getpid) == getpid());
  printf(", bad %ld", syscall(-1));
  printf(" %d, fork", errno);
  fflush(stdout);
  int status;
  pid_t child = (pid_t)syscall(SYS_fork); /* returns twice from one call */
  if (child == 0) _exit(5);
  waitpid(child, &status, 0);
  printf(" %d\n", WEXITSTATUS(status));
}

int main(void) {
  pthread_t threads[4];
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  sem_init(&tokens, 0, 2), sem_init(&never, 0, 0);
  pthread_barrier_init(&barrier, NULL, 4);
  long results = 0;
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, use_all, (void*)i);
  for (int i = 0; i < 4; i++) {
    void* result;
    pthread_join(threads[i], &result);
    results = results * 10 + (long)result;
  }
  printf("results %ld: written %ld, torn %ld, spun %ld, called %ld, serial %ld\n", results, written, torn, spun, calls,
         serials);
  errors();
  ended_from_outside();
  of_c11();
  by_system_calls();
  printf("destroyed %d %d %d %d %d\n", pthread_barrier_destroy(&barrier), sem_destroy(&tokens), sem_destroy(&never),
         pthread_spin_destroy(&spin), pthread_rwlock_destroy(&table));
}
