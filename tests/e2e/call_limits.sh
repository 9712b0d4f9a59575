#!/bin/bash
# SPDX-License-Identifier: MIT
# More pairs of caller and function than there are return trampolines: what has none is lost, counted and said with its cause, and
# nothing else happens.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >many.c <<'PROGRAM'
#include <stdio.h>
__attribute__((no_instrument_function)) void many(void);
volatile long calls;
__attribute__((noipa)) void leaf(void) { calls = calls + 1; }
/* Each call is a caller of its own. */
__asm__(".text\n.globl many\nmany: sub $8, %rsp\n.rept 140000\ncall leaf\n.endr\nadd $8, %rsp\nret\n");
int main(void) {
  many();
  many();
  printf("%ld\n", calls);
}
PROGRAM
build_c many -O2 -pg -mfentry -no-pie
run penna record -k calls -o many.penna -- ./many
expect_eq "0 280000" "$status $out" "what the program does"
count() { penna report calls many.penna --format csv | awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "calls") at = i } $0 ~ name { print $at }'; }
health() { penna report health "$1" --format csv | awk -F, -v name="$2" '$1 == name { print $2 }'; }
events=$(health many.penna 'lost calls')
expect_eq "$events" "$(health many.penna 'lost for pairs')" "the cause of each loss"
lost=$((events / 2))  # entry and exit
expect_eq 280000 "$(($(count '"?leaf') + lost))" "recorded and lost together"
[ "$lost" -gt 30000 ] && [ "$lost" -lt 60000 ] || fail "$lost calls lost"
expect_contains "$err" LOST
why="$(sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<$lost) calls, as more pairs of caller and function were met than can be followed"
expect_contains "$err" "penna: lost: $why: choose fewer functions"
expect_missing "$err" 'the pool'
for view in 'report health' info; do
  run penna $view many.penna
  expect_contains "$out" "Lost: $why"
  expect_missing "$out" --on-full
done
for counter in 'stray exits' 'unwound calls'; do
  expect_eq 0 "$(health many.penna "$counter")" "$counter"
done
