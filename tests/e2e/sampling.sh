#!/bin/bash
# SPDX-License-Identifier: MIT
# --sample-bytes: few events; their weights add up to the truth; frees are those of sampled blocks. --free-stacks: where
# blocks are freed.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c sampled
run penna record -o s.penna -k alloc --sample-bytes=64k -- ./sampled
expect_eq 0 "$status" "status"
expect_eq done "$out" "output"
penna export csv s.penna >s.csv
python3 - <<'PYTHON' || fail "wrong estimates"
import csv, math
MEAN = 65536
weight = lambda size: size / -math.expm1(-size / MEAN)
made, left, live, samples = {}, {}, {}, {}
for row in csv.DictReader(open('s.csv')):
    if row['kind'] == 'alloc':
        where = next((f for f in row['stack'].replace('(', ';').split(';') if f.endswith('_blocks')), '')
        made[where] = made.get(where, 0) + weight(int(row['size']))
        samples[where] = samples.get(where, 0) + 1
        live[row['address']] = where, weight(int(row['size']))
    elif row['kind'] == 'free':
        assert row['address'] in live, f'freed what is not sampled: {row}'
        del live[row['address']]
for where, bytes in live.values():
    left[where] = left.get(where, 0) + bytes
for where, truth in ('small_blocks', 48e6), ('medium_blocks', 80e6), ('large_blocks', 100e6):
    error = 5 / math.sqrt(samples[where])
    assert abs(made[where] / truth - 1) < error, (where, made[where], truth, samples[where])
    assert abs(left[where] / (truth / 2) - 1) < 2 * error, (where, left[where], truth / 2, samples[where])
assert sum(samples.values()) < 10000, samples
assert samples['large_blocks'] > 190, samples
PYTHON
# The report shows the same sums as above, by function.
run penna report s.penna alloc
expect_match "$out" '^estimated from a sample of [0-9,]+ allocations: in 19 cases of 20, sums of bytes are right to [0-9.]+ %'
penna report s.penna alloc --by function --format csv -n 0 >by.csv
python3 - <<'PYTHON' || fail "wrong estimates in the report"
import csv
rows = {row['function'].split('(')[0]: row for row in csv.DictReader(open('by.csv'))}
for function, made in ('small_blocks', 48e6), ('medium_blocks', 80e6), ('large_blocks', 100e6):
    row = rows[function]
    assert abs(float(row['total_bytes']) / made - 1) < 0.25, (function, row)
    assert abs(float(row['total_live_bytes']) / (made / 2) - 1) < 0.4, (function, row)
PYTHON
run penna report s.penna sizes
expect_match "$out" '^from the sample only: [0-9,]+ allocations recorded'
# All numbers of a table are of the sample, or all are estimates; numbers that a sample cannot give are omitted.
run penna report s.penna lifetimes --json
expect_eq True "$(/usr/bin/python3 -c 'import json, sys
rows = json.load(sys.stdin)["lifetimes"]
print(bool(rows) and all(row["count"] == row["freed"] + row["live_blocks"] for row in rows))' <<<"$out")" "allocated = freed + live"
expect_missing "$(penna report s.penna alloc)" "temporary"
expect_contains "$(penna report s.penna temp)" "cannot tell which allocations are temporary"
run penna export folded s.penna --weight temp
expect_eq 125 "$status" "folded by temporary allocations"
run penna export heaptrack s.penna -o s.heaptrack
expect_contains "$err" "a sample was recorded: what is written is that alone"
expect_match "$(heaptrack_print s.heaptrack)" '^temporary memory allocations: 0 '
run penna report s.penna health -n 0
expect_match "$out" '^unmatched frees +0 '
expect_contains "$out" "Only a sample of the allocations was recorded, one in 65,536 bytes"
run penna info s.penna
expect_contains "$out" "sample-bytes=65536"
for wrong in 0 1 -4 k 12q 9999g; do
  run penna record --sample-bytes="$wrong" -- true
  expect_eq 125 "$status" "--sample-bytes=$wrong"
  expect_contains "$err" "such as 512k"
done
run penna record -k calls --sample-bytes=512k -- true
expect_contains "$err" "add alloc to -k"

# Blocks of 0 bytes count as 1 byte.
cat >zero.c <<'C'
#include <stdlib.h>
int main(void) { for (int i = 0; i < 2000000; ++i) { void *volatile block = malloc(0); free(block); } return 0; }
C
build_c zero
penna record -q -o zero.penna -k alloc --sample-bytes=1k -- ./zero
estimate=$(penna report zero.penna alloc --by function --json | python3 -c 'import json, sys
print(sum(row["self_count"] if "self_count" in row else row["count"] for row in json.load(sys.stdin)["alloc"] if row["function"].startswith("main")))')
((estimate > 1700000 && estimate < 2300000)) || fail "of 2000000 blocks of 0 bytes, the sample stands for $estimate"

cat >frees.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) void take_back(void* block) { free(block); __asm__ volatile(""); }
__attribute__((noinline)) void* grow(void* block) { block = realloc(block, 2000); __asm__ volatile(""); return block; }
int main(void) { take_back(grow(malloc(1000))); return 0; }
C
build_c frees -fno-builtin
run penna record -o f.penna -k alloc --free-stacks -- ./frees
expect_eq 0 "$status" "frees"
penna export csv f.penna >f.csv
expect_match "$(grep ',free,' f.csv)" 'realloc,0x[0-9a-f]*,.*main;grow'
expect_match "$(grep ',free,' f.csv)" 'free,0x[0-9a-f]*,.*main;take_back'
run penna report f.penna health -n 0
expect_match "$out" '^unmatched frees +0 '
run penna report f.penna leaks --format json
expect_missing "$out" "grow"
run penna record -f -o f.penna -k alloc -- ./frees
penna export csv f.penna >f.csv
expect_missing "$(grep ',free,' f.csv)" "take_back"
