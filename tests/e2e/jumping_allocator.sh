#!/bin/bash
# SPDX-License-Identifier: MIT
# An allocator in the program, one function of which is too short to be hooked: a jump to another one. It is recorded,
# and calls through that jump are recorded once, with their size.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
for how in -O2 '-O2 -fno-plt' '-O2 -fcf-protection' '-O2 -fvisibility=hidden'; do
  # shellcheck disable=SC2086
  build_c jumping_malloc $how -fno-builtin
  run penna record -f -k alloc -o jumping.penna -- ./jumping_malloc
  expect_eq "0 1" "$status $out" "$how"
  expect_missing "$err" "not recorded"
  penna export csv jumping.penna >jumping.csv
  for size in 1234 2345 640; do expect_eq 1 "$(grep -c ",alloc,.*,$size," jumping.csv || true)" "blocks of $size bytes, $how"; done
  run penna check jumping.penna --max-leak-blocks 1
  expect_eq 1 "$status" "$how: two blocks are left"
  expect_match "$out" '^ *2 +1 +broken +--max-leak-blocks 1$'
done
