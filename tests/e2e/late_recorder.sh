#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder that is stopped, or starved on a busy machine: programs that start meanwhile wait for it, and are recorded
# if it resumes in time; otherwise they continue without it, and this is reported.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >short.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static void* volatile kept;
int main(void) {
  for (int i = 0; i < 500; ++i) kept = malloc(77);
  FILE* done = fopen("done", "w");
  return done == NULL || fclose(done) != 0 ? 1 : 3;
}
C
build_c short
there() { for _ in $(seq 1200); do [ ! -e "$1" ] || return 0; sleep 0.05; done; fail "no $1 within the time allowed"; }
recorder=
# stopped COMMAND: starts it with a recorder that is stopped before it continues.
stopped() {
  rm -f stopped done
  "$PENNA" record -f -o late.penna -k alloc -- bash -c "kill -STOP \$PPID; : >stopped; $1" >out.txt 2>err.txt &
  recorder=$!
  there stopped
}
go_on() { kill -CONT "$recorder"; status=0; wait "$recorder" || status=$?; out=$(<out.txt) err=$(<err.txt); }
allocations() { penna export csv late.penna | awk -F, '$4 == "alloc" && $7 == 77' | wc -l; }

stopped './short'
sleep 3
[ ! -e done ] || fail "the program did not wait for a recorder that lives"
go_on
expect_eq "3 500" "$status $(allocations)" "status and allocations of a program that waited"
expect_missing "$err" 'not recorded'

stopped 'exec ./short'
there done
go_on
expect_eq "3 0" "$status $(allocations)" "status and allocations of a program that went on"
expect_match "$err" '^penna: .*short \(pid [1-9][0-9]*\) was not recorded: it ended, or timed out after 10 s, before the recorder answered'
run penna info late.penna
expect_match "$out" '^.*short \(pid [1-9][0-9]*\) was not recorded: it ended, or timed out after 10 s'

# A killed recorder does not answer, and no process waits for it.
stopped './short'
kill -KILL "$recorder"
there done
wait "$recorder" || true
