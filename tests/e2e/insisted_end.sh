#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that survives SIGTERM keeps its recorder; sending it again ends the recorder, with a complete recording, and
# the program continues. A program that ends on the second one is recorded to its end.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >stubborn.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void* volatile kept;
static volatile sig_atomic_t terms;
static void hear(int number) {
  if (write(1, number == SIGTERM ? "TERM\n" : "INT\n", number == SIGTERM ? 5 : 4) < 0) _exit(9);
  terms += number == SIGTERM;
}
// ./stubborn TERMS: until it has heard so many, or there is a file "end".
int main(int argc, char** argv) {
  (void)argc;
  signal(SIGTERM, hear);
  signal(SIGINT, hear);
  for (int i = 0; i < 1000; ++i) kept = malloc(33);
  if (write(1, "ready\n", 6) < 0) return 9;
  while (terms < atoi(argv[1])) {
    usleep(1000);
    if (access("end", F_OK) == 0) return write(1, "went on\n", 8) == 8 ? 5 : 9;
  }
  for (int i = 0; i < 1000; ++i) kept = malloc(44);
  return 7;
}
C
build_c stubborn
recorder=
heard() { # WORD TIMES
  for _ in $(seq 600); do [ "$(grep -cx "$1" heard.txt)" -lt "$2" ] || return 0; sleep 0.1; done
  fail "expected $2 times $1 in $(<heard.txt)"
}
start() {
  rm -f end heard.txt s.penna
  : >heard.txt
  set -m  # or the shell would have SIGINT ignored
  "$PENNA" record -o s.penna -k alloc -- ./stubborn "$1" >heard.txt 2>err.txt &
  recorder=$!
  set +m
  heard ready 1
}
ended() { status=0; wait "$recorder" || status=$?; out=$(<heard.txt) err=$(<err.txt); }
allocations() { penna export csv s.penna | awk -F, -v size="$1" '$4 == "alloc" && $7 == size' | wc -l; }

for second in TERM INT; do
  start 100
  kill -TERM "$recorder"
  heard TERM 1
  sleep 1
  kill -0 "$recorder" || fail "the first SIGTERM ended the recorder"
  kill -$second "$recorder"
  ended
  [ "$status" = $([ $second = INT ] && echo 130 || echo 143) ] || fail "status $status after SIG$second"
  expect_contains "$err" "the command survived the signals sent to end it: it keeps running, unrecorded"
  touch end
  heard "went on" 1
  expect_eq "ready TERM $second went on" "$(xargs <heard.txt)" "what the program heard"
  run penna info s.penna
  expect_match "$out" '^state +complete$'
  expect_eq 1000 "$(allocations 33)" "allocations"
done

# One that ends on the second signal.
start 2
kill -TERM "$recorder"
heard TERM 1
kill -TERM "$recorder"
ended
expect_eq 7 "$status" "status of a program that ends by the second"
expect_missing "$err" outlived
expect_eq "1000 1000" "$(allocations 33) $(allocations 44)" "allocations up to its end"

# Repeated signals: interrupts of a program that survives them, and SIGTERM afterwards.
start 100
for count in 1 2 3; do
  kill -INT "$recorder"
  heard INT $count
done
kill -TERM "$recorder"
heard TERM 1
sleep 1
touch end
ended
expect_eq 5 "$status" "status of a program that was interrupted"
expect_missing "$err" outlived
