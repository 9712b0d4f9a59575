#!/bin/bash
# SPDX-License-Identifier: MIT
# Under an address space limit (ulimit -v), a recorded program has almost as much of it as without Penna, and is still
# recorded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c grab

# expect_nearly_all KILOBYTES THREADS: except a thirty-second part, and the agent itself.
expect_nearly_all() {
  run bash -c "ulimit -v $1; exec ./grab $2"
  local alone=$out
  run penna record -q -f -k alloc -o grab.penna -- bash -c "ulimit -v $1; exec ./grab $2"
  expect_eq 0 "$status" "status with $1 kB"
  [ $((alone - out)) -le $(($1 / 1024 / 32 + 16)) ] || fail "with $1 kB it used $out MB, unrecorded $alone MB"
  run penna report health grab.penna
  expect_contains "$out" 'nothing lost'
}
for kilobytes in 60000 100000 300000 500000 1000000 4000000; do expect_nearly_all $kilobytes 0; done
MALLOC_ARENA_MAX=1 expect_nearly_all 900000 64  # or each thread may have a large arena of its own
run penna report alloc grab.penna --by function --stack work
expect_match "$out" ' 64,000 .*work \(grab.c\)'

# A program that sets its own limit after the agent has allocated what it takes without one.
for kilobytes in 100000 500000 2000000; do
  run ./grab 0 $kilobytes
  alone=$out
  run penna record -q -f -k alloc -o grab.penna -- ./grab 0 $kilobytes
  expect_eq "0 $kilobytes" "$status $(head -n 1 <<<"$out")" "what it starts has its limit"
  lost=$(($(tail -n 1 <<<"$alone") - $(tail -n 1 <<<"$out")))
  [ "${lost#-}" -le 16 ] || fail "with $kilobytes kB of its own it used $out MB, unrecorded $alone MB"
done

# Penna itself says so in a sentence.
penna record -q -f -k alloc -o grab.penna -- bash -c 'ulimit -v 4000000; exec ./grab 64' >/dev/null
for kilobytes in 60000 80000 100000 200000; do
  for what in 'export html -o page.html' 'export heaptrack -o grab.heaptrack' 'view --no-open'; do
    # shellcheck disable=SC2086
    run timeout 3 bash -c "ulimit -v $kilobytes; exec \"\$@\"" limited "$PENNA" $what -i grab.penna
    [ "$status" -le 125 ] || fail "$what with $kilobytes kB ended with status $status"
    expect_missing "$err" "terminate called"
  done
done
