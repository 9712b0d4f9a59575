#!/bin/bash
# SPDX-License-Identifier: MIT
# penna diff: two runs of a program whose functions are called more or less often, and are others.
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
