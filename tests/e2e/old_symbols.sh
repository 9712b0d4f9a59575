#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that was built for condition variables of 8 bytes (before glibc 2.3.2) runs as without us, whatever is recorded; those of today
# are recorded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >waits.c <<'PROGRAM'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#ifdef VERSION
#define OF_VERSION(name) __asm__(".symver " #name "," #name "@" VERSION)
OF_VERSION(pthread_cond_init);
OF_VERSION(pthread_cond_destroy);
OF_VERSION(pthread_cond_wait);
OF_VERSION(pthread_cond_timedwait);
OF_VERSION(pthread_cond_signal);
OF_VERSION(pthread_cond_broadcast);
#endif
static struct { void *condition; long behind[8]; } small;
static pthread_cond_t *ready = (pthread_cond_t *)&small.condition;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *finish(void *nothing) {
  usleep(20000);
  pthread_mutex_lock(&lock), done = 1, pthread_cond_signal(ready), pthread_cond_broadcast(ready), pthread_mutex_unlock(&lock);
  return nothing;
}
int main(void) {
  pthread_t other;
  const struct timespec past = {1, 0};
  pthread_cond_init(ready, 0);
  pthread_create(&other, 0, finish, 0);
  pthread_mutex_lock(&lock);
  while (!done) pthread_cond_wait(ready, &lock);
  printf("%d\n", pthread_cond_timedwait(ready, &lock, &past));
  pthread_mutex_unlock(&lock);
  pthread_join(other, 0);
  for (int i = 0; i < 8; ++i) printf("%ld ", small.behind[i]);
  pthread_cond_destroy(ready);
  return 0;
}
PROGRAM
gcc -O1 -g -DVERSION='"GLIBC_2.2.5"' waits.c -o old -pthread
run ./old
expect_eq $'110\n0 0 0 0 0 0 0 0 ' "$out" 'what it prints without us'
for kinds in locks alloc; do
  run timeout 20 "$PENNA" record -q -f -k $kinds -o old.penna -- ./old
  expect_eq 0 "$status" "exit status with -k $kinds"
  expect_eq $'110\n0 0 0 0 0 0 0 0 ' "$out" "what it prints with -k $kinds"
done
build_c waits
run timeout 20 "$PENNA" record -q -f -k locks -o waits.penna -- ./waits
expect_eq 0 "$status" 'exit status'
run penna report waits waits.penna
expect_match "$out" ' condition +small'
