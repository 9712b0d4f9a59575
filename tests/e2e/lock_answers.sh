#!/bin/bash
# SPDX-License-Identifier: MIT
# While locks are recorded, each function of theirs answers as without us, of unusual locks too: errorcheck, recursive, robust ones whose
# owner died, priority inheritance, times and clocks that are none, cancelled threads.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_c lock_answers
run timeout 20 ./lock_answers
expect_eq 0 "$status" 'exit status without us'
expect_contains "$out" 'pthread_mutex_lock(&mutex) = ENOTRECOVERABLE'
plain=$out
for kinds in locks locks,alloc; do
  run timeout 60 "$PENNA" record -q -f -k $kinds -o $kinds.penna -- ./lock_answers
  expect_eq 0 "$status" "exit status with -k $kinds"
  diff <(echo "$plain") <(echo "$out") || fail "-k $kinds: other answers"
done

# What is robust, held by another thread and waited for is a wait still.
cat >robust.c <<'PROGRAM'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t robust, inherits;
static void make(pthread_mutex_t *lock, int protocol) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutex_init(lock, &attributes);
}
static void *keep(void *lock) { pthread_mutex_lock(lock), usleep(100000), pthread_mutex_unlock(lock); return 0; }
static void one(pthread_mutex_t *lock) {
  pthread_t other;
  pthread_create(&other, 0, keep, lock);
  usleep(20000);
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
  pthread_join(other, 0);
}
int main(void) {
  make(&robust, PTHREAD_PRIO_NONE), make(&inherits, PTHREAD_PRIO_INHERIT);
  one(&robust), one(&inherits);
  return 0;
}
PROGRAM
build_c robust
run penna record -q -f -k locks -o robust.penna -- ./robust
run penna report waits robust.penna --frames 1
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +robust +one '
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +inherits +one '
expect_eq 2 "$(grep -c 'held by robust (tid .*), taken in' <<<"$out")" 'waits whose holder is known'
