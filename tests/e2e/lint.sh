#!/bin/bash
# SPDX-License-Identifier: MIT
# penna lint: finds traps in any SDT notes, explains what they break and how to fix it, and reports them in its exit
# status.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >trapped.S <<'ASSEMBLY'
#include "sdt_note.inc"
.text
.globl main
main:
PROBE good, 0, "-4@%edi"
PROBE half, 0, "-4@%edi 8f@%xmm0"
PROBE far, 0, "8@value(%rip)"
xorl %eax, %eax
ret
BASE
.data
value: .8byte 1
.section .note.GNU-stack,"",@progbits
ASSEMBLY
gcc -g -no-pie -I"$PENNA_SOURCE/tests/programs" trapped.S -o trapped

run penna lint ./trapped
expect_eq 1 "$status" "status when something is found"
expect_match "$out" '^2 findings in 3 notes of ./trapped\.$'
expect_match "$out" '^float-marker +trap:half +argument 2: 8f@%xmm0 +.*trapped.S:6$'
expect_match "$out" '^symbol-operand +trap:far +argument 1: 8@value\(%rip\) +.*trapped.S:7$'
expect_match "$out" '^  gdb: loses that argument and all that follow\.$'
expect_match "$out" '^  Fix: Pass the bits of the float as an integer'
expect_missing "$out" "trap:good"

status=0
penna lint --json ./trapped >found.json || status=$?
expect_eq 1 "$status" "status with --json"
/usr/bin/python3 - <<'PYTHON' || fail "wrong JSON"
import json
found = json.load(open('found.json'))['findings']
assert [(f['trap'], f['point']) for f in found] == [('float-marker', 'trap:half'), ('symbol-operand', 'trap:far')], found
assert all(f['file'] == './trapped' and f['breaks']['gdb'] and f['fix'] and int(f['address'], 16) for f in found), found
PYTHON

# Our points have no traps, however they are built; nor do the notes of the C++ library.
cat >app.cc <<'PROGRAM'
#include <string>
#include "penna/point.h"
template <typename T> void note(T value) { PENNA_EVENT(app, note, value, sizeof value); }
int main(int argc, char** argv) {
  note(1.5f), note('c'), note(argv[0]), note(std::string("x")), note(argc);
  PENNA_EVENT(app, twelve, argc, 1, 2u, 3l, 4ul, true, 'c', 1.5, argv, "s", argv[0], &argc);
}
PROGRAM
for compiler in g++ clang++; do
  for options in -O0 -O2 '-O2 -fno-pie -no-pie' '-O2 -static' '-O2 -shared -fPIC' '-O2 -Wl,--gc-sections -ffunction-sections' \
                 '-O2 -DPENNA_POINT_NOP10'; do
    # shellcheck disable=SC2086
    $compiler -std=c++20 $options -I"$PENNA_SOURCE/include" app.cc -o app
    run penna lint ./app
    expect_eq 0 "$status" "status for $compiler $options: $out"
    expect_match "$out" '^No trap in [0-9]+ notes of ./app\.$'
  done
done
library=$(ldd trapped | sed -nE 's/.* => ([^ ]*libc\.so\.6).*/\1/p')
run penna lint "$(gcc -print-file-name=libstdc++.so.6)" "$library"
expect_eq 0 "$status" "status for libraries"
run penna lint ./app ./trapped
expect_match "$out" '^float-marker .* \./trapped$'

for wrong in /etc/passwd ./nothing-here; do
  run penna lint "$wrong"
  expect_eq 125 "$status" "status for $wrong"
done
