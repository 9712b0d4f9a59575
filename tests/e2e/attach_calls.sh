#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p PID: calls of a running program, regardless of how it was built; and its stacks afterwards.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
/usr/bin/which gdb >/dev/null || "$(dirname "${BASH_SOURCE[0]}")/../../tools/install-packages" --package gdb

cat >calls.c <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static jmp_buf place;
__attribute__((noinline)) int leaf(int n) {
  __asm__ volatile("");
  return n * 3 + 1;
}
__attribute__((noinline)) int twice(int n) {
  const int sum = leaf(n) + leaf(n + 1);
  __asm__ volatile("");
  return sum;
}
__attribute__((noinline)) void deep(int n) {
  if (n == 0) longjmp(place, 1);
  deep(n - 1);
  __asm__ volatile("");
}
__attribute__((noinline)) int sleepy(int ms) {
  nanosleep(&(struct timespec){0, ms * 1000000L}, 0);
  return twice(ms);
}
__attribute__((noinline)) static void* work(void* none) {
  for (;;) sleepy(1);
  return none;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int round = 0;; ++round) {
    for (int i = 0; i < 100; ++i)
      if (twice(i) != 6 * i + 5) return puts("WRONG"), 3;
    if (!setjmp(place)) deep(3);
    sleepy(2);
    printf("%d\n", round), fflush(stdout);
  }
}
C

# Every twice() has its two leaves, sleepy() a twice(), deep() ends by longjmp in deep(3) > deep(2) > deep(1) > deep(0).
# Calls may be open at the start and end of a recording.
cat >check.py <<'CODE'
import collections, csv
rows = [row for row in csv.DictReader(open('calls.csv')) if row['name'] in ('leaf', 'twice', 'deep', 'sleepy')]
entered = collections.Counter(row['name'] for row in rows if row['kind'] == 'enter')
threads = {row['tid'] for row in rows}
assert len(threads) == 5, threads
assert entered['twice'] > 300 and entered['sleepy'] > 50 and entered['deep'] >= 8, entered
assert abs(entered['leaf'] - 2 * entered['twice']) <= 2 * len(threads), entered
jumped = sum(row['kind'] == 'exit' and row['end'] == 'jump' for row in rows)
assert abs(jumped - entered['deep']) <= 4, (jumped, entered)
CODE

afterwards() {  # no frame of ours on any stack, and it goes on
  timeout -s KILL 100 gdb -nx -p "$pid" -batch -ex 'thread apply all backtrace' </dev/null >stacks.txt 2>/dev/null
  expect_match "$(<stacks.txt)" 'sleepy'
  ! grep penna stacks.txt || fail "$1: a frame of ours: $(<stacks.txt)"
  local lines
  lines=$(wc -l <output.txt)
  for ((i = 0; i < 500 && $(wc -l <output.txt) <= lines + 2; ++i)); do sleep 0.02; done
  [ "$(wc -l <output.txt)" -gt $((lines + 2)) ] || fail "$1: no progress"
  ! grep -q WRONG output.txt || fail "$1: $(grep WRONG output.txt)"
}

try() {  # OPTIONS-OF-THE-COMPILER OPTIONS-OF-RECORD...
  local built=$1
  shift
  # shellcheck disable=SC2086
  gcc -O2 -g $built -o calls calls.c -pthread || fail "gcc $built: failed"
  start output.txt ./calls
  await output.txt '^3$'
  record_it "$built" "$@"
  afterwards "$built $*"
}
record_it() {
  run penna record -p "$pid" -f -o it.penna --duration 400ms -k calls "${@:2}"
  expect_eq 0 "$status" "status: $* $err"
  expect_contains "$err" ' 0 lost'
  expect_contains "$err" 'verified'
  rm -f calls.csv
  penna export csv it.penna -o calls.csv
  /usr/bin/python3 check.py || fail "$*"
}
try "" -F leaf -F twice -F deep -F sleepy
record_it "once more" -F leaf -F twice -F deep -F sleepy
record_it "all" -F '*'
afterwards "all"
kill "$pid"
try "-fcf-protection -Wl,-z,now" -F leaf -F twice -F deep -F sleepy -k alloc,locks
kill "$pid"
for built in -finstrument-functions "-finstrument-functions -fno-plt -Wl,-z,now" -pg "-pg -mfentry" "-pg -fno-pie -no-pie" \
  -fpatchable-function-entry=5; do
  try "$built"
  kill "$pid"
done

# Values; calls between modules; functions that are silenced because they are called too often.
gcc -O2 -g -o calls calls.c -pthread
start output.txt ./calls
await output.txt '^3$'
run penna record -p "$pid" -f -o it.penna --duration 300ms -k calls -F twice -A twice -R twice
expect_eq 0 "$status" "$err"
penna replay it.penna >replay.txt
expect_match "$(grep -m1 -A1 'twice(n=7)' replay.txt)" '= 47'
run penna record -p "$pid" -f -o it.penna --duration 300ms -k calls --libcalls
expect_eq 0 "$status" "$err"
penna report calls it.penna >report.txt
expect_match "$(<report.txt)" 'nanosleep'
run penna record -p "$pid" -f -o it.penna --duration 1s -k calls -F leaf -F twice --max-overhead 1%
expect_eq 0 "$status" "$err"
expect_contains "$err" 'are not recorded from some time on'
expect_match "$err" 'restored [0-9]+ places in [0-9]+ modules?, verified; all threads stopped for at most [0-9.]+ (us|ms|s)$'
afterwards "--max-overhead"

# Killed in the middle: hooked code runs as the original afterwards.
for patience in 0.1 0.2 0.4; do
  "$PENNA" record -p "$pid" -f -q -o killed.penna -k calls -F '*' </dev/null & recorder=$!
  sleep "$patience"
  kill -9 "$recorder"
  wait "$recorder" 2>/dev/null || true
done
is_left() { ! grep -q "@penna-surgeon.$pid$" /proc/net/unix; }
until_true "the surgeon has ended" is_left
afterwards "a kill"
