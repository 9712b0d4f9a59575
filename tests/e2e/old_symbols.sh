#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs built for condition variables of 8 bytes (before glibc 2.3.2), or for a posix_spawn() that runs scripts
# without #! (before 2.15), run as without us, whatever is recorded; current ones are recorded.
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

cat >spawns.c <<'PROGRAM'
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#ifdef OLD
__asm__(".symver posix_spawn,posix_spawn@GLIBC_2.2.5");
__asm__(".symver posix_spawnp,posix_spawnp@GLIBC_2.2.5");
#endif
extern char **environ;
static void answer(int error, pid_t child) {
  int status = 0;
  if (error == 0) waitpid(child, &status, 0);
  fprintf(stderr, "%s, %d\n", strerror(error), WEXITSTATUS(status));
}
int main(int count, char **words) {
  pid_t child;
  int error = posix_spawn(&child, words[count - 1], 0, 0, words + 1, environ);
  answer(error, child);
  error = posix_spawnp(&child, words[count - 1], 0, 0, words + 1, environ);
  answer(error, child);
  return 0;
}
PROGRAM
gcc -O1 -DOLD spawns.c -o spawns_old
build_c spawns
printf 'exit 3\n' >script && chmod +x script
for program in ./spawns ./spawns_old; do
  run $program ./script
  plain=$err
  run timeout 20 "$PENNA" record -q -f -k alloc -o spawns.penna -- $program ./script
  expect_eq "$plain" "$err" "what $program tells"
  run timeout 20 "$PENNA" record -f -k alloc -o spawns.penna -- $program /bin/ls
  expect_contains "$err" '3 processes'
done
