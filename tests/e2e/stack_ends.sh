#!/bin/bash
# SPDX-License-Identifier: MIT
# Two stacks with the same frames, one complete and one that could not be unwound further: each shows how it ends. Their
# nodes in the stack tree differ in nothing else.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >ends.c <<'PROGRAM'
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// Allocates as a function whose return address is `outer`: 0 ends a stack, a garbage address tears it.
__attribute__((noipa, optimize("no-omit-frame-pointer"))) static void* allocate(size_t size, uintptr_t outer) {
  volatile uintptr_t* slot = (uintptr_t*)__builtin_frame_address(0) + 1;
  const uintptr_t real = *slot;
  *slot = outer;
  void* block = malloc(size);
  *slot = real;
  return block;
}
int main(int argc, char** argv) {
  (void)argc;
  const int torn_first = strcmp(argv[1], "torn") == 0;
  volatile int i;  // one call site: the same pc
  for (i = 0; i < 2; i++) {
    const int torn = (i == 0) == torn_first;
    allocate(torn ? 20000 : 10000, torn ? ~(uintptr_t)0 : 0);
  }
  return 0;
}
PROGRAM
build_c ends -fcf-protection=none
for first in complete torn; do
  # Nothing else may allocate before: only the first two nodes without a parent are sure to collide in the tree's hash
  # table.
  run penna record -f -k alloc -o ends.penna -- ./ends $first
  expect_eq 0 "$status" "status, $first first"
  run penna report ends.penna alloc -n 0
  expect_eq "20.0 kB allocate (the stack could not be read further out)
10.0 kB allocate" "$(awk '/ allocate / { if (row) print row; row = $1 " " $2 " allocate" } /^ +\(/ { sub(/^ +/, ""); row = row " " $0 } END { print row }' \
    <<<"$out" | sed -E 's/kB [0-9]+/kB/')" "stacks, $first first"
  expect_contains "$out" "1 stack ends short"
done
