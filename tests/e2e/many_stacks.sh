#!/bin/bash
# SPDX-License-Identifier: MIT
# A quarter of a million stacks with minimal sharing, with one and a half million frames: all are kept.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >many.c <<'C'
#include <stdlib.h>
static void *volatile kept;
static void left(unsigned depth);
static void right(unsigned depth);
static __attribute__((noipa)) void fork_in_the_way(unsigned depth) {
  if (depth == 0) {
    kept = malloc(24);
    free(kept);
    return;
  }
  left(depth - 1);
  right(depth - 1);
  __asm__ volatile("");
}
static __attribute__((noipa)) void on(unsigned depth) { fork_in_the_way(depth); __asm__ volatile(""); }
static __attribute__((noipa)) void left(unsigned depth) { on(depth); __asm__ volatile(""); }
static __attribute__((noipa)) void right(unsigned depth) { on(depth); __asm__ volatile(""); }
int main(int argc, char **argv) { fork_in_the_way(argc > 1 ? atoi(argv[1]) : 18); }
C
build_c many
run penna record -q -k alloc -o many.penna -- ./many 18
expect_eq 0 "$status" status
expect_eq "" "$err" "nothing to tell"
run penna report health many.penna -n 0
expect_match "$out" '^stack tree full +0 '
expect_match "$out" '^allocations without stack +0 '
penna export folded many.penna >many.folded
expect_eq 262144 "$(grep -c 'fork_in_the_way' many.folded)" "stacks that are different"
