#!/bin/bash
# SPDX-License-Identifier: MIT
# The same thing in several processes is one row of a report, regardless of load addresses, and the sums are still
# right.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c crew
run penna record -q -k alloc --free-stacks -o crew.penna -- ./crew
expect_eq 0 "$status" "status of ./crew"

# The single row of FUNCTION as "COLUMN=VALUE ...".
row() { # TABLE FUNCTION COLUMNS [OPTION...]
  penna report "$1" crew.penna --json -n 0 "${@:4}" | /usr/bin/python3 -c '
import json, sys
tables = [t for t in json.load(sys.stdin).values() if t and isinstance(t, list) and isinstance(t[0], dict)]
rows = [r for r in tables[0] if r.get("function") == sys.argv[1]]
assert len(rows) == 1, f"{len(rows)} rows of {sys.argv[1]}"
print(*(f"{c}={rows[0][c]}" for c in sys.argv[2].split()))' "$2" "$3" || fail "report $*: wrong output"
}
columns="count bytes live_bytes peak_bytes processes pid"
expect_eq "count=3 bytes=900000 live_bytes=900000 peak_bytes=0 processes=3 pid=None" "$(row alloc work "$columns" --size 10000..)"
expect_eq "count=2 bytes=400000 live_bytes=400000 peak_bytes=400000 processes=2 pid=None" "$(row alloc both "$columns")"
expect_match "$(row alloc keep "$columns")" '^count=1 bytes=10000 live_bytes=10000 peak_bytes=10000 processes=1 pid=[0-9]+$'
# OWN PEAK uses a single clock, too: two of three processes that ran one after the other never overlapped.
expect_eq "peak_bytes=0 own_peak_bytes=300000" "$(row peak work "peak_bytes own_peak_bytes" --size 10000..)"
expect_eq "peak_bytes=400000 own_peak_bytes=400000" "$(row peak both "peak_bytes own_peak_bytes")"
expect_eq "leaked_bytes=900000 blocks=3 processes=3 pid=None" "$(row leaks work "leaked_bytes blocks processes pid")"
expect_eq "count=3 freed=3 live_blocks=0 processes=3" "$(row lifetimes work "count freed live_blocks processes" --size 64)"
expect_eq "temp=3 count=3 processes=3" "$(row temp work "temp count processes" --size 64 --within 2)"
expect_eq "freed=3 processes=3 pid=None" "$(row alloc work "freed processes pid" --size 64 --by freer)"
expect_eq "freed=3 processes=3 freed_by_tid=None freed_in=work" \
  "$(row lifetimes work "freed processes freed_by_tid freed_in" --size 64 --by freer)"
expect_eq "self_bytes=900000" "$(row alloc work "self_bytes" --size 300000 --by function)"

run penna report peak crew.penna --size 10000..
expect_match "$out" '^410 kB in 3 blocks at the peak of all processes together after '
expect_match "$out" '^the most that one process held: 300 kB in 1 block, by crew \([0-9]+\) after .* \(--by process\)'
run penna report peak crew.penna --size 10000.. --by process
expect_match "$out" '^10.0 kB +1 +10.0 kB +10.0 kB +1 +[0-9]+ +crew$'
expect_eq 2 "$(grep -cE '^ +200 kB +1 +200 kB +200 kB +1 +[0-9]+ +crew$' <<<"$out")" "processes of both()"
expect_eq 3 "$(grep -cE '^ +0 B +0 +300 kB +300 kB +1 +[0-9]+ +crew$' <<<"$out")" "processes of work()"

# One of them alone.
pid=$(awk '$NF == "crew" && $1 == 0 {print $(NF - 1); exit}' <<<"$out")
run penna report peak crew.penna --size 10000.. --pid "$pid"
expect_match "$out" '^300 kB in 1 block at the peak after '
expect_match "$out" '^300 kB +1 +300 kB +300 kB +1 +work '
expect_missing "$out" "PROCS"
run penna check crew.penna --max-leak 300000 --pid "$pid"
expect_eq 0 "$status" "status of check --pid"
run penna report peak crew.penna --pid 4194305
expect_eq 125 "$status" "status with a process that is not there"
expect_contains "$err" "no process 4194305 is recorded: 'penna info' shows those that are"

# A process's blocks end with it, over time as well.
run penna report heap crew.penna --size 10000.. --ascii
expect_match "$out" '^410 kB in 3 blocks at the peak of all processes together after '
expect_match "$(penna report flame crew.penna --weight peak --size 10000.. --ascii)" '^\[all 410 kB live at the peak'
# A limit applies per process, and its violations are one row, too.
run penna check crew.penna --max-peak 250000 --max-leak 0 --size 10000..
expect_eq 1 "$status" "status of check"
expect_match "$out" '^ *300 kB +250 kB +broken +--max-peak'
expect_match "$out" '^ *900 kB +work'
