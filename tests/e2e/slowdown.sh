#!/bin/bash
# SPDX-License-Identifier: MIT
# A program slowed down much by recording: record and info report this, and the tables of calls, with the cost of a
# call; report --net subtracts it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >fib.c <<'PROGRAM'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(int argc, char **argv) { return printf("%d\n", fib(atoi(argv[argc - 1]))) < 0; }
PROGRAM
readonly slower='recording made the program (about [0-9.]+ times slower(, [0-9]+ at least)?|[0-9]+ times slower or more): [0-9]+ % of its processor time, [0-9]+ ns a call; '

# total_of FUNCTION OPTIONS...
total_of() { penna report fib.penna calls --format csv "${@:2}" | /usr/bin/python3 -c '
import csv, sys
print(sum(int(row["total_ns"]) for row in csv.DictReader(sys.stdin) if row["function"] == sys.argv[1]))' "$1"; }

for way in -finstrument-functions -fpatchable-function-entry=5 '-pg -mfentry'; do
  # shellcheck disable=SC2086
  build_c fib -O2 $way
  run penna record -f -k calls -o fib.penna -- ./fib 27
  expect_eq "0 196418" "$status $out"
  expect_match "$err" "^penna: $slower.*--max-overhead 10%.*--net"
done
build_c fib -O2
run penna record -f -k calls -F fib -o fib.penna -- ./fib 27
expect_match "$err" "^penna: $slower"

expect_match "$(penna info fib.penna)" "Recording made the program"
for table in "report fib.penna calls" "report fib.penna tree" "graph fib fib.penna"; do
  # shellcheck disable=SC2086
  expect_match "$(penna $table)" "^$slower"
done
penna report fib.penna calls --format json | /usr/bin/python3 -c '
import json, sys
cost = json.load(sys.stdin)["cost"]
assert cost["slowdown_percent"] >= 50 and cost["event_ps_calls"] > 0 and cost["event_ps_locks"] == 0, cost'

gross=$(total_of fib) net=$(total_of fib --net)
[ "$net" -lt "$gross" ] || fail "net time $net is not below gross time $gross"
expect_contains "$(penna report fib.penna calls --net)" "times are net"
expect_missing "$(penna report fib.penna calls --net)" "times slower"
run penna report fib.penna calls --net -F fib
expect_eq 1 "$((status != 0))"
expect_contains "$err" "--net needs all calls"
run penna report fib.penna alloc --net
expect_contains "$err" "--net is for calls and tree"
run penna report "$PENNA_SOURCE/tests/golden/recording-v2-chunks.penna" calls --net
expect_contains "$err" "does not say what a call cost"

# Calls excluded by a filter had their cost as well.
run penna record -f -k calls -F fib --min-time 1s -o fib.penna -- ./fib 27
expect_match "$err" "^penna: $slower"
expect_contains "$(penna report fib.penna calls --net)" "that record left out"

# No message for a program that spends little time in what is recorded.
run penna record -f -o sleep.penna -- sleep 0.01
expect_missing "$err" "times slower"
