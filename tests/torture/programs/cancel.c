/* SPDX-License-Identifier: MIT
 * pthread_cancel: deferred in a condition wait and in a timed one, asynchronous in a loop, and for a thread that waits
 * for a mutex (not a cancellation point: it gets the mutex first). Clean-up handlers must find the mutex held. */
#include "torture.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int waiting, cleaned, held;

static void clean_up(void* unused) {
  (void)unused;
  cleaned++; /* protected by the mutex, which the wait has reacquired */
  pthread_mutex_unlock(&mutex);
}
static void* wait_deferred(void* timed) {
  struct timespec far = {4000000000, 0};
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(clean_up, NULL);
  waiting++;
  for (;;) timed ? pthread_cond_timedwait(&never, &mutex, &far) : pthread_cond_wait(&never, &mutex);
  pthread_cleanup_pop(1);
  return NULL;
}
static void* wait_for_mutex(void* unused) {
  pthread_mutex_lock(&mutex);
  held++;
  pthread_mutex_unlock(&mutex);
  pthread_testcancel();
  return unused;
}
NOINLINE static long burn(long n) { return n * 3 + 1; }
static void* run_async(void* unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (volatile long n = 0;; n++) burn(n);
  return unused;
}

int main(void) {
  int cancelled = 0;
  for (int round = 0; round < 100; round++) {
    pthread_t threads[4];
    waiting = 0;
    pthread_create(&threads[0], NULL, wait_deferred, NULL);
    pthread_create(&threads[1], NULL, wait_deferred, (void*)1);
    pthread_create(&threads[2], NULL, run_async, NULL);
    for (int ready = 0; !ready; pthread_mutex_unlock(&mutex)) pthread_mutex_lock(&mutex), ready = waiting == 2;
    pthread_mutex_lock(&mutex);
    pthread_create(&threads[3], NULL, wait_for_mutex, NULL);
    for (int i = 0; i < 4; i++) pthread_cancel(threads[i]);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 4; i++) {
      void* result = NULL;
      if (pthread_join(threads[i], &result) == 0 && result == PTHREAD_CANCELED) cancelled++;
    }
  }
  printf("cancelled %d, cleaned up %d, got the mutex %d\n", cancelled, cleaned, held);
}
