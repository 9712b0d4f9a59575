/* SPDX-License-Identifier: MIT
 * Every kind of mutex and every way to take it, and what each call returns: also the errors. */
#include <time.h>

#include "torture.h"

static pthread_mutex_t fast = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static long counter, turns;

static void* add(void* odd) {
  for (int i = 0; i < 20000; i++) {
    if (i % 16 == 0)
      while (pthread_mutex_trylock(&fast) != 0)
        ;
    else
      pthread_mutex_lock(&fast);
    counter++;
    pthread_mutex_unlock(&fast);
  }
  for (int i = 0; i < 500; i++) {
    pthread_mutex_lock(&fast);
    while (turns % 2 != (long)odd) pthread_cond_wait(&turn, &fast);
    turns++;
    pthread_cond_broadcast(&turn);
    pthread_mutex_unlock(&fast);
  }
  return NULL;
}
static void* die_holding(void* mutex) {
  pthread_mutex_lock(mutex);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("counter %ld, turns %ld\n", counter, turns);
  const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
  for (int i = 0; i < 6; i++) {
    pthread_mutexattr_t how;
    pthread_mutex_t mutex;
    struct timespec soon;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, types[i % 3]);
    pthread_mutexattr_setrobust(&how, i < 3 ? PTHREAD_MUTEX_STALLED : PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&how, i == 4 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
    pthread_mutex_init(&mutex, &how);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += (soon.tv_nsec += 2000000) / 1000000000, soon.tv_nsec %= 1000000000;
    printf("type %d: lock %d", i, pthread_mutex_lock(&mutex));
    printf(" try %d", pthread_mutex_trylock(&mutex));
    printf(" timed %d", pthread_mutex_timedlock(&mutex, &soon));
    int unlocked =
        0; /* a recursive one was taken up to three times; one of the normal type may be released only once */
    while (pthread_mutex_unlock(&mutex) == 0 && ++unlocked < 10 && i % 3 != 0)
      ;
    printf(" unlocked %d", unlocked);
    if (i >= 3 && pthread_create(&threads[0], NULL, die_holding, &mutex) == 0) {
      pthread_join(threads[0], NULL);
      printf(" owner died %d consistent %d", pthread_mutex_lock(&mutex), pthread_mutex_consistent(&mutex));
    }
    printf("\n");
  }
}
