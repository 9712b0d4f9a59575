#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A recorder in a recorder: the outer one records the program, and the inner one reports this.
. "$(dirname "$0")/common.sh"

cat >app.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) static void *of_app(void) { return malloc(77); }
int main(void) { void *volatile block = of_app(); (void)block; return 7; }
C
build_c app
printf '#!/bin/sh\nexec ./app\n' >script
chmod +x script
for program in ./app ./script; do
  rm -f inner.penna outer.penna
  run penna record -k alloc -o outer.penna -- "$PENNA" record -k alloc -o inner.penna -- $program
  expect_eq 7 "$status" "status of $program"
  why="nothing was recorded of $program: this recorder is itself being recorded, and the other recorder has the program in its recording; run only one of the two"
  expect_contains "$err" "penna: $why"
  expect_missing "$err" "its resource limits (ulimit)"
  expect_contains "$(penna info inner.penna)" "$why"
  expect_contains "$(penna report outer.penna alloc -n 0)" "of_app"
done
