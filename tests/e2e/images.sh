#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One process, several programs (exec): --pid PID:N means one of them, --pid PID reports that there are several.
. "$(dirname "$0")/common.sh"

cat >first.c <<'C'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) static void *of_first(void) { return malloc(1111); }
int main(void) { void *volatile block = of_first(); (void)block; execl("./second", "./second", (char *)0); return 1; }
C
cat >second.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) static void *of_second(void) { return malloc(222); }
int main(void) { void *volatile block = of_second(); (void)block; return 0; }
C
build_c first
build_c second
penna record -q -k alloc -o a.penna ./first
run penna info a.penna
expect_match "$out" '^ *PID +N +PARENT '
expect_match "$out" '^ *[0-9]+ +1 .* ./first$'
expect_match "$out" '^ *[0-9]+ +2 .* ./second$'
pid=$(penna info a.penna --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["processes"][0]["pid"])')
several="process $pid was 2 programs, of which --pid $pid:N means one: $pid:1 first, $pid:2 second"

# expect_of PROGRAM TEXT: the text is about that program only
expect_of() {
  local other=first
  [ "$1" != first ] || other=second
  expect_contains "$2" "of_$1"
  expect_missing "$2" "of_$other"
}
for n in 1 2; do
  program=first
  [ $n = 1 ] || program=second
  run penna report a.penna alloc --pid "$pid:$n" -n 0
  expect_of $program "$out"
  expect_missing "$out" "$several"
  for format in rtrace heaptrack; do
    run penna export $format a.penna --pid "$pid:$n"
    expect_of $program "$out"
    expect_missing "$err" "$several"
  done
  run penna replay a.penna --pid "$pid:$n" --stacks
  expect_of $program "$out"
done
for view in "report a.penna alloc" "check a.penna --max-leak 1G" "replay a.penna"; do
  # shellcheck disable=SC2086
  run penna $view --pid "$pid"
  expect_eq 0 "$status" "$view"
  expect_contains "$out" "$several."
done
run penna export rtrace a.penna --pid "$pid"
expect_contains "$err" "penna: $several; this is the one that allocated most, first"
expect_of first "$out"

for view in "report a.penna alloc" "check a.penna --max-leak 1G" "replay a.penna" "export rtrace a.penna"; do
  # shellcheck disable=SC2086
  run penna $view --pid "$pid:3"
  expect_eq 1 "$((status != 0))" "$view of a program that was not"
  expect_contains "$err" "process $pid was 2 programs only: 'penna info' shows them"
  for wrong in x "$pid:" "$pid:0" ":1" "$pid:x"; do
    # shellcheck disable=SC2086
    run penna $view --pid "$wrong"
    expect_contains "$err" "--pid takes the number of a process, or PID:N for the Nth program that it was, as 1234:2, not '$wrong'"
  done
done
