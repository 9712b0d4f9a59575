#!/bin/bash
# SPDX-License-Identifier: MIT
# A program whose first thread has ended while others go on (pthread_exit in main): /proc/PID shows a zombie, without
# memory, program and descriptors. It is recorded like any other: attached to in each way, listed, steered, and started.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >headless.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "penna/point.h"
__attribute__((noinline)) static void step(void) {
  void* volatile block = malloc(1234);
  free(block);
}
static void* work(void* none) {
  usleep(100000); /* until the first thread has ended */
  for (int round = 0; access("end", F_OK) != 0; ++round) {
    step();
    PENNA_EVENT(headless, round, round);
#ifdef OPENS
    dlclose(dlopen("libm.so.6", RTLD_NOW));
#endif
    usleep(1000);
    printf("%d\n", round), fflush(stdout);
  }
  exit(7);
  return none;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_exit(0);
}
C
build_c headless -DOPENS -fno-optimize-sibling-calls
cp headless.c still.c
build_c still -fno-optimize-sibling-calls -static

is_headless() { grep -q '^State:.Z' "/proc/$1/status"; }

start lines.txt ./headless
await lines.txt '^3$'
is_headless "$pid" || fail "its first thread runs"
attach "$pid"
expect_match "$(penna report alloc it.penna)" ' step \(headless'
expect_match "$(penna replay it.penna)" 'headless:round'
expect_match "$(penna report locks it.penna; penna report it.penna)" headless
attach "$pid" --libcalls
expect_match "$(penna report calls it.penna)" ' usleep'
attach "$pid" -F step
expect_match "$(penna report calls it.penna)" ' step '
attach "$pid" --via breakpoint -k calls,alloc -F step
expect_match "$(penna report calls it.penna)" ' step '
run penna record -f -o it.penna --via uprobe -F step -p "$pid"
expect_eq 125 "$status" "status by uprobes"
expect_match "$err" 'goes on without its first thread, .* use another --via$'
expect_match "$(penna list "$pid")" 'headless:round'
run penna record -p "$pid" --dry-run
expect_eq 0 "$status" "status of a dry run: $err"
expect_match "$out" ' code .* malloc'
"$PENNA" record -f -o it.penna --duration 60s -p "$pid" 2>recorder.txt &
recorder=$!
await_served "$pid"
run penna ctl "$pid" off headless:round
expect_eq 0 "$status" "status of ctl off: $err"
run penna ctl "$pid" stop
expect_eq 0 "$status" "status of ctl stop: $err"
wait "$recorder" || fail "the recorder failed: $(<recorder.txt)"

# It ends as it would.
"$PENNA" record -f -o it.penna -p "$pid" 2>recorder.txt &
recorder=$!
await_served "$pid"
touch end
status=0
wait "$pid" || status=$?
expect_eq 7 "$status" "status of the program"
wait "$recorder" || fail "the recorder failed: $(<recorder.txt)"
rm end

start lines.txt ./still
await lines.txt '^3$'
for way in inject breakpoint; do
  attach "$pid" --via "$way" -k calls,alloc -F step
  expect_match "$(penna report calls it.penna)" ' step '
done

# Started, with a library that comes once the first thread has ended.
(sleep 1; touch end) &
run penna record -f -o it.penna -k calls,alloc,points --libcalls ./headless
expect_eq 7 "$status" "status of a program that was started: $err"
expect_match "$(penna report alloc it.penna)" ' step \(headless'
expect_match "$(penna report calls it.penna)" ' dlclose '
