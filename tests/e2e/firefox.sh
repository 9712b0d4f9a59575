#!/bin/bash
# SPDX-License-Identifier: MIT
# penna export firefox: every index in the profile is valid, its sums match the reports, and the Firefox Profiler itself
# reads it (its command line, from npm).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >shop.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "penna/point.h"
static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_held;
__attribute__((noinline)) void *reserve(int bytes) { return malloc(bytes); }
__attribute__((noinline)) void audit(void) {
  pthread_mutex_lock(&till);
  is_held = 1;
  usleep(30000);
  pthread_mutex_unlock(&till);
}
__attribute__((noinline)) void pay(int order) {
  pthread_mutex_lock(&till);
  PENNA_EVENT(shop, paid, order);
  pthread_mutex_unlock(&till);
}
static void *clerk(void *arg) { audit(); return arg; }
int main(void) {
  pthread_t other;
  void *kept[10];
  for (int i = 0; i < 10; i++) kept[i] = reserve(1000);
  pthread_create(&other, 0, clerk, 0);
  while (!is_held) usleep(1000);
  for (int i = 0; i < 5; i++) pay(i);
  pthread_join(other, 0);
  for (int i = 0; i < 6; i++) free(kept[i]);
}
C
build_c shop -finstrument-functions
penna record -q -o shop.penna -- ./shop
run penna export firefox shop.penna -o shop.json
expect_eq 0 "$status" "export"
penna export firefox shop.penna --aggregate -o sums.json
penna export folded shop.penna -o sums.folded
penna report calls shop.penna --format csv >calls.csv
penna report leaks shop.penna --json >leaks.json
penna report locks shop.penna --json >locks.json
/usr/bin/python3 - <<'PYTHON' || fail "the profile is malformed, or its sums differ"
import csv, json
profile, sums = json.load(open('shop.json')), json.load(open('sums.json'))

def check(profile):
    schemas = {one['name'] for one in profile['meta']['markerSchema']}
    for thread in profile['threads']:
        tables = {name: table for name, table in thread.items() if isinstance(table, dict)}
        for name, table in tables.items():
            for column, values in table.items():
                if isinstance(values, list): assert len(values) == table['length'], (name, column)
        size = {name: table['length'] for name, table in tables.items()} | {'strings': len(thread['stringArray']), 'libs': len(profile['libs'])}
        def within(table, column, other):
            for value in tables[table][column]:
                assert value is None or 0 <= value < size[other], (table, column, value)
        within('samples', 'stack', 'stackTable')
        within('stackTable', 'frame', 'frameTable')
        within('frameTable', 'func', 'funcTable')
        within('funcTable', 'name', 'strings')
        within('funcTable', 'fileName', 'strings')
        within('resourceTable', 'name', 'strings')
        within('resourceTable', 'lib', 'libs')
        within('markers', 'name', 'strings')
        for own, prefix in enumerate(tables['stackTable']['prefix']): assert prefix is None or prefix < own
        assert all(-1 <= value < size['resourceTable'] for value in tables['funcTable']['resource'])
        assert tables['samples']['time'] == sorted(tables['samples']['time'])
        for marker in tables['markers']['data']:
            assert marker['type'] in schemas, marker
            assert 'cause' not in marker or marker['cause']['stack'] < size['stackTable'], marker
        if 'nativeAllocations' in tables: within('nativeAllocations', 'stack', 'stackTable')

def stack(thread, index):
    names = []
    while index is not None:
        frame = thread['stackTable']['frame'][index]
        names.insert(0, thread['stringArray'][thread['funcTable']['name'][thread['frameTable']['func'][frame]]])
        index = thread['stackTable']['prefix'][index]
    return names

check(profile), check(sums)
assert len(profile['threads']) == 2 and [thread['isMainThread'] for thread in profile['threads']] == [True, False]
# Each function's own time, and with what it called.
self_ns, total_ns = {}, {}
for thread in profile['threads']:
    for index, weight in zip(thread['samples']['stack'], thread['samples']['weight']):
        names = stack(thread, index)
        if names: self_ns[names[-1]] = self_ns.get(names[-1], 0) + weight * 1e6
        for name in set(names): total_ns[name] = total_ns.get(name, 0) + weight * 1e6
rows = list(csv.DictReader(open('calls.csv')))
assert {row['function'] for row in rows} == set(total_ns) == {'main', 'reserve', 'audit', 'pay', 'clerk'}, total_ns
for row in rows:
    slack = 2 * int(row['calls']) + 2  # times are rounded to nanoseconds
    assert abs(self_ns.get(row['function'], 0) - int(row['self_ns'])) <= slack, (row, self_ns)
    assert abs(total_ns[row['function']] - int(row['total_ns'])) <= slack, (row, total_ns)
# What was not freed, by stack.
main, live = profile['threads'][0], {}
table = main['nativeAllocations']
for index, weight, address in zip(table['stack'], table['weight'], table['memoryAddress']):
    live.pop(address) if weight < 0 else live.update({address: (weight, stack(main, index))})
own = [bytes for bytes, names in live.values() if 'reserve' in names]
assert own == [1000] * 4, own
leaks = json.load(open('leaks.json'))['leaks']
assert sum(row['leaked_bytes'] for row in leaks if row['function'] == 'reserve') == 4000, leaks
# Waits and points.
markers = [(main['stringArray'][name], data) for name, data in zip(main['markers']['name'], main['markers']['data'])]
waits = [data for name, data in markers if name == 'wait till']
assert len(waits) == next(row['waits'] for row in json.load(open('locks.json'))['locks'] if row['lock'] == 'till') >= 1, waits
assert 'pay' in stack(main, waits[0]['cause']['stack']) and waits[0]['holder'].startswith('tid '), waits
assert [data['values'] for name, data in markers if name == 'shop:paid'] == [f'order={i}' for i in range(5)], markers
# --aggregate: the folded stacks.
thread, = sums['threads']
folded = {';'.join(stack(thread, index)): round(weight * 1e6) for index, weight in zip(thread['samples']['stack'], thread['samples']['weight'])}
assert folded == {line.rsplit(' ', 1)[0]: int(line.rsplit(' ', 1)[1]) for line in open('sums.folded')}, folded
PYTHON
run penna export firefox shop.penna --aggregate --weight live -o live.json
expect_contains "$(cat live.json)" '"weightType":"bytes"'
run penna export firefox shop.penna --weight live
expect_contains "$err" "--weight is for the formats folded, callgrind, graphviz and, with --aggregate, speedscope and firefox"
# A recording of nothing gives an empty profile.
penna record -q -k points -o none.penna -- true
run penna export firefox none.penna
expect_eq 0 "$status" "export of nothing"
/usr/bin/python3 -c 'import json, sys; assert json.load(sys.stdin)["threads"] is not None' <<<"$out"

# ---- the Firefox Profiler --------------------------------------------------------------------------------------------------------
npm_packages @firefox-devtools/profiler-cli@0.10.0 node@24
program=(env "HOME=$work" "$modules/node/bin/node" "$modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js")
profiler() { "${program[@]}" "$@"; }
# Its daemon is started here, since `profiler load` gives it only half a second to start. On a busy machine it may end at
# once, without a word.
is_loaded() { profiler profile info --session shop; }
for _ in 1 2 3; do
  "${program[@]}" --daemon shop.json --session shop >>daemon.log 2>&1 &
  started+=("$!")
  for _ in {1..40}; do ! is_loaded >/dev/null 2>&1 || break 2; sleep 0.5; done
  kill "${started[-1]}" 2>/dev/null || true
done
run is_loaded
expect_eq 0 "$status" "the Firefox Profiler loads the file: $err, $(cat daemon.log)"
profiled() { run profiler "$@" --session shop; expect_eq 0 "$status" "profiler-cli $*: $err"; }
profiled profile info
expect_contains "$out" "This profile contains 2 threads across 1 processes."
profiled thread samples-top-down
expect_match "$out" 'shop!main \[total: 100.0%'
expect_match "$out" 'shop!pay \[total: '
profiled thread markers --list
expect_eq 5 "$(grep -c 'shop:paid' <<<"$out")" "points in the profiler"
expect_match "$out" 'wait till .* ✓'
profiled thread samples --thread t-1
expect_match "$out" 'shop!audit - self: '
profiled strategy native-retained-allocations
profiled thread functions --limit 0
expect_match "$out" 'reserve - .*total: 4kB|reserve - .*4,?000B|reserve - self: 4'
run profiler stop --all
expect_eq 0 "$status" "profiler-cli stop: $err"
