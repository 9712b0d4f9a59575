#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs with known waits: who waited how long for what, where, and where the holders were; as tables, as flame
# graphs, and as limits of penna check.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# One thread holds the ledger for 100 ms; two arrive 20 and 40 ms later. Two readers of 60 ms, and a writer 20 ms after
# them. The program itself reports how long that took: on a busy machine all are late.
cat >waits.c <<'PROGRAM'
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER, state = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t start, middle;
static sem_t slots;
static int jobs;
static atomic_long paid, entered, flushed, looked_up;
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000 + t.tv_nsec; }
#define TIMED(sum, what) do { long begun = now(); what; sum += now() - begun; } while (0)
static void ms(long n) { struct timespec t = {0, n * 1000000}; nanosleep(&t, 0); }
__attribute__((noipa)) void flush(void) { pthread_mutex_lock(&ledger); TIMED(flushed, ms(100)); pthread_mutex_unlock(&ledger); }
__attribute__((noipa)) void pay(void) { TIMED(paid, pthread_mutex_lock(&ledger)); pthread_mutex_unlock(&ledger); }
__attribute__((noipa)) void look_up(void) { pthread_rwlock_rdlock(&table); TIMED(looked_up, ms(60)); pthread_rwlock_unlock(&table); }
__attribute__((noipa)) void enter(void) { TIMED(entered, pthread_rwlock_wrlock(&table)); pthread_rwlock_unlock(&table); }
__attribute__((noipa)) void take_slot(void) { sem_wait(&slots); }
__attribute__((noipa)) void post_slot(void) { sem_post(&slots), jobs = 0; }
__attribute__((noipa)) void take_job(void) {
  pthread_mutex_lock(&state);
  while (jobs == 0) pthread_cond_wait(&ready, &state);
  pthread_mutex_unlock(&state);
}
static void *thread(void *argument) {
  long me = (long)argument;
  pthread_barrier_wait(&start);
  if (me > 0) ms(20 * me);
  me == 0 ? flush() : pay();
  pthread_barrier_wait(&middle);
  if (me == 2) ms(20);
  me == 2 ? enter() : look_up();
  me == 0 ? take_slot() : take_job();
  return 0;
}
int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&start, 0, 3);
  pthread_barrier_init(&middle, 0, 3);
  sem_init(&slots, 0, 0);
  pthread_cond_signal(&ready);
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, thread, (void *)i);
  ms(400);
  post_slot();
  pthread_mutex_lock(&state);
  jobs = 1;
  pthread_cond_broadcast(&ready);
  pthread_mutex_unlock(&state);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  printf("{\"paid\": %ld, \"entered\": %ld, \"flushed\": %ld, \"looked_up\": %ld}\n", paid, entered, flushed, looked_up);
}
PROGRAM
build_c waits
penna record -q -k locks -o waits.penna -- ./waits >seen.json
for table in locks waits holds; do penna report waits.penna $table --json >$table.json; done
/usr/bin/python3 - <<'CHECK' || fail "the waits are not those of the program"
import json
tables = {name: json.load(open(name + '.json')) for name in ('locks', 'waits', 'holds')}
seen = json.load(open('seen.json'))
SLACK_NS = 2e6  # between our stamps and the program's, a thread may lose its processor
def within(ns, most, what):
    assert most - SLACK_NS - 0.02 * most <= ns <= most + 1e3, (what, ns, most)
def without(ns, least, what):
    assert least - 1e3 <= ns <= least + SLACK_NS + 0.02 * least, (what, ns, least)
def one(rows, **want):
    found = [row for row in rows if all(row[key] == value for key, value in want.items())]
    assert len(found) == 1, (want, [{k: r[k] for k in want} for r in rows])
    return found[0]
locks = tables['locks']['locks']
ledger, table = one(locks, lock='ledger'), one(locks, lock='table')
within(ledger['wait_ns'], seen['paid'], 'ledger waited for')
assert ledger['waits'] == 2 and ledger['taken'] == 3 and ledger['threads'] == 3 and ledger['kind'] == 'mutex', ledger
without(ledger['max_hold_ns'], seen['flushed'], 'ledger held')
assert ledger['holder'].startswith('flush (waits.c:'), ledger
within(table['wait_ns'], seen['entered'], 'table waited for')
without(table['hold_ns'], seen['looked_up'], 'table held')
assert table['kind'] == 'rwlock' and table['shared'] == 2 and table['taken'] == 3, table
others = {row['kind']: row for row in tables['locks']['others']}
assert {'semaphore', 'barrier', 'join'} <= set(others), others
ready = one(tables['locks']['conditions'], condition='ready')
assert (ready['mutex'], ready['waits'], ready['signals'], ready['broadcasts'], ready['unheard']) == ('state', 2, 1, 1, 1), ready
waits = tables['waits']['waits']
flush = one(waits, function='pay', other_function='flush')
within(flush['wait_ns'], seen['paid'], 'pay waited while flush held it')
assert flush['other'] == 'held' and any('flush' in frame for frame in flush['other_stack']), flush
reading = sum(row['wait_ns'] for row in waits if (row['function'], row['other_function']) == ('enter', 'look_up'))
within(reading, seen['entered'], 'the writer waited for readers')
slot = one(tables['waits']['other_waits'], function='take_slot')
assert (slot['other'], slot['kind'], slot['other_function']) == ('woke', 'semaphore', 'post_slot'), slot
assert sum(r['wait_ns'] for r in waits if r['lock'] == 'ledger') - ledger['wait_ns'] in range(-9, 10), 'pairs add up'
hold = [row for row in tables['holds']['holds'] if row['function'] == 'flush'][0]
without(hold['hold_ns'], seen['flushed'], 'held by flush')
within(hold['waited_ns'], seen['paid'], 'others waited for flush')
about = tables['locks']['about'][0]
assert about.startswith('2 threads lost ') and 'waiting for ledger, ' in about and 'while flush (waits.c:' in about, about
assert any(note.startswith('1 of 2 signals and broadcasts of ready came while no thread') for note in tables['locks']['notes']), tables['locks']['notes']
CHECK

run penna report waits.penna waits --lock ledger --min-wait 10ms --frames 2
expect_match "$out" 'ledger +pay \(waits.c:[0-9]+\) \[waits\]$'
expect_match "$out" '^    held by .*, taken in$'
expect_match "$out" '^      flush \(waits.c:[0-9]+\) \[waits\]$'
expect_missing "$out" look_up
run penna report waits.penna holds --lock 'led*' --min-hold 50ms
expect_contains "$out" "2 holds left out as shorter than --min-hold"
run penna report waits.penna locks --lock nothing
expect_contains "$out" "No lock is called nothing: 'penna report locks' without --lock lists them."

# In the replay, and as flame graphs by waiter and by holder.
run penna replay waits.penna
for what in 'lock ledger waited [0-9.]+ ms, held by' 'write lock table waited [0-9.]+ ms' 'read lock table' \
  'barrier start waited' 'semaphore slots waited' 'post semaphore slots' 'condition ready with state waited' \
  'signal condition ready' 'broadcast condition ready' 'join waits .*waited'; do
  expect_match "$out" "$what"
done
folded() { penna export folded waits.penna --weight "$1" | awk -v frame="$2" '$0 ~ frame { n += $NF } END { print n / 1000000 }'; }
paid() { /usr/bin/python3 -c 'import json, sys; exit(not 0.95 < float(sys.argv[1]) * 1e6 / json.load(open("seen.json"))["paid"] <= 1)' "$1"; }
paid "$(folded wait ';pay ')" || fail "pay waited $(folded wait ';pay ') ms: $(<seen.json)"
paid "$(folded wait-by-holder ';flush ')" || fail "flush was waited for $(folded wait-by-holder ';flush ') ms: $(<seen.json)"
run penna report flame waits.penna --weight wait-by-holder --ascii --width 80
expect_match "$out" '\[flush [0-9.]+ %'

# Limits: violations are shown with their stack.
run penna check waits.penna --max-wait 5s --max-wait-p99 5s --max-hold 5s
expect_eq "0 4 limits kept." "$status $(head -n 1 <<<"$out")"
run penna check waits.penna --max-wait=30ms --max-hold=80ms --no-lock-in 'flu*' --no-lock-in take_slot
expect_eq 1 "$status" "status when limits are broken"
expect_match "$out" '^4 of 5 limits broken|^3 of 5 limits broken'
expect_match "$out" 'broken +--max-wait 30ms'
expect_match "$out" 'broken +--max-hold 80ms'
expect_match "$out" "^1 +0 +broken +--no-lock-in 'flu\\*'"
expect_match "$out" 'ms  pay \(waits.c:[0-9]+\)'
penna record -q -k calls -o calls.penna -- ./waits
run penna check calls.penna --max-wait 1ms
expect_eq 2 "$status" "status without locks"
expect_contains "$err" "record with -k locks"

# Still waiting when killed: counted up to that time. A signal on the way to a wait is lost.
cat >hangs.c <<'PROGRAM'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, state = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static void *waits(void *none) { pthread_mutex_lock(&gate); return none; }
static void *misses(void *none) {
  pthread_mutex_lock(&state);
  usleep(30000);  // it looked, and there was nothing yet
  pthread_cond_wait(&ready, &state);
  return none;
}
int main(void) {
  pthread_t threads[2];
  pthread_mutex_lock(&gate);
  pthread_create(&threads[0], 0, waits, 0);
  pthread_create(&threads[1], 0, misses, 0);
  usleep(15000);
  pthread_cond_signal(&ready);
  usleep(200000);
  kill(getpid(), SIGKILL);
}
PROGRAM
build_c hangs
penna record -q -k locks -o hangs.penna -- ./hangs || true
run penna report hangs.penna locks
expect_match "$out" '^1 thread lost [0-9]+ ms of its [0-9]+ ms waiting for gate, all of it while main \(hangs.c:[0-9]+\) held it\.$'
expect_contains "$out" "1 wait for locks had not ended when the recording did: counted up to there."
expect_match "$out" 'Lost wake-up\? .* still waits for ready; .* had signalled it [0-9.]+ ms before that wait began, while no thread waited, while the thread held the mutex'
run penna replay hangs.penna
expect_match "$out" 'lock gate waited [0-9]+ ms, held by .*, and still does at the end'

# A signaller that holds the mutex is waited for, and its holding location is reported, although the lock had long been
# uncontended.
cat >quiet.c <<'PROGRAM'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int jobs;
static volatile int is_waited_for;
__attribute__((noipa)) void announce(void) {
  pthread_mutex_lock(&queue), jobs = 1, pthread_cond_signal(&filled), usleep(50000), pthread_mutex_unlock(&queue);
}
static void *take(void *nothing) {
  pthread_mutex_lock(&queue);
  while (jobs == 0) is_waited_for = 1, pthread_cond_wait(&filled, &queue);
  pthread_mutex_unlock(&queue);
  return nothing;
}
int main(void) {
  pthread_t taker;
  for (int i = 0; i < 1000; ++i) pthread_mutex_lock(&queue), pthread_mutex_unlock(&queue);
  pthread_create(&taker, 0, take, 0);
  while (!is_waited_for) usleep(1000);
  usleep(50000);
  announce();
  pthread_join(taker, 0);
  return 0;
}
PROGRAM
build_c quiet
penna record -q -f -k locks -o quiet.penna -- ./quiet
run penna report waits quiet.penna --frames 1
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +queue +take '
expect_contains "$out" 'held by quiet (tid'
expect_match "$out" '^ +announce \(quiet.c:8\)'
expect_missing "$out" 'where it was taken is not known'$'\n'
