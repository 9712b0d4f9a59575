#!/bin/bash
# SPDX-License-Identifier: MIT
# Blocks passed between threads, and those freed by exiting threads, handlers, forked children and closed libraries: in
# time order, none is freed before it was allocated, or allocated again before it was freed.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >order.py <<'PYTHON'
import csv, io, subprocess, sys
text = subprocess.run([sys.argv[1], 'export', 'csv', sys.argv[2]], check=True, capture_output=True, text=True).stdout
live, events, before, inherited = {}, 0, 0, 0
first = None
for row in csv.DictReader(io.StringIO(text)):
    time, block = int(row['time_ns']), (row['pid'], row['address'])
    first = first or row['pid']
    assert time >= before, f'times go back: {row}'
    before = time
    if row['kind'] == 'alloc':
        assert block not in live, f'given out twice: {row}'
        live[block] = row
        events += 1
    elif row['kind'] == 'free':
        if block not in live and row['pid'] != first:
            inherited += 1
            continue
        assert block in live, f'freed before it was allocated: {row}'
        del live[block]
print(events, inherited)
PYTHON
build_c pass_blocks
for round in 1 2 3; do
  run penna record -f -o p.penna -k alloc -- ./pass_blocks
  expect_eq 0 "$status" "status"
  expect_contains "$err" "0 lost"
  count=$(python3 order.py "$PENNA" p.penna) || fail "round $round: the order is not that of the program"
  [ "${count% *}" -ge 160000 ] || fail "only $count events"
  run penna report p.penna health -n 0
  expect_match "$out" '^unmatched frees +0 '
  expect_match "$out" '^replaced blocks +0 '
done

gcc -shared -fPIC -O1 -I"$PENNA_SOURCE/include" "$PENNA_SOURCE/tests/torture/programs/plugin.c" -o plugin.so
gcc -O1 -g -I"$PENNA_SOURCE/include" "$PENNA_SOURCE/tests/torture/programs/freed_late.c" -o freed_late -pthread
run penna record -o f.penna -k alloc -- ./freed_late "$PWD/plugin.so"
expect_eq "child 3, left 0" "$out" "freed_late"
count=$(python3 order.py "$PENNA" f.penna) || fail "freed_late: a block was freed that had not been allocated"
expect_eq 2 "${count#* }" "blocks that the child freed and its parent had allocated"
run penna report f.penna health -n 0
expect_match "$out" '^unmatched frees +0 '
penna export csv f.penna >f.csv
for size in 1000 1100 1200 1300 1400 1500 1600; do grep -q ",malloc,0x[0-9a-f]*,$size," f.csv || fail "no block of $size bytes"; done
