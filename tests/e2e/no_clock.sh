#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that denies itself something every record needs continues as without us, and so do its children; events up to
# then are recorded, and the missing rest is reported. One that runs already is not given an agent.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c no_clock
echo 'int main(void) { return 0; }' >still.c
build_c still -static
for what in strict tsc syscall; do
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

start lines.txt ./no_clock loop
await lines.txt '^ok$'
run penna record -f -o no.penna --duration 200ms -p "$pid"
expect_eq 125 "$status" "status of -p"
expect_match "$err" "^penna: process $pid has forbidden itself to read the processor's clock .*: use --via breakpoint$"
run penna record -f -o no.penna --duration 200ms -p "$pid" --via breakpoint -k alloc
expect_eq 0 "$status" "status by breakpoints: $err"
expect_match "$(penna report alloc no.penna)" ' allocate \(no_clock'
kill -0 "$pid" || fail "it has died"
