#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with gaps between its segments, such as node: the dynamic linker lists it by segment. It is unwound, named,
# hooked and identified by its build-id like any other.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >holes.c <<'C'
#include <stdlib.h>
static void* kept;
__attribute__((noinline)) static int third(void) { return (kept = malloc(12345)) != NULL; }
__attribute__((noinline)) static int second(void) { return third() + 1; }
__attribute__((noinline)) static int first(void) { return second() + 1; }
int main(void) { return first() == 3 ? 0 : 1; }
C
for how in -no-pie "-pie -fPIE"; do
  # shellcheck disable=SC2086
  gcc -O1 -g $how -Wl,-z,max-page-size=0x200000 -Wl,--build-id holes.c -o holes || fail "holes.c does not compile"
  run penna record -q -k alloc -f -o holes.penna -- ./holes
  expect_eq "0" "$status" "$how"
  run penna report leaks holes.penna
  expect_match "$out" "^12\.3 kB .* third \(holes\.c:3\)"
  for frame in "second \(holes\.c:4\)" "first \(holes\.c:5\)" "main \(holes\.c:6\)"; do expect_match "$out" "^ +$frame"; done
  expect_missing "$out$err" "no unwind information"
  run penna record -q -k calls -F second -f -o calls.penna -- ./holes
  expect_eq "0" "$status" "$how"
  penna export csv calls.penna >calls.csv
  expect_eq 1 "$(grep -c ',enter,second,' calls.csv || true)" "calls of second, $how"
  run penna record -q -k alloc --no-names -f -o nameless.penna -- ./holes
  expect_eq "0" "$status" "$how"
  # Another program in its place is recognised as different: only the recorded names are shown.
  echo 'int main(void) { return 0; }' >other.c
  gcc -O1 -g other.c -o holes || fail "other.c does not compile"
  run penna report leaks nameless.penna
  expect_missing "$out" "holes.c:3"
  expect_missing "$out" "other.c"
  run penna report leaks holes.penna
  expect_match "$out" "^12\.3 kB .* third \(holes\.c:3\)"
done
