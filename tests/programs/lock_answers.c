// SPDX-License-Identifier: MIT
// Prints what the lock functions of libc answer where that is no plain success: locks held by oneself, by others and by the dead,
// times and clocks that are none, threads that were cancelled before they asked. One line each, always the same.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SHOW(expression) show(#expression, (expression))
static void show(const char* what, int answer) {
  printf("%s = %s\n", what, answer == 0 ? "0" : strerrorname_np(answer));
}
#define SHOW_ERRNO(expression) show_errno(#expression, (errno = 0, (expression)))
static void show_errno(const char* what, int answer) {
  printf("%s = %d %s\n", what, answer, errno == 0 ? "" : strerrorname_np(errno));
}

static const struct timespec past = {1, 0}, no_time = {1, 2000000000}, below = {1, -1};
static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

static void make(int type, int robust, int protocol) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setrobust(&attributes, robust);
  if (pthread_mutexattr_setprotocol(&attributes, protocol) != 0) puts("no such protocol");
  pthread_mutex_init(&mutex, &attributes);
}

static void* on_thread(void* function) {
  ((void (*)(void))function)();
  return 0;
}
static const char* elsewhere(void (*function)(void)) {
  pthread_t thread;
  void* result;
  pthread_create(&thread, 0, on_thread, function);
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED ? "cancelled" : "returned";
}

static void lock_it(void) { SHOW(pthread_mutex_lock(&mutex)); }
static void try_it(void) { SHOW(pthread_mutex_trylock(&mutex)); }
static void wait_till_then(void) { SHOW(pthread_mutex_timedlock(&mutex, &past)); }
static void wait_till_no_time(void) {
  SHOW(pthread_mutex_timedlock(&mutex, &no_time));
  SHOW(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &below));
}
static void give_it_back(void) { SHOW(pthread_mutex_unlock(&mutex)); }

static void of_mutexes(int robust, int protocol) {
  for (int type = PTHREAD_MUTEX_NORMAL; type <= PTHREAD_MUTEX_ERRORCHECK; ++type) {
    printf("-- type %d, robust %d, protocol %d\n", type, robust, protocol);
    make(type, robust, protocol);
    lock_it();
    try_it();
    wait_till_then();
    if (type != PTHREAD_MUTEX_NORMAL) lock_it();
    elsewhere(try_it);
    elsewhere(wait_till_then);
    elsewhere(wait_till_no_time);
    if (type != PTHREAD_MUTEX_NORMAL) elsewhere(give_it_back);
    for (int i = 0; i < 3; ++i) SHOW(pthread_mutex_unlock(&mutex));
    make(type, robust, protocol);
    SHOW(pthread_mutex_timedlock(&mutex, &no_time));
    SHOW(pthread_mutex_unlock(&mutex));
    SHOW(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &below));
    SHOW(pthread_mutex_unlock(&mutex));
    SHOW(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
    SHOW(pthread_mutex_unlock(&mutex));
    if (robust != PTHREAD_MUTEX_ROBUST) continue;
    make(type, robust, protocol);
    elsewhere(lock_it);
    elsewhere(try_it);  // its owner died, and so does this one
    elsewhere(lock_it);
    SHOW(pthread_mutex_timedlock(&mutex, &past));
    SHOW(pthread_mutex_consistent(&mutex));
    SHOW(pthread_mutex_consistent(&mutex));
    SHOW(pthread_mutex_unlock(&mutex));
    elsewhere(lock_it);
    SHOW(pthread_mutex_lock(&mutex));
    SHOW(pthread_mutex_unlock(&mutex));  // never made consistent
    SHOW(pthread_mutex_lock(&mutex));
    SHOW(pthread_mutex_trylock(&mutex));
  }
}

static void try_rwlock(void) {
  SHOW(pthread_rwlock_tryrdlock(&rwlock));
  SHOW(pthread_rwlock_trywrlock(&rwlock));
  SHOW(pthread_rwlock_timedwrlock(&rwlock, &past));
  SHOW(pthread_rwlock_timedwrlock(&rwlock, &no_time));
}
static void of_rwlocks(void) {
  SHOW(pthread_rwlock_wrlock(&rwlock));
  SHOW(pthread_rwlock_wrlock(&rwlock));
  SHOW(pthread_rwlock_rdlock(&rwlock));
  SHOW(pthread_rwlock_trywrlock(&rwlock));
  elsewhere(try_rwlock);
  SHOW(pthread_rwlock_unlock(&rwlock));
  SHOW(pthread_rwlock_timedrdlock(&rwlock, &no_time));
  SHOW(pthread_rwlock_clockrdlock(&rwlock, CLOCK_PROCESS_CPUTIME_ID, &past));
  SHOW(pthread_rwlock_timedwrlock(&rwlock, &below));
  SHOW(pthread_rwlock_clockwrlock(&rwlock, CLOCK_PROCESS_CPUTIME_ID, &past));
  SHOW(pthread_rwlock_rdlock(&rwlock));
  SHOW(pthread_rwlock_rdlock(&rwlock));
  SHOW(pthread_rwlock_trywrlock(&rwlock));
  SHOW(pthread_rwlock_timedwrlock(&rwlock, &past));
  SHOW(pthread_rwlock_unlock(&rwlock));
  SHOW(pthread_rwlock_unlock(&rwlock));
}

static void of_semaphores(void) {
  sem_init(&semaphore, 0, 9);
  SHOW_ERRNO(sem_timedwait(&semaphore, &no_time));
  SHOW_ERRNO(sem_timedwait(&semaphore, &past));
  SHOW_ERRNO(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &past));
  SHOW_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &below));
  while (sem_trywait(&semaphore) == 0) putchar('.');
  SHOW_ERRNO(sem_trywait(&semaphore));
  SHOW_ERRNO(sem_timedwait(&semaphore, &past));
  SHOW_ERRNO(sem_timedwait(&semaphore, &no_time));
  SHOW_ERRNO(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &past));
  SHOW_ERRNO(sem_init(&semaphore, 0, 0x7fffffff));
  SHOW_ERRNO(sem_post(&semaphore));
}

static void of_conditions(void) {
  make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  SHOW(pthread_cond_timedwait(&condition, &mutex, &past));  // is not held
  SHOW(pthread_mutex_lock(&mutex));
  SHOW(pthread_cond_timedwait(&condition, &mutex, &past));
  SHOW(pthread_cond_timedwait(&condition, &mutex, &no_time));
  SHOW(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
  SHOW(pthread_mutex_unlock(&mutex));
  SHOW(pthread_mutex_unlock(&mutex));
}

// Functions that a cancelled thread does not come back from, though they need not wait.
static void cancel_me(void) { pthread_cancel(pthread_self()); }
static void cancelled_wait(void) { cancel_me(), sem_wait(&semaphore); }
static void cancelled_timedwait(void) { cancel_me(), sem_timedwait(&semaphore, &past); }
static void cancelled_clockwait(void) { cancel_me(), sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past); }
static void cancelled_trywait(void) { cancel_me(), sem_trywait(&semaphore); }
static void cancelled_lock(void) { cancel_me(), pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); }
static void unlock_it(void* lock) { show("unlocked when cancelled", pthread_mutex_unlock(lock)); }
static void cancelled_condition(void) {
  cancel_me(), pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock_it, &mutex);
  pthread_cond_timedwait(&condition, &mutex, &past);
  pthread_cleanup_pop(1);
}
static void of_the_cancelled(void) {
  sem_init(&semaphore, 0, 9);
#define ELSEWHERE(function) printf("%s %s\n", #function, elsewhere(function))
  ELSEWHERE(cancelled_wait);
  ELSEWHERE(cancelled_timedwait);
  ELSEWHERE(cancelled_clockwait);
  ELSEWHERE(cancelled_trywait);
  ELSEWHERE(cancelled_lock);
  ELSEWHERE(cancelled_condition);
  int value;
  sem_getvalue(&semaphore, &value);
  printf("%d left\n", value);
}

static void tick(int signal) { (void)signal; }
static void of_signals(void) {
  struct sigaction action = {.sa_handler = tick};
  sigaction(SIGALRM, &action, 0);
  sem_init(&semaphore, 0, 0);
  alarm(1);
  SHOW_ERRNO(sem_wait(&semaphore));
}

static void of_c11(void) {
  mtx_t lock;
  mtx_init(&lock, mtx_timed);
  printf("%d %d", mtx_timedlock(&lock, &past), mtx_trylock(&lock));
  printf(" %d", mtx_timedlock(&lock, &past));
  printf(" %d %d\n", mtx_timedlock(&lock, &no_time), mtx_unlock(&lock));
}

// Of a mutex with a priority ceiling: in a thread that cannot be raised glibc's functions fail, and leave traces, so that the next call
// gets it.
static void take_and_give(void) {
  for (int i = 0; i < 3; ++i) {
    const int answer = pthread_mutex_lock(&mutex);
    printf("of a ceiling: %s\n", answer == 0 ? "0" : strerrorname_np(answer));
    if (answer == 0) give_it_back();
  }
}
static void take_by_time(void) {
  for (int i = 0; i < 3; ++i) wait_till_then(), try_it();
  give_it_back();
}
static void of_ceilings(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT);
  SHOW(pthread_mutexattr_setprioceiling(&attributes, 10));
  SHOW(pthread_mutex_init(&mutex, &attributes));
  take_and_give();
  elsewhere(take_and_give);
  elsewhere(take_by_time);
  lock_it();
  elsewhere(take_by_time);
  give_it_back();
}

int main(void) {
  for (int robust = PTHREAD_MUTEX_STALLED; robust <= PTHREAD_MUTEX_ROBUST; ++robust)
    for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; ++protocol) of_mutexes(robust, protocol);
  of_ceilings();
  of_rwlocks();
  of_semaphores();
  of_conditions();
  of_the_cancelled();
  of_signals();
  of_c11();
  return 0;
}
