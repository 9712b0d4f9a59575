#!/bin/bash
# SPDX-License-Identifier: MIT
# A program whose sandbox kills it for a system call of ours: we make none that it may have forbidden.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c no_prctl
for by in prctl syscall; do
  for kinds in alloc alloc,locks,calls; do
    run penna record -q -f -k $kinds -o no.penna -- ./no_prctl $by
    expect_eq 0 "$status" "status with $by, $kinds"
    expect_eq 5 "$out" "what it printed with $by, $kinds"
    run penna report alloc no.penna
    expect_eq 2 "$(grep -cE '^ *200 kB +20,000 .* work \(no_prctl.c:[0-9]+\)' <<<"$out")" "stacks of work()"
    run penna report health no.penna
    expect_match "$out" 'nothing lost'
  done
done
