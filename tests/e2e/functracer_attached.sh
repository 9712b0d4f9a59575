#!/bin/bash
# SPDX-License-Identifier: MIT
# functracer -p PID: a program of several threads is traced, switched on and off five times by signals to functracer,
# and restored; its own signals all reach it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
functracer=$(dirname "$PENNA")/functracer

cat >threads.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile sig_atomic_t came;
static void count(int number) { came += number == SIGUSR1 || number == SIGUSR2; }
static void nap(void) { nanosleep(&(struct timespec){0, 2000000}, 0); }
__attribute__((noinline)) static void* keep(size_t bytes) { return malloc(bytes); }
static void* work(void* none) {
  for (;;) {
    void* volatile block = malloc(77);
    free(block);
    nap();
  }
  return none;
}
int main(void) {
  sigset_t mine;
  sigemptyset(&mine), sigaddset(&mine, SIGUSR1), sigaddset(&mine, SIGUSR2);
  signal(SIGUSR1, count), signal(SIGUSR2, count);
  pthread_sigmask(SIG_BLOCK, &mine, 0);
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
  }
  pthread_sigmask(SIG_UNBLOCK, &mine, 0);
  for (long round = 0;; ++round) {
    void* volatile kept = keep(4096 + (round & 7));
    raise(round & 1 ? SIGUSR1 : SIGUSR2);
    if (came != round + 1) return puts("WRONG"), 1;
    nap();
    if (round % 20 != 0) free(kept);
    printf("%ld\n", round), fflush(stdout);
  }
}
C
build_c threads
start output.txt ./threads
await output.txt '^10$'
mkdir traces
HOME=$work/traces "$functracer" -d -p "$pid" 2>said.txt </dev/null & tracer=$!
started+=("$tracer")
await_served "$pid"
for round in 1 2 3 4 5; do
  kill -USR2 "$tracer" # on
  sleep 0.3
  kill -USR1 "$tracer" # written, and off
  sleep 0.2
done
has_traces() { [ "$(find traces -name '*.trace' | wc -l)" -ge 5 ]; }
until_true "there are five traces" has_traces
kill -INT "$tracer"
status=0
wait "$tracer" || status=$?
expect_eq 0 "$status" "status of functracer: $(<said.txt)"
expect_eq 5 "$(find traces -name "allocs-$pid.*.trace" | wc -l)" traces
expect_eq 5 "$(find traces -name "allocs-$pid.*.map" | wc -l)" maps
for step in 0 1 2 3 4; do expect_match "$(<"traces/allocs-$pid.$step.trace")" '^ +keep\+0x'; done
await_progress output.txt
kill -0 "$pid" || fail "the program died"
expect_missing "$(<output.txt)" WRONG

run "$functracer" -p 4194305
expect_eq 125 "$status"
expect_contains "$err" 'there is no process 4194305'
