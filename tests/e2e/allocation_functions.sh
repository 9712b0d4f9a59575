#!/bin/bash
# SPDX-License-Identifier: MIT
# Every allocation function is recorded once, with its size; every block allocated in main is matched with its free:
# with libc's allocator, and with allocators linked dynamically, statically, or statically with hidden symbols, which
# are hooked in place.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need libjemalloc-dev libgoogle-perftools-dev libmimalloc-dev libc6-dbg

# matched FILE WITHOUT: the recorded events of blocks allocated by main.
cat >matched.py <<'PYTHON'
import csv, io, subprocess, sys
penna, recording, without = sys.argv[1:]
rows = list(csv.DictReader(io.StringIO(subprocess.run([penna, 'export', 'csv', recording], check=True, capture_output=True, text=True).stdout)))
live, mine, last = {}, [], None
for row in rows:
    if row['kind'] == 'alloc':
        assert row['address'] not in live, f'given out twice: {row}'
        live[row['address']] = row
        if ';main' in row['stack'] or row['stack'].startswith('main'):
            mine.append((row['name'], int(row['size'])))
    elif row['kind'] == 'free':
        last = live.pop(row['address'], None)
        assert last is not None, f'freed what was not allocated: {row}'
    elif row['kind'] == 'realloc_failed':
        live[row['address']] = last
due = [('malloc', 1001), ('calloc', 1002), ('realloc', 1003), ('realloc', 1004), ('realloc', 1005), ('aligned_alloc', 1088),
       ('aligned_alloc', 1007), ('aligned_alloc', 1008), ('aligned_alloc', 1009), ('malloc', 1011), ('malloc', 1011)]
due += [('malloc', size) for size in range(1021, 1027)] + [('aligned_alloc', size) for size in range(1152, 1793, 128)]
due += [('malloc', 1900)]
if 'p' not in without:
    due.append(('aligned_alloc', 4096))
if 's' in without:
    due = [one for one in due if one[1] != 1011]
if 'r' in without:
    due.remove(('realloc', 1005))
missing, seen = [], list(mine)
for one in due:
    if one in seen:
        seen.remove(one)
    else:
        missing.append(one)
assert not missing, f'missing: {missing}; there are {mine}'
assert not [one for one in seen if one in due], f'told twice: {seen}'
left = [row for row in live.values() if (row['name'], int(row['size'])) in due]
assert not left, f'never freed: {left}'
PYTHON

# try NAME WITHOUT LINK...
try() {
  local name=$1 without=$2 plain
  shift 2
  g++ -std=c++20 -O1 -g -D_GNU_SOURCE -fno-builtin "$PENNA_SOURCE/tests/programs/allocation_functions.cc" -o "$name" "$@" -pthread ||
    fail "$name does not compile"
  run "./$name" "$without"
  expect_eq 0 "$status" "$name without us"
  plain=$out
  run penna record -o "$name.penna" -k alloc -- "./$name" "$without"
  expect_eq 0 "$status" "$name"
  expect_eq "$plain" "$out" "output of $name"
  expect_missing "$err" "not recorded"
  python3 matched.py "$PENNA" "$name.penna" "$without" || fail "$name: wrong blocks"
}
library=/usr/lib/x86_64-linux-gnu
try libc -
expect_contains "$(penna report libc.penna sizes)" "as glibc's malloc lays blocks out"
try jemalloc p -Wl,--no-as-needed -ljemalloc
try tcmalloc p -Wl,--no-as-needed -ltcmalloc_minimal
# Blocks that it keeps for itself are not reported, and its block layout is unknown.
expect_missing "$(penna report tcmalloc.penna leaks --frames 0)" "TCMallocGuard"
expect_match "$(penna report tcmalloc.penna leaks --frames 0 --no-suppressions)" "TCMallocGuard|libstdc\+\+"  # by version
expect_contains "$(penna report tcmalloc.penna sizes)" "; what libtcmalloc_minimal.so.4"
expect_missing "$(penna report tcmalloc.penna sizes)" "WASTE"
try mimalloc pt -Wl,--no-as-needed -lmimalloc
try jemalloc_inside p $library/libjemalloc.a
try tcmalloc_inside p -Wl,--whole-archive $library/libtcmalloc_minimal.a -Wl,--no-whole-archive
# Only the program itself calls this one: its symbols are hidden. libc keeps its own.
try jemalloc_hidden psr -Wl,--exclude-libs,ALL $library/libjemalloc.a

# An allocator that cannot be hooked: reported in one sentence, and nothing is changed.
cat >own.c <<'C'
#include <stddef.h>
#include <stdio.h>
static char heap[1 << 20];
static size_t used;
__attribute__((naked)) void* malloc(size_t size) { __asm__("jmp *target(%rip)"); (void)size; }
void* own(size_t size) { return heap + (used += (size + 31) & ~(size_t)15) - ((size + 31) & ~(size_t)15); }
void* (*target)(size_t) = own;
void free(void* block) { (void)block; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* block, size_t size) { (void)block; return malloc(size); }
int main(void) { return puts(malloc(100) ? "own" : "none") < 0; }
C
build_c own -fno-builtin
run penna record -o own.penna -k alloc -- ./own
expect_eq 0 "$status" "own"
expect_eq own "$out" "own"
expect_contains "$err" "blocks of the allocator that is part of own are not recorded: its malloc jumps through a pointer in its first instructions"
run penna report own.penna health
expect_contains "$out" "blocks of the allocator that is part of own are not recorded"
