#!/bin/bash
# SPDX-License-Identifier: MIT
# Waits of known length: as long as the program itself saw them, charged to whoever held the lock, with both stacks. And what
# record does with --min-wait, --holds and --sample-locks.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c known_waits -std=c++20 -pthread

cat >check.py <<'PYTHON'
import json
seen = {who: int(ns) for who, ns in (line.split() for line in open('seen.txt'))}
rows = json.load(open('waits.json'))['waits']

def total(who, holder=None):
    return sum(row['wait_ns'] for row in rows if any(frame.startswith(who) for frame in row['stack'])
               and (holder is None or any(frame.startswith(holder) for frame in row['other_stack'])))

for who, ns in seen.items():
    assert abs(total(who) - ns) < 0.05 * ns, (who, ns, total(who))
# The second of the queue waits for the first alone, the third for both; who woke it is who held it last.
assert total('append', 'flush') > 0.99 * total('append')
both = total('read_all', 'flush') + total('read_all', 'append')
assert both > 0.99 * total('read_all') and total('read_all', 'append') > 95e6
assert 0 < total('read_all', 'flush') < total('append', 'flush')
# Readers: the writer waits until the last is out.
assert total('update', 'look_up') > 0.99 * total('update')
assert {row['lock'].split('::')[-1] for row in rows if row['kind'] in ('mutex', 'rwlock')} == {'ledger', 'table'}
assert {row['kind'] for row in rows} == {'mutex', 'rwlock'}
assert {row['kind'] for row in json.load(open('waits.json'))['other_waits']} == {'join'}

holds = json.load(open('holds.json'))['holds']
for who in ('flush', 'append'):
    held = max((row for row in holds if any(frame.startswith(who) for frame in row['stack'])), key=lambda row: row['max_hold_ns'])
    assert 100e6 <= held['max_hold_ns'] < 200e6, held
assert json.load(open('health.json'))['warnings'] == []
PYTHON
# Once more where the machine was too busy for the program to wait as it should.
for tries in 1 2 3; do
  run penna record -o w.penna --force -k locks -- ./known_waits
  expect_eq 0 "$status" "status"
  cp out.txt seen.txt
  penna report w.penna waits --json >waits.json
  penna report w.penna holds --json >holds.json
  penna report w.penna health --json >health.json
  ! /usr/bin/python3 check.py || break
  [ $tries -lt 3 ] || fail "the waits are not right: $(cat seen.txt; penna report w.penna waits | cut -c 1-150)"
done
expect_match "$(penna report w.penna health)" '^Cost in the target: [0-9.]+ ns an event of locks$'
expect_match "$(penna report w.penna health)" '^Recording made each hold of a lock about [0-9]+ ns longer: [0-9.]+ % of the time'

# A wait that is shorter counts as an acquisition; one that is longer is there as before.
run penna record -o min.penna -k locks --min-wait 1s -- ./known_waits
expect_eq 0 "$status" "status with --min-wait"
expect_match "$(penna report min.penna locks)" 'ledger'
expect_missing "$(penna report min.penna waits)" 'append'
run penna record -o min.penna -f -k locks --min-wait 10ms -- ./known_waits
expect_match "$(penna report min.penna waits)" 'append.* \(known_waits.cc:'

# Long holds say where they end, though nobody waits for them; that of a lock which is long known.
cat >long_hold.c <<'PROGRAM'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void give_back(void) { pthread_mutex_unlock(&lock); __asm__(""); }
int main(void) {
  for (int i = 0; i < 1000; i++) pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  usleep(20000);
  give_back();
}
PROGRAM
build_c long_hold
run penna record -o plain.penna -k locks -- ./long_hold
expect_missing "$(penna report plain.penna holds)" 'give_back'
run penna record -o long.penna -k locks --holds 10ms -- ./long_hold
expect_match "$(penna report long.penna holds)" 'give_back \(long_hold.c:4\)'

# A sample of the acquisitions: the report says so, and estimates.
cat >many.c <<'PROGRAM'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
  for (int i = 0; i < 200000; i++) pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
}
PROGRAM
build_c many
run penna record -o sample.penna -k locks --sample-locks 100 -- ./many
/usr/bin/python3 - "$(penna report sample.penna locks --json)" "$(penna info sample.penna)" <<'PYTHON' || fail "the sample is not right"
import json, re, sys
row = next(row for row in json.loads(sys.argv[1])['locks'] if row['lock'] == 'lock')
# Of 2,000 that are recorded, 6 standard deviations.
assert abs(row['taken'] - 200000) < 6 * (2000 ** 0.5) * 100, row
stored = int(re.search(r'([\d,]+) lock events', sys.argv[2]).group(1).replace(',', ''))
assert stored < 6000, stored
PYTHON

# What cannot be meant is said in a sentence.
for options in '--min-wait 5' '--holds never' '--sample-locks 0' '-k calls --holds 1ms'; do
  # shellcheck disable=SC2086
  run penna record -q -o bad.penna $options -- ./many
  [ "$status" != 0 ] || fail "$options was taken"
  [ "$(wc -l <<<"$err")" -le 2 ] || fail "$options: more than a sentence"
done
