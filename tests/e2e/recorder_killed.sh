#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder that is killed leaves behind all that is older than a second, however many threads were at work and however slowly: 64 of them
# have chunks of their own, of which none is full.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >many.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { kThreads = 64 };
static int rounds;
static pthread_barrier_t all;
__attribute__((noipa)) void tick(void) {}
static __attribute__((no_instrument_function)) void* work(void* argument) {
  for (int i = 0; i < rounds; ++i) tick(), usleep(5000);
  pthread_barrier_wait(&all);
  for (;;) pause();
  return argument;
}
__attribute__((no_instrument_function)) int main(int argc, char** argv) {
  (void)argc;
  rounds = atoi(argv[1]);
  pthread_barrier_init(&all, NULL, kThreads + 1);
  pthread_t thread;
  for (int i = 0; i < kThreads; ++i) pthread_create(&thread, NULL, work, NULL);
  pthread_barrier_wait(&all);
  printf("%d\n", getpid());
  fflush(stdout);
  for (;;) pause();
}
C
build_c many -finstrument-functions
ticks() { penna report calls many.penna --format csv 2>/dev/null | awk -F, '$12 == "tick" { print $1 }'; }
until_all() { # what the file holds has WANT calls, as soon as the recorder has had its turn
  for ((tries = 0; tries < 120; ++tries)); do
    [ "$(ticks)" != "$1" ] || return 0
    sleep 0.5
  done
  fail "of $1 calls, the file holds $(ticks)"
}

rounds=2000
"$PENNA" record -q -f -k calls -o many.penna -- ./many "$rounds" >pid.txt 2>err.txt &
recorder=$!
trap 'kill -KILL $recorder $(<pid.txt) 2>/dev/null || true; cd /; rm -rf "$work"' EXIT
until [ -s pid.txt ]; do sleep 0.2; done
until_all $((64 * rounds))
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true
expect_eq $((64 * rounds)) "$(ticks)" "calls in the file of a killed recorder"
run penna info many.penna
expect_match "$out" '^state +unfinished'
run penna report health many.penna
expect_missing "$out$err" 'missing from the file'
expect_missing "$out$err" 'does not know'
