#!/bin/bash
# SPDX-License-Identifier: MIT
# gdb on a program whose functions are recorded through detours: backtraces reach main, trampolines can be excluded from
# them, and stepping leaves them at once.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >steps.c <<'C'
#include <stdio.h>
__attribute__((noinline)) int twice(int n) { return n * 2; }
__attribute__((noinline)) int compute(int n) {
  int twofold = twice(n) + 1;
  return twofold;
}
int main(void) {
  printf("%d\n", compute(20));
  return 0;
}
C
build_c steps -O0
cat >commands <<GDB
set debuginfod enabled off
break twice
run
bt
echo hidden\n
source $PENNA_SOURCE/examples/gdb/hide_trampolines.py
bt
echo steps\n
next
next
print n
GDB
run gdb -nx -q -batch -x commands ./steps
alone=$out
run penna record -k calls -F '*e' -o steps.penna -- gdb -nx -q -batch -x commands ./steps
expect_eq 0 "$status"
bare=$(sed -n '/^Breakpoint 1, /,/^hidden$/p' <<<"$out") hidden=$(sed -n '/^hidden$/,/^steps$/p' <<<"$out")
expect_eq 2 "$(grep -c ' in penna_return_trampolines ' <<<"$bare")" "trampolines"
expect_match "$bare" '^#4 .* in main \(\) at steps.c:8'
frames() { sed -n '/^hidden$/,/^steps$/s/^#[0-9]* *//p' <<<"$1"; }
expect_eq "$(frames "$alone")" "$(frames "$out")" "frames without trampolines"
expect_missing "$hidden" penna_return
# Out of twice(): one step through code without lines, and on in its caller: gdb 13 stops at the line of the call, gdb
# 16 at the next one.
steps=$(sed -n '/^steps$/,$p' <<<"$out")
expect_match "$steps" '^compute \(n=20\) at steps.c:[45]'
expect_missing "$steps" penna_call_return
expect_eq 1 "$(grep -c '^Single stepping until exit' <<<"$steps")" "steps through the way back"
expect_missing "$out" calls_x86_64.S
expect_contains "$out" '$1 = 20'
expect_contains "$(penna report calls steps.penna -n 0 2>&1)" twice
