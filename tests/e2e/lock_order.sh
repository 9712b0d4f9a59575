#!/bin/bash
# SPDX-License-Identifier: MIT
# penna report order: an inversion that never deadlocks is named with both stacks, one protected by a gate lock is not,
# and deadlocked threads are named in every view, from the recording of a killed program.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c lock_orders
# stacks REC: the stacks in the rows of `report order`, from JSON.
stacks() { penna report order "$1" --json | /usr/bin/python3 -c "
import json, sys
report = json.load(sys.stdin)
for row in report['$2']:
    names = [line.split('(')[0].strip() for line in row['stacks']]
    print(row['thread'].split()[0], *[name for name in names if name.startswith(('holds', 'and takes', 'waits', 'take_', 'forwards', 'backwards'))], sep='|')"; }

penna record -q -k locks -o inversion.penna -- ./lock_orders inversion
run penna report order inversion.penna
expect_eq 0 "$status" "status of report order"
expect_match "$out" '^2 locks are taken in both orders: a deadlock is possible'
expect_match "$out" '^ +1 +3 .* one \(tid [0-9]+\) +mutex `first` +mutex `second`$'
expect_match "$out" '^ +1 +1 .* two \(tid [0-9]+\) +mutex `second` +mutex `first`$'
expect_eq 'one|holds mutex `first`, taken in|take_first|forwards|and takes mutex `second` in|take_second|forwards
two|holds mutex `second`, taken in|take_second|backwards|and takes mutex `first` in|take_first|backwards' \
  "$(stacks inversion.penna inversions)" "the stacks of both orders"
expect_missing "$(penna report inversion.penna)" "eadlock"

penna record -q -k locks -o gate.penna -- ./lock_orders gate
run penna report order gate.penna
expect_match "$out" '^No locks are taken in contradicting orders: 3 locks, 4 orders seen'
expect_match "$out" '^1 cycle not shown: another lock is always held'

penna record -q -k locks -o scoped.penna -- ./lock_orders scoped
expect_match "$(penna report order scoped.penna)" '^No locks are taken in contradicting orders'

# They hang until SIGALRM ends them; the recording contains what they waited for.
run penna record -q -k locks -o deadlock.penna -- ./lock_orders deadlock
expect_eq 142 "$status" "status of what was killed"
for table in order chains locks waits holds ''; do
  # shellcheck disable=SC2086
  run penna report deadlock.penna $table
  expect_match "$out" '^Deadlock of 2 threads: (one|two) \(tid [0-9]+\) waits for mutex `(first|second)`, (one|two) \(tid [0-9]+\) waits for mutex'
done
run penna report order deadlock.penna
expect_match "$out" '^ +- .* lock_orders \(tid [0-9]+\) +the end of two \(tid [0-9]+\) +two \(tid [0-9]+\)$'
expect_eq 'one|waits for mutex `second` in|take_second|forwards|holds mutex `first`, taken in|take_first|forwards
two|waits for mutex `first` in|take_first|backwards|holds mutex `second`, taken in|take_second|backwards' \
  "$(stacks deadlock.penna deadlocks | grep -E "^(one|two)" | sort)" "what each waits for and holds"

run penna record -q -k locks -o alone.penna -- ./lock_orders alone
run penna report order alone.penna
expect_match "$out" '^Deadlock: lock_orders \(tid [0-9]+\) waits for mutex `first`, which it holds itself\.$'

# Locks still held at the end count as held until then.
penna report deadlock.penna locks --json | /usr/bin/python3 -c '
import json, sys
held = {row["lock"]: row["hold_ns"] for row in json.load(sys.stdin)["locks"]}
assert held["first"] > 500e6 and held["second"] > 500e6, held' || fail "holds of locks that are held at the end"

# As a limit.
run penna check --no-inversions --no-deadlock gate.penna
expect_eq 0 "$status" "status of what keeps its order"
run penna check --no-inversions inversion.penna
expect_eq 1 "$status" "status of an inversion"
expect_contains "$out" "take_second"
run penna check --no-deadlock deadlock.penna
expect_eq 1 "$status" "status of a deadlock"
run penna check --no-deadlock inversion.penna
expect_eq 0 "$status" "status of an inversion that did not deadlock"

# Locks of one name are told apart by their addresses.
for one in a b; do
  printf '#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\npthread_mutex_t *%s(void) { return &m; }\n' $one >same_$one.c
done
cat >same.c <<'C'
#include <pthread.h>
pthread_mutex_t *a(void), *b(void);
static void take(pthread_mutex_t *one, pthread_mutex_t *two) {
  pthread_mutex_lock(one);
  pthread_mutex_lock(two);
  pthread_mutex_unlock(two);
  pthread_mutex_unlock(one);
}
static void *back(void *none) { return take(b(), a()), none; }
int main(void) {
  pthread_t other;
  take(a(), b());
  return pthread_create(&other, NULL, back, NULL) != 0 || pthread_join(other, NULL) != 0;
}
C
gcc -g same.c same_a.c same_b.c -o same -pthread
penna record -q -k locks -o same.penna -- ./same
run penna report order same.penna
expect_match "$out" '^CYCLE .* HELD AT +TAKEN AT +THREAD'
expect_eq 2 "$(grep -E 'mutex `m` +mutex `m`$' <<<"$out" | grep -oE '0x[0-9a-f]+ +0x[0-9a-f]+' | sort -u | wc -l)" "orders of two locks that are both called m"
expect_missing "$(penna report order inversion.penna)" "HELD AT"
