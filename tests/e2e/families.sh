#!/bin/bash
# SPDX-License-Identifier: MIT
# Reports of mappings and pools as families of their own, of the freeing functions, and of unmatched frees; the same
# numbers as in CSV.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Mappings: 3 + 3 + 4 pages remain after cutting, mapping over, moving and unmapping.
build_c mappings
run penna record -q -k alloc -o m.penna -- ./mappings
expect_eq 0 "$status" "status of ./mappings"
run penna report m.penna
expect_contains "$out" "Not in these numbers: 5 mappings; --family shows them: maps."
run penna report leaks m.penna --family maps
expect_match "$out" '^41.0 kB in 3 mappings not unmapped at the end, of 152 kB in 5 mappings of the family maps$'
expect_match "$out" '^ *24.6 kB +2 +12.3 kB +main \(mappings.c:7\)'
for table in alloc leaks temp peak lifetimes sizes heap; do
  penna report $table m.penna --family maps --json >$table.json || fail "report $table --family maps"
done
penna export csv m.penna >m.csv
for weight in alloc-bytes allocs live peak; do penna export folded m.penna --family maps --weight $weight -o $weight.folded; done
/usr/bin/python3 - <<'CHECK' || fail "the tables of mappings contradict each other or the events"
import csv, json
rows = [r for r in csv.DictReader(open('m.csv')) if r['kind'] in ('map', 'unmap')]
page, live, peak, total = 4096, set(), 0, 0
for row in rows:
    first = int(row['address'], 16) // page
    part = set(range(first, first + int(row['size']) // page))
    live = live | part if row['kind'] == 'map' else live - part
    total += int(row['size']) if row['kind'] == 'map' else 0
    peak = max(peak, len(live))
def table(name): return json.load(open(name + '.json'))[name]
alloc = table('alloc')
assert sum(r['bytes'] for r in alloc) == total and sum(r['count'] for r in alloc) == 5, alloc
assert sum(r['live_bytes'] for r in alloc) == len(live) * page == sum(r['leaked_bytes'] for r in table('leaks'))
assert sum(r['peak_bytes'] for r in alloc) == peak * page == max(r['max_bytes'] for r in table('heap'))
assert sum(r['live_blocks'] for r in alloc) == 3 == sum(r['live_blocks'] for r in table('sizes'))
assert sum(r['freed'] for r in table('lifetimes')) == 3, table('lifetimes')
def folded(name): return sum(int(line.rsplit(' ', 1)[1]) for line in open(name + '.folded'))
assert folded('alloc-bytes') == total and folded('live') == len(live) * page and folded('peak') == peak * page
CHECK
run penna report alloc m.penna --family maps --by kind
expect_match "$out" '^ *143 kB +4 .* anonymous$'
expect_match "$out" 'data segment$'
run penna report alloc m.penna --family maps:file
expect_contains "$out" "The filters leave out all 5 mappings of the family maps:file."
run penna check m.penna --family maps --max-leak 40960 --max-peak 115k
expect_eq 0 "$status" "limits on mappings that are kept"
expect_contains "$out" "3 limits kept; mappings are those of the family maps."
expect_match "$out" 'ok +--max-peak 115k --family maps$'
run penna check m.penna --family maps --max-leak 40959
expect_eq 1 "$status" "a limit on mappings that is broken"
expect_contains "$out" "main (mappings.c:7)"
expect_contains "$out" "1 of 2 limits broken; mappings are those of the family maps."
expect_contains "$out" "--max-leak 40959 --family maps: 41.0 kB found"
run penna diff --leaks m.penna m.penna --family maps
expect_contains "$out" "41.0 kB in 3 blocks not freed"

# Python's arenas are mappings; its heap is not counted as such.
run penna record -q -k alloc -o python.penna -- /usr/bin/python3 -c 'kept = [str(i) * 20 for i in range(50000)]'
expect_eq 0 "$status" "status of python3"
run penna report peak python.penna --family maps --by kind
expect_match "$out" 'anonymous$'
penna report alloc python.penna --family maps --json >arenas.json
penna export csv python.penna >python.csv
/usr/bin/python3 - <<'CHECK' || fail "the arenas of python3"
import csv, json
rows = [r for r in csv.DictReader(open('python.csv')) if r['kind'] == 'map']
alloc = json.load(open('arenas.json'))['alloc']
assert sum(r['count'] for r in alloc) == len(rows) > 3
assert sum(r['bytes'] for r in alloc) == sum(int(r['size']) for r in rows) > 3 << 20
CHECK

# sqlite3 with a memory-mapped file.
/usr/bin/sqlite3 data.db 'create table t(x); with recursive c(i) as (select 1 union all select i+1 from c where i < 20000) insert into t select hex(i) from c'
run penna record -q -k alloc -o sqlite.penna -- /usr/bin/sqlite3 data.db 'pragma mmap_size=1000000; select count(*) from t'
expect_contains "$out" "20000"
run penna report alloc sqlite.penna --family maps:file
expect_match "$out" '^[0-9]+ mappings? of .* of the family maps:file'

# Pools, with the stacks of frees.
build_pool() { gcc -O1 -g -I"$PENNA_SOURCE/include" "$1" -o "$2" || fail "$1 does not compile"; }
build_pool "$PENNA_SOURCE/examples/pools.c" pools
run penna record -q -k alloc --free-stacks -o p.penna -- ./pools
expect_eq 0 "$status" "status of ./pools"
run penna report p.penna
expect_contains "$out" "4 allocations in 2 pools; --family shows them: pool:requests, pool:texts."
run penna report leaks p.penna --family pool:texts
expect_match "$out" '^10 B in 1 block not freed at the end, of 16 B in 2 allocations of the family pool:texts$'
expect_contains "$out" "copy_text (pools.c:28)"
run penna report alloc p.penna --family pool:requests --by freer
expect_match "$out" '^1 block of 16 B of the family pool:requests freed$'
expect_contains "$out" "give_back (pools.c:43)"
run penna report lifetimes p.penna --family pool:texts --by freer
expect_match "$out" 'give_back +copy_text \(pools.c:28\)'
run penna check p.penna --family pool:texts --max-leak 9
expect_eq 1 "$status" "a limit on a pool"
for wrong in pool:text maps:files nothing; do
  run penna report alloc p.penna --family $wrong
  expect_eq 125 "$status" "status with the family $wrong"
  expect_match "$err" "^penna report: there is no --family '$wrong'.*: choose from heap, maps, maps:file, maps:anonymous, pool:requests, pool:texts$"
done
run penna check p.penna --family pool:text --max-leak 9
expect_eq 2 "$status" "check with a family that there is not"

# Following docs/allocations.md.
run penna record -q -k alloc --free-stacks -o pools.penna -- ./pools
expect_eq 0 "$status" "status of the example in docs/allocations.md"
run penna report leaks pools.penna --family pool:texts
expect_contains "$out" "10 B in 1 block not freed at the end"

# Unmatched frees.
build_pool "$PENNA_SOURCE/tests/programs/double_free.c" double_free
run penna record -q -k alloc --free-stacks -o twice.penna -- ./double_free
expect_eq done "$out" "double_free"
run penna report alloc twice.penna --family pool:slots --unmatched
expect_match "$out" '^2 frees of the family pool:slots of blocks that were not recorded as there; 1 block was freed twice$'
expect_match "$out" '^ +1 +freed twice +0x[0-9a-f]+ .* give_back +give_back_again \(double_free.c:[0-9]+\)'
expect_match "$out" '^ +1 +not allocated +0x[0-9a-f]+ .* give_back \(double_free.c:[0-9]+\)'
run penna report alloc twice.penna --family pool:slots
expect_contains "$out" "2 frees of blocks whose allocation was not recorded (--unmatched)"
# An invalid free() of malloc's, too: glibc ends the program, and the free is recorded.
cat >crash.c <<'PROGRAM'
#include <stdlib.h>
int main(void) {
  char *volatile block = malloc(24);
  free(block);
  free(block);
}
PROGRAM
build_c crash -fno-builtin -w
run penna record -q -k alloc --free-stacks -o crash.penna -- ./crash
expect_eq 134 "$status" "status of ./crash"
run penna report alloc crash.penna --unmatched
expect_match "$out" '1 block was freed twice$'
expect_match "$out" 'main \(crash.c:5\)'
run penna record -q -f -k alloc -o crash.penna -- ./crash
run penna report alloc crash.penna --unmatched
expect_contains "$out" "penna record --free-stacks records them"
