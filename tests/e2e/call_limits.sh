#!/bin/bash
# SPDX-License-Identifier: MIT
# More pairs of caller and function than return trampolines: calls without one are lost, counted and reported with the
# cause, and nothing else happens. And pairs close together: none is lost while there are trampolines.
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
why="$(sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<$lost) calls, as there were more caller/function pairs than can be tracked"
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

# Each of 100 functions is called from each of 100 places, and all of them are neighbours.
cat >close.c <<'PROGRAM'
#include <stdio.h>
volatile long calls;
#define TEN(m, x) m(x##0) m(x##1) m(x##2) m(x##3) m(x##4) m(x##5) m(x##6) m(x##7) m(x##8) m(x##9)
#define HUNDRED(m) TEN(m, 1) TEN(m, 2) TEN(m, 3) TEN(m, 4) TEN(m, 5) TEN(m, 6) TEN(m, 7) TEN(m, 8) TEN(m, 9) TEN(m, 10)
#define LEAF(x) __attribute__((noipa)) void leaf_##x(void) { calls = calls + 1; }
#define NAME(x) leaf_##x,
#define PLACE(x) for (int i = 0; i < 100; ++i) { leaves[i](); __asm__ volatile(""); }
HUNDRED(LEAF)
void (*volatile leaves[])(void) = {HUNDRED(NAME)};
int main(void) {
  HUNDRED(PLACE)
  printf("%ld\n", calls);
}
PROGRAM
build_c close -O2 -pg -mfentry -no-pie
run penna record -k calls -o close.penna -- ./close
expect_eq "0 10000" "$status $out" "what the program does"
expect_contains "$err" '; 0 lost'
expect_contains "$err" '10,001 calls'
