#!/bin/bash
# SPDX-License-Identifier: MIT
# penna diff: two runs of a program whose functions are called more or less often, or differ.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.c <<'PROGRAM'
#include <time.h>
__attribute__((noipa)) void leaf(void) {}
__attribute__((noipa)) void sleepy(long ms) {
  struct timespec time = {0, ms * 1000000};
  nanosleep(&time, 0);
}
#ifdef AFTER
__attribute__((noipa)) void added(void) { for (int i = 0; i < 10; i++) leaf(); }
#else
__attribute__((noipa)) void gone(void) { leaf(); }
#endif
int main(void) {
#ifdef AFTER
  added();
  sleepy(300);
#else
  gone();
  sleepy(20);
#endif
}
PROGRAM
cp app.c after.c
build_c app -finstrument-functions
build_c after -finstrument-functions -DAFTER
penna record -q -k calls -o a.penna -- ./app
penna record -q -k calls -o b.penna -- ./after
run penna diff a.penna b.penna
expect_contains "$out" 'A: 4 calls of 4 functions'
expect_contains "$out" 'B: 13 calls of 4 functions'
penna diff a.penna b.penna --format csv >diff.csv
for side in a b; do penna report calls $side.penna --format csv >$side.csv; done
/usr/bin/python3 - <<'PYTHON' || fail "the difference is not that of both tables"
import csv
read = lambda path: {row['function']: row for row in csv.DictReader(open(path))}
a, b, diff = read('a.csv'), read('b.csv'), list(csv.DictReader(open('diff.csv')))
assert {row['function'] for row in diff} == set(a) | set(b) == {'main', 'sleepy', 'leaf', 'gone', 'added'}
for row in diff:
    for side, table in ('a', a), ('b', b):
        of = table.get(row['function'], {'calls': '', 'total_ns': '', 'self_ns': ''})
        assert [row[f'{key}_{side}{unit}'] for key, unit in (('calls', ''), ('total', '_ns'), ('self', '_ns'))] == \
            [of['calls'], of['total_ns'], of['self_ns']], (row, of)
    assert int(row['delta_ns']) == int(row['total_b_ns'] or 0) - int(row['total_a_ns'] or 0), row
changes = [abs(int(row['delta_ns'])) for row in diff]
assert changes == sorted(changes, reverse=True)
assert {row['function'] for row in diff[:2]} == {'main', 'sleepy'} and int(diff[0]['delta_ns']) > 100e6, diff
PYTHON
run penna diff a.penna a.penna --color always
expect_contains "$out" '4 functions have as many calls in both'
expect_contains "$out" $'\e[2mmain'
run penna diff a.penna b.penna --min-delta 0% --json
expect_missing "$out" '"quiet":1'
run penna diff a.penna b.penna --sort self_delta:asc -n 1
expect_contains "$out" '4 more (-n 0 shows all)'

run penna diff a.penna
expect_contains "$err" "give two recordings"
run penna diff a.penna b.penna --min-delta 10
expect_contains "$err" "--min-delta is a time or a percentage"
penna record -q -k alloc -o none.penna -- ./app
run penna diff a.penna none.penna
expect_eq 125 "$status" "status without calls"
expect_contains "$err" "none.penna holds no calls"

# Allocations of a build under another name: the program counts as the same, and so does the stack.
cat >hoard.c <<'C'
#include <stdlib.h>
__attribute__((noipa)) void *hoard(int n) { void *p = malloc(n); __asm__("" : "+r"(p)); return p; }
int main(void) { for (int i = 0; i < N; i++) (void)hoard(64); }
C
cp hoard.c hoard_more.c
build_c hoard -DN=10
build_c hoard_more -DN=30
penna record -q -k alloc -o few.penna -- ./hoard
penna record -q -k alloc -o many.penna -- ./hoard_more
run penna diff --leaks few.penna many.penna --fields count_a,count_b,function
expect_match "$out" '^ *10 +30 +hoard \[hoard_more\]$'

# Locks: how long each was waited for, by name.
cat >queue.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static void *hold(void *arg) {
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&shared);
    usleep(HOLD);
    pthread_mutex_unlock(&shared);
  }
  return arg;
}
int main(void) {
  pthread_t other;
  pthread_mutex_lock(&own);
  pthread_mutex_unlock(&own);
  pthread_create(&other, 0, hold, 0);
  hold(0);
  pthread_join(other, 0);
}
C
cp queue.c quicker.c
build_c queue -DHOLD=20000
build_c quicker -DHOLD=100
penna record -q -k locks -o slow.penna -- ./queue
penna record -q -k locks -o quick.penna -- ./quicker
run penna diff --locks slow.penna quick.penna
expect_eq 0 "$status" "diff of locks"
expect_match "$out" '^A: 2 locks taken 11 times, [0-9]+ after waiting'
expect_contains "$out" '1 lock taken as often in both, with waits that changed by at most 1.0 %'
penna diff --locks slow.penna quick.penna --json >diff.json
for side in slow quick; do penna report locks $side.penna --json >$side.json; done
/usr/bin/python3 - <<'PYTHON' || fail "the difference of locks is not that of both tables"
import json
tables = {side: {row['lock']: row for row in json.load(open(f'{side}.json'))['locks']} for side in ('slow', 'quick')}
rows = json.load(open('diff.json'))['locks']
assert [row['lock'] for row in rows] == ['shared', 'own'], rows
for row in rows:
    for side, table in ('a', 'slow'), ('b', 'quick'):
        of = tables[table][row['lock']]
        assert [row[f'waits_{side}'], row[f'wait_{side}_ns'], row[f'hold_{side}_ns'], row[f'taken_{side}']] == \
            [of['waits'], of['wait_ns'], of['hold_ns'], of['taken']], (row, of)
    assert row['delta_ns'] == row['wait_b_ns'] - row['wait_a_ns'], row
assert rows[0]['taken_a'] == 10 and rows[1]['quiet'] == 1 and rows[1]['delta_percent'] is None, rows
PYTHON
run penna diff --locks slow.penna quick.penna --min-delta 4k
expect_contains "$err" "--min-delta is a time or a percentage"
run penna diff --locks slow.penna a.penna
expect_contains "$err" "a.penna holds no locks: record it with -k locks"
