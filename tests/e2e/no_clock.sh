#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that denies itself something every record needs continues as without us; events up to then are recorded, and
# the missing rest is reported.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c no_clock
for what in strict tsc; do
  ./no_clock $what >/dev/null && fail "the program is broken" || expect_eq 3 $? "status of ./no_clock $what"
  for kinds in alloc alloc,locks,calls; do
    run penna record -q -f -k $kinds -o no.penna -- ./no_clock $what
    expect_eq 3 "$status" "status with $what, $kinds"
    expect_eq ok "$out" "what it printed with $what, $kinds"
    run penna report alloc no.penna
    expect_match "$out" '^1 allocation of 100 kB in all'
    expect_contains "$out" "1 process forbade itself to read the clock (seccomp's strict mode, or PR_SET_TSC)"
  done
done
