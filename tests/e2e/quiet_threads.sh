#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Threads without events are in the table of threads, and in that of processes.
. "$(dirname "$0")/common.sh"

# Two threads sleep until the recorder has seen them; it checks twice a second.
cat >idle.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *sleeper(void *name) { pthread_setname_np(pthread_self(), name); sleep(2); return 0; }
int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, sleeper, "first");
  pthread_create(&threads[1], 0, sleeper, "second");
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  free(malloc(100));
  return 0;
}
C
build_c idle
penna record -q -k alloc -o a.penna ./idle
run penna report a.penna threads
expect_contains "$out" '3 threads of 1 process, 2 of them without an event'
expect_match "$out" '^ *[0-9]+ +[0-9]+ +first +- +- +0 +0 +0 +0 '
expect_match "$out" '^ *[0-9]+ +[0-9]+ +second +- +- +0 +0 +0 +0 '
expect_contains "$out" 'Threads without events are known only if they were alive when penna record looked'
expect_eq 3 "$(penna info a.penna --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["processes"][0]["threads"])')"
for view in "replay a.penna" "report a.penna" "export chrome a.penna -o c" "export ctf a.penna -o d" "export uftrace a.penna -o u"; do
  run penna $view
  expect_eq 0 "$status" "$view"
done

# A process without any events has one, too.
penna record -q -k points -o s.penna sleep 0.1
run penna report s.penna threads
expect_contains "$out" '1 thread of 1 process'
