#!/bin/bash
# SPDX-License-Identifier: MIT
# Waits of known length: as long as the program itself measured, attributed to the lock's holder, with both stacks. And
# the effects of --min-wait, --holds and --sample-locks on record.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c known_waits -std=c++20 -pthread

cat >check.py <<'PYTHON'
import json
begun, ended = {}, {}  # of those that share a lock, the last
for who, begin, end in (line.split() for line in open('seen.txt')):
    begun[who], ended[who] = int(begin), max(int(end), ended.get(who, 0))
SLACK_NS = 2e6  # between our stamps and the program's, a thread may lose its processor
rows = json.load(open('waits.json'))['waits']

def total(who, holder=None):
    return sum(row['wait_ns'] for row in rows if any(frame.startswith(who) for frame in row['stack'])
               and (holder is None or any(frame.startswith(holder) for frame in row['other_stack'])))

def least(ns):
    return 0.98 * ns - SLACK_NS

for who in ('append', 'read_all', 'update'):
    waited = ended[who] - begun[who]
    assert least(waited) <= total(who) <= waited + 1e3, (who, waited, total(who))
# The second of the queue waits for the first alone, the third for both; who woke it is who held it last. Readers: the writer waits until
# the last is out. What a thread needs to wake up is nobody's.
for who, holder in (('append', 'flush'), ('read_all', 'flush'), ('update', 'look_up')):
    behind = ended[holder + '.hold'] - begun[who]
    assert least(behind) <= total(who, holder) <= total(who), (who, holder, behind, total(who, holder))
assert total('append', 'read_all') == 0
assert least(ended['append.hold'] - begun['append.hold']) <= total('read_all', 'append') <= total('read_all') - total('read_all', 'flush')
assert {row['lock'].split('::')[-1] for row in rows if row['kind'] in ('mutex', 'rwlock')} == {'ledger', 'table'}
assert {row['kind'] for row in rows} == {'mutex', 'rwlock'}
assert {row['kind'] for row in json.load(open('waits.json'))['other_waits']} == {'join'}

holds = json.load(open('holds.json'))['holds']
for who in ('flush', 'append'):
    held = max((row for row in holds if any(frame.startswith(who) for frame in row['stack'])), key=lambda row: row['max_hold_ns'])
    wanted = ended[who + '.hold'] - begun[who + '.hold']
    assert wanted - 1e3 <= held['max_hold_ns'] <= 1.02 * wanted + SLACK_NS, (held, wanted)
assert json.load(open('health.json'))['warnings'] == []
PYTHON
run penna record -o w.penna --force -k locks -- ./known_waits
expect_eq 0 "$status" "status"
cp out.txt seen.txt
penna report w.penna waits --json >waits.json
penna report w.penna holds --json >holds.json
penna report w.penna health --json >health.json
/usr/bin/python3 check.py || fail "the waits are not right: $(cat seen.txt; penna report w.penna waits | cut -c 1-150)"
expect_match "$(penna report w.penna health)" '^Cost in the target: [0-9.]+ ns an event of locks$'
expect_match "$(penna report w.penna health)" '^Recording made each hold of a lock about [0-9]+ ns longer: [0-9.]+ % of the time'

# A shorter wait counts as an acquisition; a longer one is recorded as before.
run penna record -o min.penna -k locks --min-wait 1s -- ./known_waits
expect_eq 0 "$status" "status with --min-wait"
expect_match "$(penna report min.penna locks)" 'ledger'
expect_missing "$(penna report min.penna waits)" 'append'
run penna record -o min.penna -f -k locks --min-wait 10ms -- ./known_waits
expect_match "$(penna report min.penna waits)" 'append.* \(known_waits.cc:'

# Long holds have the location of their end, even without waiters; the lock has been known for long.
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
# The same for readers: each release is matched with its acquisition.
sed 's/pthread_mutex_t lock = PTHREAD_MUTEX/pthread_rwlock_t lock = PTHREAD_RWLOCK/; s/mutex_lock/rwlock_rdlock/g; s/mutex_unlock/rwlock_unlock/g' \
  long_hold.c >long_read.c
build_c long_read
run penna record -o long.penna --force -k locks --holds 10ms -- ./long_read
expect_match "$(penna report long.penna holds)" 'give_back \(long_read.c:4\)'

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
/usr/bin/python3 - "$(penna report sample.penna locks --json)" "$(penna info sample.penna)" <<'PYTHON' || fail "wrong sample"
import json, re, sys
row = next(row for row in json.loads(sys.argv[1])['locks'] if row['lock'] == 'lock')
# Of 2,000 that are recorded, 6 standard deviations.
assert abs(row['taken'] - 200000) < 6 * (2000 ** 0.5) * 100, row
stored = int(re.search(r'([\d,]+) lock events', sys.argv[2]).group(1).replace(',', ''))
assert stored < 6000, stored
PYTHON

# Nonsensical options are reported in a sentence.
for options in '--min-wait 5' '--holds never' '--sample-locks 0' '-k calls --holds 1ms'; do
  # shellcheck disable=SC2086
  run penna record -q -o bad.penna $options -- ./many
  [ "$status" != 0 ] || fail "$options was accepted"
  [ "$(wc -l <<<"$err")" -le 2 ] || fail "$options: more than a sentence"
done
