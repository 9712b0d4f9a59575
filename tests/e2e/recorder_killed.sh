#!/bin/bash
# SPDX-License-Identifier: MIT
# A killed recorder leaves everything older than a second, however many threads were running and however slowly: 256 of
# them have chunks of their own, filled once or not at all. This holds with filters, and for a flight recorder once it
# was triggered.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >many.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define OWN __attribute__((no_instrument_function))
enum { kThreads = 256 };
static int rounds;
static pthread_barrier_t all;
__attribute__((noipa)) void inner(void) {}
__attribute__((noipa)) void tick(void) { inner(); }
__attribute__((noipa)) void trouble(void) {}
static OWN void turns(int count) {
  for (int i = 0; i < count; ++i)
    if (tick(), i % 4 == 0) usleep(10000);
  pthread_barrier_wait(&all);
}
static OWN void* work(void* argument) {
  turns(rounds / 4 * 3);
  turns(rounds / 4);
  for (;;) pause();
  return argument;
}
OWN int main(int argc, char** argv) {
  (void)argc;
  rounds = atoi(argv[1]);
  pthread_barrier_init(&all, NULL, kThreads + 1);
  pthread_t thread;
  for (int i = 0; i < kThreads; ++i) pthread_create(&thread, NULL, work, NULL);
  pthread_barrier_wait(&all);
  trouble();
  pthread_barrier_wait(&all);
  printf("%d\n", getpid());
  fflush(stdout);
  for (;;) pause();
}
C
build_c many -finstrument-functions
calls_of() { penna report calls many.penna -n 0 --format csv 2>/dev/null | awk -F, -v name="$1" '$12 == name { print $1 }'; }
until_all() { # what the file holds has WANT calls, as soon as the recorder has had its turn
  for ((tries = 0; tries < 120; ++tries)); do
    [ "$(calls_of tick)" != "$1" ] || return 0
    sleep 0.5
  done
  fail "the file holds $(calls_of tick) of $1 calls"
}

# killed INNER OPTIONS...: all calls of tick() and INNER of each inner() are in the file.
rounds=1200
killed() {
  local inner=$(($1 * 256 * rounds))
  shift
  rm -f pid.txt many.penna
  "$PENNA" record -q -f -k calls -o many.penna "$@" -- ./many "$rounds" >pid.txt 2>err.txt &
  recorder=$!
  trap 'kill -KILL $recorder $(<pid.txt) 2>/dev/null || true; cd /; rm -rf "$work"' EXIT
  until [ -s pid.txt ]; do sleep 0.2; done
  until_all $((256 * rounds))
  kill -KILL "$recorder"
  wait "$recorder" 2>/dev/null || true
  expect_eq $((256 * rounds)) "$(calls_of tick)" "calls in the file of a killed recorder ($*)"
  expect_eq "$inner" "$(($(calls_of inner)))" "calls inside of them ($*)"
  run penna info many.penna
  expect_match "$out" '^state +unfinished'
  run penna report health many.penna
  expect_missing "$out$err" 'missing from the file'
  expect_missing "$out$err" 'does not know'
  kill -KILL "$(<pid.txt)"
}
killed 1
killed 0 --depth 1
killed 1 --thread many
killed 1 -T trouble@snapshot
