#!/bin/bash
# SPDX-License-Identifier: MIT
# penna export ctf: babeltrace2 reads the trace, and finds the lines of `penna export csv` in it, one by one, with typed
# values.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need babeltrace2 python3-bt2
cat >app.cc <<'PROGRAM'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
#include "penna/point.h"
enum Level : short { kLow = -3, kHigh = 3 };
struct Order { long id; double price; };
PENNA_STRUCT(Order, id, price);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int whose;
// Two threads by turns: each waits for the other.
static void play(int me, int rounds) {
  for (int i = 0; i < rounds; i++) {
    PENNA_SPAN(game, round, me, i);
    pthread_mutex_lock(&lock);
    while (whose != me) pthread_cond_wait(&turn, &lock);
    whose = !me;
    pthread_cond_signal(&turn);
    pthread_mutex_unlock(&lock);
  }
}
static void types(int argc, const char* name) {
  signed char tiny[3] = {-128, 0, 127};
  float floats[2] = {-1.5f, 3e38f};
  std::vector<unsigned long> many(100, ~0ul);
  PENNA_EVENT(all, numbers, (short)-7, 18446744073709551615ull, -9223372036854775807ll - 1, 0.1, -2.5f, true, argc > 99);
  PENNA_EVENT(all, others, 'c', '\x01', kLow, &lock, (void*)nullptr, name, "a;b \"q\"\\\n\x01\xff", std::string("z\0z", 3));
  PENNA_EVENT(all, arrays, tiny, floats, many, std::string(300, 'x'));
  PENNA_EVENT(all, int, PENNA_ARG(event, 1), PENNA_ARG(x, 2), PENNA_ARG(x_length, tiny), PENNA_ARG(_, 3), argc + 1, argc - 1);
  const Order one = {7, 12.5}, two = {8, -0.5};
  PENNA_EVENT(all, orders, one, PENNA_ARG(last, two));
}
int main(int argc, char** argv) {
  types(argc, argv[0]);
  std::thread one(play, 0, 300), two(play, 1, 300);
  one.join(), two.join();
  pthread_mutex_lock(&lock);
  std::thread waiter([] { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); });
  while (((volatile pthread_mutex_t*)&lock)->__data.__lock != 2) usleep(1000);  // until it waits
  pthread_mutex_unlock(&lock);
  waiter.join();
  void* grown = std::realloc(std::malloc(10), 100000);
  free(std::realloc(grown, 5));
  (void)!pthread_mutex_trylock(&lock);
  (void)!pthread_mutex_trylock(&lock);
  pthread_setname_np(pthread_self(), "renamed");
  if (fork() == 0) { types(1, "child"); std::exit(0); }
  wait(nullptr);
}
PROGRAM
build_c app -finstrument-functions
cat >compare.py <<'PYTHON'
"""compare.py CSV TRACE [MIN]: as many events as lines, in the same order, each with the same values; at least MIN."""
import csv, math, re, sys
import bt2

def field_name(name):
    return re.sub(r'[^A-Za-z0-9]', '_', name) or 'unnamed'

def text_of(field):
    """babeltrace2 2.0.4 does not clear an empty text: its length is right, its bytes are those of the text before."""
    return str(field) if len(field) != 0 else ''

def arguments(text):
    """[(name, value)] of the CSV's last column."""
    def meant(m):
        if len(m[1]) == 1: return '\n' if m[1] == 'n' else m[1]
        code = int(m[1][1:], 16)
        return chr(code) if code < 0x80 or m[1][0] == 'u' else chr(0xdc00 + code)  # a byte that is no UTF-8
    plain = lambda word: re.sub(r'\\(x[0-9a-f]{2}|u[0-9a-f]{4}|.)', meant, word, flags=re.S)
    pairs = re.findall(r'((?:[^=\\]|\\.)*)=((?:[^;\\]|\\.)*)(?:;|$)', text, re.S)
    return [(plain(name), plain(value)) for name, value in pairs]

def is_same(text, field, fields, name):
    """A value of a point, as the CSV and as CTF have it."""
    if isinstance(field, bt2._EnumerationFieldConst):
        return field.labels == [text]
    if isinstance(field, bt2._RealFieldConst):
        return float(text) == float(field)
    if isinstance(field, bt2._StringFieldConst):
        return text.replace('\0', '\\0') == text_of(field)
    if isinstance(field, bt2._DynamicArrayFieldConst):
        cut = fields[name + '_cut'].labels == ['true']
        words = [word for word in text[1:-1].split(', ') if word]
        if cut: assert words.pop() == '...', text
        return len(words) == len(field) and all(is_same(w, f, fields, name) for w, f in zip(words, field))
    if re.fullmatch(r"'.*'", text):   # a character
        return text in (f"'{chr(field)}'", f"'\\x{int(field):02x}'")
    return int(text, 0) == int(field)

def check_point(row, event):
    fields, used, wanted = event.payload_field, set(), arguments(row['arguments'])
    for name, text in wanted:
        base, number = field_name(name), 2
        while base in used and number < 20: base, number = f'{field_name(name)}_{number}', number + 1
        assert base in fields, (name, base, list(fields))
        used.add(base)
        assert is_same(text, fields[base], fields, base), (name, text, str(fields[base]))
    companions = sum(isinstance(fields[name], bt2._DynamicArrayFieldConst) for name in fields)
    assert len(fields) == len(wanted) + 2 * companions, (row, list(fields))

SPANS = {'point': '', 'span_begin': ':begin', 'span_end': ':end'}
def check(row, event, first):
    assert row['time_ns'] == str(event_time(event) - first), (row, event_time(event))
    context = event.common_context_field
    assert (row['pid'], row['tid']) == (str(context['pid']), str(context['tid'])), row
    if event.name == row['kind'] and 'arguments' in event.payload_field:  # its site is unknown
        told = [text_of(event.payload_field[name]) for name in ('name', 'arguments')]
        assert told == [row['name'], row['arguments']], (row, told)
        return
    if row['kind'] in SPANS:
        assert event.name == row['name'] + SPANS[row['kind']], (row, event.name)
        return check_point(row, event)
    assert event.name == row['kind'], (row, event.name)
    if row['kind'] == 'free': row = {**row, 'size': '', 'duration_ns': ''}   # of its block: CTF has events alone
    given = {name: event.payload_field[name] for name in event.payload_field}
    assert str(given.pop('name', '')) == row['name'], row
    if 'address' in given: assert int(row['address'] or '0', 16) == given.pop('address'), row
    else: assert row['address'] == '', row
    for name in ('size', 'duration_ns'):
        value = given.pop(name, -1)
        assert row[name] == ('' if value == -1 else str(value)), (row, name)
    assert text_of(given.pop('stack', '')) == row['stack'], row
    waited = dict(arguments(row['arguments']))
    assert {name: str(value) for name, value in given.items() if value != 0} == waited, (row, given)

def event_time(event):
    return clock_value

with open(sys.argv[1], newline='', errors='surrogateescape') as file:
    rows = (row for row in csv.DictReader(file) if not row['end'])  # what has an event
    count, lost, first = 0, 0, None
    for message in bt2.TraceCollectionMessageIterator(sys.argv[2]):
        if isinstance(message, bt2._StreamBeginningMessageConst):
            environment = message.stream.trace.environment
            first = int(environment['first_event_ns'])
            assert environment['tracer_name'] == 'penna'
        if isinstance(message, bt2._DiscardedEventsMessageConst): lost += message.count
        if not isinstance(message, bt2._EventMessageConst): continue
        clock_value = message.default_clock_snapshot.value
        check(next(rows), message.event, first)
        count += 1
    assert next(rows, None) is None, 'more lines than events'
    assert count >= int(sys.argv[3]), count
    print(count, lost)
PYTHON
# compare REC MIN: sets $events and $lost.
compare() {
  rm -rf trace
  penna export csv "$1" -o events.csv
  penna export ctf "$1" trace
  run /usr/bin/python3 compare.py events.csv trace "$2"
  expect_eq 0 "$status" "comparison of $1"
  read -r events lost <<<"$out"
  run babeltrace2 trace
  expect_eq 0 "$status" "babeltrace2"
  expect_eq "$events" "$(grep -c '' <<<"$out")" "lines of babeltrace2"
}
penna record -q -o app.penna -- ./app
compare app.penna 3000
expect_eq 0 "$lost" "events that babeltrace2 takes for lost"
for kind in enter exit alloc free lock lock_wait unlock lock_busy condition_wait point span_begin span_end thread_name; do
  grep -q "^[0-9]*,[0-9]*,[0-9]*,$kind," events.csv || fail "the program left no event of kind $kind"
done
expect_match "$out" ' all:arrays: .* tiny_cut = \( "false" : container = 0 \), tiny_length = 3, tiny = \[ \[0\] = -128, \[1\] = 0, \[2\] = 127 \]'
expect_match "$out" ' all:orders: .*one_id = 7, one_price = 12\.5, last_id = 8, last_price = -0\.5 '

# Losses while the recorder sleeps: reported by their events and by the trace itself.
cat >flood.c <<'PROGRAM'
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "penna/point.h"
// kill() returns before other threads have stopped: until then they may empty the pool.
static int is_stopped(const char* threads) {
  glob_t found;
  if (glob(threads, 0, NULL, &found) != 0) return 0;
  int stopped = 1;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char line[512] = "";
    FILE* file = fopen(found.gl_pathv[i], "r");
    const char* name_end = file != NULL && fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
    stopped &= name_end != NULL && name_end[2] == 'T';
    if (file != NULL) fclose(file);
  }
  globfree(&found);
  return stopped;
}
int main(void) {
  char threads[64];
  snprintf(threads, sizeof threads, "/proc/%d/task/*/stat", (int)getppid());
  kill(getppid(), SIGSTOP);
  while (!is_stopped(threads)) sched_yield();
  for (long i = 0; i < 300000; i++) PENNA_EVENT(flood, drop, i);
  kill(getppid(), SIGCONT);
}
PROGRAM
build_c flood -O2
penna record -q --on-full=drop --pool 4 -k points -o flood.penna -- ./flood
compare flood.penna 1000
told=$(penna info flood.penna 2>/dev/null | sed -n 's/^lost *\([0-9,]*\) points$/\1/p' | tr -d ,)
((told > 0)) || fail "nothing was lost"
expect_eq "$told" "$lost" "lost events by the trace"

# A damaged recording, an empty one, and refused requests.
head -c "$(($(stat -c %s app.penna) * 2 / 3))" app.penna >half.penna
compare half.penna 1
printf 'int main(void) { return 0; }\n' >nothing.c && build_c nothing
penna record -q -k points -o nothing.penna -- ./nothing
compare nothing.penna 0
run penna export ctf app.penna
expect_eq 125 "$status" "status without a directory"
expect_contains "$err" "ctf is a directory"
run penna export ctf app.penna trace
expect_contains "$err" "trace exists and is not empty"
