#!/bin/bash
# SPDX-License-Identifier: MIT
# Locks of forked processes have the same names as in the parent that created them, and the poster of a semaphore in
# shared memory is known. And unobservable waits, those of libgomp except for its locks: the report mentions them.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >workers.c <<'PROGRAM'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t *heap;
static sem_t *slot;
static int ready[2];
__attribute__((noipa)) void set_up(void) {
  heap = malloc(sizeof *heap);
  pthread_mutex_init(heap, 0);
  slot = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  sem_init(slot, 1, 0);
  if (pipe(ready) != 0) abort();
}
__attribute__((noipa)) void wait_for_slot(void) { sem_wait(slot); }
int main(void) {
  set_up();
  if (fork() == 0) {
    pthread_mutex_lock(heap), pthread_mutex_unlock(heap);
    if (write(ready[1], "", 1) != 1) abort();
    wait_for_slot();
    return 0;
  }
  char byte;
  if (read(ready[0], &byte, 1) != 1) abort();
  usleep(100000);
  sem_post(slot);
  wait(0);
  return 0;
}
PROGRAM
build_c workers
run penna record -q -f -k locks -o workers.penna -- ./workers
run penna report locks workers.penna
expect_eq 2 "$(grep -c "mutex  made in set_up (workers.c:12)" <<<"$out")" "rows: of the parent and of the child"
expect_match "$out" '^ *WAIT .* THREADS +PID +ADDRESS '
expect_contains "$(head -n 1 <<<"$out")" 'for the semaphore made in set_up (workers.c:14) ('
run penna report waits workers.penna --frames 1
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +semaphore +made in set_up \(workers.c:14\) +wait_for_slot '
expect_match "$out" '^ *woken by workers \(tid [0-9]+\), in$'
expect_match "$out" '^ +main \(workers.c:[0-9]+\) \[workers\]$'

# The last to arrive at a barrier, and the signaller, may be in another process, too.
cat >meet.c <<'PROGRAM'
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct shared { pthread_barrier_t barrier; pthread_mutex_t lock; pthread_cond_t ready; int is_ready; } *shared;
__attribute__((noipa)) void meet(void) { pthread_barrier_wait(&shared->barrier); }
__attribute__((noipa)) void await(void) {
  pthread_mutex_lock(&shared->lock);
  while (!shared->is_ready) pthread_cond_wait(&shared->ready, &shared->lock);
  pthread_mutex_unlock(&shared->lock);
}
int main(void) {
  shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrierattr_t barrier;
  pthread_barrierattr_init(&barrier), pthread_barrierattr_setpshared(&barrier, 1);
  pthread_barrier_init(&shared->barrier, &barrier, 2);
  pthread_mutexattr_t lock;
  pthread_mutexattr_init(&lock), pthread_mutexattr_setpshared(&lock, 1);
  pthread_mutex_init(&shared->lock, &lock);
  pthread_condattr_t ready;
  pthread_condattr_init(&ready), pthread_condattr_setpshared(&ready, 1);
  pthread_cond_init(&shared->ready, &ready);
  if (fork() == 0) { meet(), await(); return 0; }
  usleep(100000), meet(), usleep(100000);
  pthread_mutex_lock(&shared->lock);
  shared->is_ready = 1, pthread_cond_signal(&shared->ready);
  pthread_mutex_unlock(&shared->lock);
  wait(0);
  return 0;
}
PROGRAM
build_c meet
run penna record -q -f -k locks -o meet.penna -- ./meet
run penna report waits meet.penna --frames 1 --min-wait 10ms
expect_eq 2 "$(grep -Ec '^ *woken by meet \(tid [0-9]+\), in$' <<<"$out")" "waits that another process ended"
expect_missing "$out" 'while no thread waited'
expect_missing "$out" 'not known'

# A holder of a mutex in another process is known with its stack, even if two programs map it at different addresses.
cat >account.c <<'PROGRAM'
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
struct account { pthread_mutex_t lock; int is_held; } *account;
__attribute__((noipa)) void hold(void) {
  pthread_mutex_lock(&account->lock);
  account->is_held = 1, usleep(100000);
  pthread_mutex_unlock(&account->lock);
}
__attribute__((noipa)) void want(void) { pthread_mutex_lock(&account->lock), pthread_mutex_unlock(&account->lock), account->is_held = 0; }
int main(int count, char **words) {
  const int file = open("bank", O_RDWR | O_CREAT, 0600);
  if (ftruncate(file, 4096) != 0) return 1;
  account = mmap(count > 1 ? (void *)0x600000000000 : 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (count > 1) {
    while (!account->is_held) usleep(1000);
    want();
    return 0;
  }
  pthread_mutexattr_t shared;
  pthread_mutexattr_init(&shared), pthread_mutexattr_setpshared(&shared, 1);
  pthread_mutex_init(&account->lock, &shared);
  if (fork() == 0) execl(words[0], words[0], "child", NULL);
  hold();
  wait(0);
  return 0;
}
PROGRAM
build_c account
run penna record -q -f -k locks -o account.penna -- ./account
expect_eq 0 "$status" "status of a program"
penna report waits account.penna --json | /usr/bin/python3 -c '
import json, sys
row = json.load(sys.stdin)["waits"][0]
assert (row["function"], row["other"], row["other_function"]) == ("want", "held", "hold"), row
assert any("hold (account.c:" in frame for frame in row["other_stack"]), row' || fail "wrong holder in the other program"
penna export folded account.penna --weight wait-by-holder | grep ';hold ' >/dev/null || fail "no flame graph of waits by holder"

cat >parallel.c <<'PROGRAM'
#include <unistd.h>
int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp critical
    usleep(50000);
#pragma omp critical(named)
    usleep(1000);
  }
  return 0;
}
PROGRAM
build_c parallel -fopenmp
run penna record -q -f -k locks -o parallel.penna -- ./parallel
run penna report locks parallel.penna
expect_match "$(head -n 1 <<<"$out")" '^2 threads lost [12][0-9][0-9] ms .*for the mutex first taken in main._omp_fn.0 \(parallel.c:[5-7]\) .* of it while main._omp_fn.0 .* held it'
expect_match "$out" ' 3 +66\.7 % +1 +3 +0x[0-9a-f]+ +mutex +first taken in main._omp_fn.0 '
expect_match "$out" ' mutex +\.gomp_critical_user_named *$'
expect_contains "$out" "What OpenMP's threads wait for inside libgomp is not seen, but its locks"

# A lock that a program builds on a futex has no holder known to us: the first sentence says what to do.
cat >own.c <<'PROGRAM'
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word = 1;
static void *give(void *nothing) {
  usleep(50000);
  __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
  return nothing;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, give, 0);
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) != 0) syscall(SYS_futex, &word, FUTEX_WAIT, 1, 0, 0, 0);
  pthread_join(other, 0);
  return 0;
}
PROGRAM
build_c own
penna record -q -f -k locks -o own.penna -- ./own
run penna report locks own.penna
expect_match "$(head -n 1 <<<"$out")" '^No locks were recorded, but other waits\. 1 thread waited .* for futex word, .* with --lock-functions\.$'
