#!/bin/bash
# SPDX-License-Identifier: MIT
# What people read from a report: views, limits and sentences, on small programs with known numbers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# libstdc++ allocates before main, called by ld.so: its stacks end in _dl_start_user, which has no unwind information
# and no caller. They are complete, and not reported as cut.
cat >early.cc <<'PROGRAM'
#include <string>
static std::string *text = new std::string(100, 'x');
int main() { return text->size() == 100 ? 0 : 1; }
PROGRAM
build_c early
penna record -q -o early.penna -- ./early
for command in 'report early.penna' 'report early.penna alloc' 'report early.penna health' 'info early.penna' 'replay early.penna'; do
  # shellcheck disable=SC2086
  run penna $command
  expect_eq 0 "$status" "status of penna $command"
  expect_missing "$out" "end short"
  expect_missing "$out" "ends short"
done
run penna report early.penna alloc
expect_missing "$out" "no unwind information"

# Views of allocations: 30 blocks of 100 bytes from grow(), called by itself and by both(), ten of them kept; and 5,000
# bytes by operator new in both(). Stacks are 20 deep.
cat >views.cc <<'PROGRAM'
#include <cstdlib>
void *kept[10];
char *large;
__attribute__((noipa)) void grow(int depth, int round) {
  if (depth != 0) { grow(depth - 1, round); asm volatile(""); return; }
  void *block = malloc(100);
  if (round < 10) kept[round] = block; else free(block);
}
__attribute__((noipa)) void both() {
  for (int i = 0; i < 30; i++) grow(15, i);
  large = new char[5000];
}
int main() { both(); }
PROGRAM
build_c views
penna record -q -o views.penna -- ./views
value() {  # value OPTIONS PYTHON: of the rows of a table of penna report OPTIONS --format json
  # shellcheck disable=SC2086
  penna report views.penna $1 --format json >report.json || fail "penna report $1 --format json"
  /usr/bin/python3 -c 'import json, sys
report = json.load(open("report.json"))
rows = [row for row in report[sys.argv[1]] if "views" in str(row)]
print(eval(sys.argv[2]))' "${1%% *}" "$2" || fail "no $2 in $(<report.json)"
}
expect_eq "[('both()', 5000, 1, 8000), ('grow(int, int)', 3000, 30, 3000), ('main', 0, 0, 8000)]" \
  "$(value 'alloc --by function' 'sorted((r["function"], r["self_bytes"], r["count"], r["total_bytes"]) for r in rows if r["function"][0] != "_")')" "by function"
expect_eq "[('both()', 5000, 6000), ('grow(int, int)', 1000, 1000), ('main', 0, 6000)]" \
  "$(value 'leaks --by function' 'sorted((r["function"], r["self_bytes"], r["total_bytes"]) for r in rows if r["function"][0] != "_")')" "leaks by function"
expect_eq "[(8000, 31)]" "$(value 'alloc --by module' '[(r["self_bytes"], r["count"]) for r in rows if r["module"].endswith("/views")]')" "by module"
line=$(grep -n 'malloc(100)' views.cc | cut -d: -f1)
expect_eq "[('grow(int, int)', $line, 10)]" "$(value leaks '[(r["function"], r["line"], r["blocks"]) for r in rows if r["leaked_bytes"] == 1000 and r["file"].endswith("/views.cc") and r["module"].endswith("/views")]')" "place of the leak"
run penna report views.penna alloc --by function --sort total
expect_eq "both() grow(int, int)" "$(grep -oE '(both|grow)\(.*\) \(views.cc\)' <<<"$out" | sed 's/ (views.cc)//' | tr '\n' ' ' | sed 's/ $//')" "order of --sort total"
expect_missing "$out" "sorted by SELF"

# Long stacks are shortened in text, and only there.
frames() { grep -c '^      grow' <<<"$out" || true; }
run penna report views.penna alloc
expect_eq 9 "$(frames)" "frames of grow() in text"
expect_match "$out" '^      \.\.\. [0-9]+ more$'
run penna report views.penna alloc --frames 3
expect_eq 2 "$(frames)" "frames with --frames 3"
run penna report views.penna alloc --frames 0
expect_eq 15 "$(frames)" "frames with --frames 0"
expect_missing "$out" ' more'
expect_eq 1 "$(value alloc 'len({len([f for f in r["stack"] if f.startswith("grow")]) for r in rows if r["bytes"] == 3000} & {16})')" "frames in json"

# If no process was recorded, nothing is said about the cost of recording.
echo 'int main(void) { return 0; }' >nothing.c
build_c nothing -static -s
run penna record --via inject -o nothing.penna -- ./nothing
expect_contains "$err" "statically linked"
expect_missing "$err" "start-up cost"
run penna record -o something.penna -- ./views
expect_contains "$err" "start-up cost"

# A burst of points has no meaningful rate.
cat >burst.c <<'PROGRAM'
#include <unistd.h>
#include "penna/point.h"
int main(void) {
  for (int i = 0; i < 3; i++) PENNA_EVENT(app, burst, i);
  for (int i = 0; i < 3; i++) { PENNA_EVENT(app, slow, i); usleep(2000); }
}
PROGRAM
build_c burst
penna record -q -o burst.penna -- ./burst
run penna report burst.penna points
expect_match "$out" '^ +3 +[0-9]+ +app:slow'
# (If the machine stops the program within the burst for a millisecond, it is no burst.)
expect_match "$out" '^ +3 +(-|[0-9]{1,3},?[0-9]*) +app:burst'

# A lock held across a fork is released by both processes, as in pthread_atfork() handlers: this is no error.
cat >forked.c <<'PROGRAM'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
  pthread_mutex_lock(&state);
  if (fork() == 0) {
    pthread_mutex_unlock(&state);
    pthread_mutex_lock(&state);
    pthread_mutex_unlock(&state);
    _exit(0);
  }
  pthread_mutex_unlock(&state);
  wait(0);
}
PROGRAM
build_c forked
penna record -q -o forked.penna -- ./forked
run penna report forked.penna health -n 0
expect_match "$out" '^inherited unlocks +1 '
expect_match "$out" '^unmatched unlocks +0 '
expect_missing "$out" "had not taken it"

# A lock in an allocated block is named after the allocating function; one of a stripped library by its offset there.
cat >lib.c <<'PROGRAM'
#include <pthread.h>
static pthread_mutex_t hidden = PTHREAD_MUTEX_INITIALIZER;
void use_hidden(void) { pthread_mutex_lock(&hidden); pthread_mutex_unlock(&hidden); }
PROGRAM
cat >queue.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
void use_hidden(void);
struct queue { long items[10]; pthread_mutex_t lock; };
__attribute__((noipa)) struct queue *make_queue(void) {
  struct queue *made = calloc(1, sizeof *made);
  pthread_mutex_init(&made->lock, 0);
  return made;
}
int main(void) {
  struct queue *queue = make_queue();
  for (int i = 0; i < 3; i++) { pthread_mutex_lock(&queue->lock); pthread_mutex_unlock(&queue->lock); }
  use_hidden();
  free(queue);
}
PROGRAM
gcc -O1 -shared -fPIC -s lib.c -o libhidden.so
build_c queue ./libhidden.so
penna record -q -o queue.penna -- ./queue
run penna report queue.penna locks
line=$(grep -n calloc queue.c | cut -d: -f1)
expect_match "$out" "^.* 3 +0 % +1 +1 +0x[0-9a-f]+ +mutex +at \\+80 in the block of 120 B that make_queue \\(queue.c:$line\\) allocated"
expect_match "$out" 'libhidden.so\+0x[0-9a-f]+$'
penna record -q -k locks -o locks.penna -- ./queue
run penna report locks.penna locks
expect_match "$out" '^.* 3 +0 % +1 +1 +0x[0-9a-f]+ +mutex +made in make_queue \(queue.c:[0-9]+\)$'

# Calls by path, as a tree and as folded stacks; with the same times.
cat >ways.c <<'PROGRAM'
__attribute__((noipa)) int leaf(int n) { return n; }
__attribute__((noipa)) int fib(int n) { return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
__attribute__((noipa)) int other(void) { return leaf(7) + fib(3); }
int main(void) { return fib(6) + other() != 17; }
PROGRAM
build_c ways -finstrument-functions
run penna record -q -k calls -o ways.penna -- ./ways
expect_eq 0 "$status" "status of ./ways"
penna report tree ways.penna -n 0 --format csv >tree.csv
penna export folded ways.penna >ways.folded
/usr/bin/python3 - <<'CHECK' || fail "the tree or the folded stacks differ from the calls that were made"
import collections, csv
rows = list(csv.DictReader(open('tree.csv')))
path, calls, own = [], collections.Counter(), {}
for row in rows:
    del path[int(row['depth']) - 1:]
    path.append(row['function'])
    calls[tuple(path)] = int(row['calls'])
    own[';'.join(path)] = int(row['self_ns'])

expected = collections.Counter()  # by the program itself
def leaf(way): expected[way + ('leaf',)] += 1
def fib(n, way):
    way += ('fib',)
    expected[way] += 1
    leaf(way) if n < 2 else (fib(n - 1, way), fib(n - 2, way))
expected[('main',)] += 1
fib(6, ('main',))
expected[('main', 'other')] += 1
leaf(('main', 'other')), fib(3, ('main', 'other'))
assert calls == expected, (calls, expected)

folded = dict(line.rsplit(' ', 1) for line in open('ways.folded').read().splitlines())
assert {way: ns for way, ns in own.items() if ns} .keys() <= folded.keys() | {way for way, ns in own.items() if ns <= 1}
assert all(abs(int(ns) - own[way]) <= 1 for way, ns in folded.items()), (folded, own)
assert abs(sum(own.values()) - int(rows[0]['total_ns'])) <= len(own), 'the parts are not the whole'
CHECK
run penna report tree ways.penna
expect_match "$out" '^[0-9]+ ways to call 4 functions$'
expect_match "$out" ' 1    other '
penna record -q -k alloc -o none.penna -- ./ways
run penna report tree none.penna
expect_contains "$out" "No calls were recorded"

# Folded stacks of other weights than time, each with the same sum as the tables.
cat >weights.cc <<'PROGRAM'
#include <mutex>
#include <thread>
#include <cstdlib>
#include <unistd.h>
static std::mutex mutex;
static void* volatile kept;
__attribute__((noipa)) void grow(int n) { for (int i = 0; i < n; i++) kept = malloc(100); }
__attribute__((noipa)) void twice(int n) { grow(n); grow(n); }
__attribute__((noipa)) void waiter() { mutex.lock(); mutex.unlock(); }
int main() {
  grow(3);
  twice(5);
  mutex.lock();
  std::thread thread(waiter);
  usleep(30000);
  mutex.unlock();
  thread.join();
}
PROGRAM
build_c weights -finstrument-functions -finstrument-functions-exclude-file-list=/usr
penna record -q -o weights.penna -- ./weights
for weight in time calls alloc-bytes allocs wait; do penna export folded weights.penna --weight $weight -o $weight.folded; done
penna export folded weights.penna --weight calls --threads -o threads.folded
penna export csv weights.penna -o weights.csv
/usr/bin/python3 - <<'CHECK' || fail "folded stacks of other weights are not what was recorded"
import collections, csv
def read(name):
    lines = [line.rsplit(' ', 1) for line in open(name + '.folded').read().splitlines()]
    assert len({stack for stack, _ in lines}) == len(lines), 'a stack has two lines'
    return {stack: int(value) for stack, value in lines}
rows = list(csv.DictReader(open('weights.csv')))
calls = read('calls')
assert calls == {'main': 1, 'main;grow(int)': 1, 'main;twice(int)': 1, 'main;twice(int);grow(int)': 2, 'waiter()': 1}, calls
threads = read('threads')
assert len({stack.split(';')[1] for stack in threads}) == 2 and sorted(threads.values()) == sorted(calls.values())
assert {';'.join(stack.split(';')[2:]) for stack in threads} == set(calls) and all(s.startswith('weights (pid ') for s in threads)
allocs, data = read('allocs'), read('alloc-bytes')
own = [row for row in rows if row['kind'] == 'alloc']
assert sum(allocs.values()) == len(own) and sum(data.values()) == sum(int(row['size']) for row in own)
expected = collections.Counter()
for row in own: expected[row['stack'] or '[unknown]'] += 1
assert allocs == expected
assert next(n for stack, n in allocs.items() if stack.endswith('twice(int);grow(int)')) == 10
assert next(n for stack, n in data.items() if stack.endswith('main;grow(int)')) == 300
waits = read('wait')
assert sum(waits.values()) == sum(int(row['duration_ns']) for row in rows if row['kind'].endswith('_wait'))
assert any('waiter()' in stack and ns > 10e6 for stack, ns in waits.items()), waits
CHECK
run penna export folded ways.penna --weight wait
expect_contains "$err" "holds no locks, and so there is nothing for folded: record it with -k locks"
run penna export csv ways.penna --weight calls
expect_contains "$err" "--weight is for the formats folded, callgrind, graphviz"

# A call that never ends is a call: the closing line, the tables and the facts have the same number.
cat >open.c <<'PROGRAM'
#include <unistd.h>
__attribute__((noipa)) void down(int n) {
  if (n == 0) _exit(0);
  down(n - 1);
  asm volatile("");
}
int main(void) { down(1000); }
PROGRAM
build_c open -finstrument-functions
run penna record -o open.penna -k calls -- ./open
expect_contains "$err" "1,002 calls; 0 lost"
expect_contains "$(penna info open.penna)" "1,002 calls"
expect_contains "$(penna report open.penna health)" "1,002 calls recorded"
expect_eq 1002 "$(penna report open.penna threads --format csv | cut -d, -f6 | tail -n 1)" "calls of the thread"
expect_eq 1002 "$(penna report open.penna calls -n 0 --format csv | /usr/bin/python3 -c '
import csv, sys
print(sum(int(row["calls"]) for row in csv.DictReader(sys.stdin)))')" "calls in the table"
penna trim open.penna -r 0s- -o trimmed.penna
expect_contains "$(penna info trimmed.penna)" "1,002 calls"
