#!/bin/bash
# SPDX-License-Identifier: MIT
# A lock that passes from thread to thread: holds of one lock never overlap in the recording. To ensure this, an
# acquisition is stamped after it and a release before it: a waiter may run before unlock() returns.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >turns.c <<'PROGRAM'
#include <pthread.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#define ROUNDS 500
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t plain;
static pthread_spinlock_t spin;
static void hold(void) { nanosleep(&(struct timespec){0, 1000}, 0); }
static void* use(void* what) {
  for (int i = 0; i < ROUNDS; i++) {
    if (strcmp(what, "mutex") == 0) pthread_mutex_lock(&mutex), hold(), pthread_mutex_unlock(&mutex);
    if (strcmp(what, "table") == 0) pthread_rwlock_wrlock(&table), hold(), pthread_rwlock_unlock(&table);
    if (strcmp(what, "plain") == 0) mtx_lock(&plain), hold(), mtx_unlock(&plain);
    if (strcmp(what, "spin") == 0) pthread_spin_lock(&spin), hold(), pthread_spin_unlock(&spin);
  }
  return what;
}
int main(int argc, char** argv) {
  (void)argc;
  pthread_t threads[3];
  mtx_init(&plain, mtx_plain), pthread_spin_init(&spin, 0);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, use, argv[1]);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
PROGRAM
cat >check.py <<'CHECK'
import csv, sys
EARLY_NS = 1000  # so much a processor may read its clock ahead of an acquisition that waits for the lock's memory
holds, begun = [], {}
for row in csv.DictReader(open('turns.csv')):
    if row['name'] != sys.argv[1]:
        continue
    if row['kind'] in ('lock', 'lock_wait'):
        begun[row['tid']] = int(row['time_ns'])
    elif row['kind'] == 'unlock':
        holds.append((begun.pop(row['tid']), int(row['time_ns']), row['tid']))
holds.sort()
assert len(holds) == 1500 and not begun, (len(holds), begun)
for (_, given_back, holder), (taken, _, next_holder) in zip(holds, holds[1:]):
    assert given_back <= taken + EARLY_NS, f'{next_holder} took it at {taken}, and {holder} gave it back at {given_back}'
passed = sum(one[2] != other[2] for one, other in zip(holds, holds[1:]))
assert passed > 1, 'it was never passed on'
CHECK
# A library that interposes libc's unlock functions and returns late: the next thread has the lock long before. A
# release stamped on return overlaps the next hold, on any machine.
cat >late.c <<'LIBRARY'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>
#define LATE(function, type) \
  int function(type lock) { \
    static int (*real)(type); \
    if (!real) real = (int (*)(type))dlsym(RTLD_NEXT, #function); \
    int result = real(lock); \
    nanosleep(&(struct timespec){0, 200000}, 0); \
    return result; \
  }
LATE(pthread_mutex_unlock, pthread_mutex_t*)
LATE(pthread_rwlock_unlock, pthread_rwlock_t*)
LATE(pthread_spin_unlock, pthread_spinlock_t*)
LATE(mtx_unlock, mtx_t*)
LIBRARY
gcc -O2 -fPIC -shared late.c -o late.so
build_c turns
cp turns direct
build_c turns -Wl,--no-as-needed ./late.so
mv turns delayed
for program in direct delayed; do
  for name in mutex table plain spin; do
    run penna record -f -k locks -o turns.penna -- ./$program $name
    expect_eq 0 "$status" "status, $program $name"
    expect_contains "$err" "0 lost"
    penna export csv -o turns.csv turns.penna
    /usr/bin/python3 check.py $name || fail "$program: wrong turns of $name"
  done
done
