#!/bin/bash
# SPDX-License-Identifier: MIT
# The exports, read by other programs: CSV has a line for each event, Chrome's JSON is valid for its readers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.cc <<'PROGRAM'
#include <cstdlib>
#include <setjmp.h>
#include <stdexcept>
#include <string>
#include <thread>
#include "penna/point.h"
static jmp_buf back;
struct Box { template <typename T> static void put(T value) { PENNA_EVENT(box, put, value, "a;b \"quoted\"\n\x01\xff"); } };
void jump() { longjmp(back, 1); }
void thrower() { throw std::runtime_error("x"); }
int main() {
  if (setjmp(back) == 0) jump();
  try { thrower(); } catch (const std::exception&) {}
  std::thread([] { Box::put(1.5); Box::put(-7); }).join();
  std::string text(5000, 'x');
  std::exit(text.size() == 5000 ? 0 : 1);
}
PROGRAM
build_c app -finstrument-functions
penna record -q -o app.penna -- ./app

penna export csv app.penna -o app.csv
penna export csv app.penna >stdout.csv
cmp app.csv stdout.csv || fail "-o FILE and standard output differ"
penna export chrome app.penna -o app.json
penna info app.penna --format json >info.json
/usr/bin/python3 - <<'PYTHON' || fail "wrong exports"
import csv, json
from collections import Counter
rows = list(csv.DictReader(open('app.csv', errors='surrogateescape', newline='')))
kinds = Counter(row['kind'] for row in rows)
times = [int(row['time_ns']) for row in rows]
assert times == sorted(times), 'not in time order'
assert kinds['point'] == 2 and kinds['enter'] > kinds['exit'] > 0, kinds
ends = {(row['name'], row['end']) for row in rows if row['end']}
assert ('jump()', 'jump') in ends, ends   # longjmp left it
open_calls = {}                           # by thread: each exit, with an event or without, is of the innermost, at its depth
for row in rows:
    stack = open_calls.setdefault(row['tid'], [])
    if row['kind'] == 'enter':
        assert int(row['depth']) == len(stack), row
        stack.append(row['name'])
    elif row['kind'] == 'exit' and stack:
        assert int(row['depth']) == len(stack) - 1 and stack.pop() == row['name'], row
entered = [row['name'] for row in rows if row['kind'] == 'enter']
assert 'main' in entered and 'jump()' in entered and 'thrower()' in entered, entered
assert any('main' in row['stack'].split(';') for row in rows if row['kind'] == 'alloc' and row['size'] == '5001'), 'stack of the string'
points = [row['arguments'] for row in rows if row['kind'] == 'point']
assert points[0].startswith('value=1.5;') and points[1].startswith('value=-7;') and r'a\;b "quoted"\n' in points[0], points

text = open('app.json', encoding='utf-8').read()   # strict: must be UTF-8
trace = json.loads(text)['traceEvents']
phases = Counter(event['ph'] for event in trace)
assert phases['B'] == phases['E'], phases
assert all(event['dur'] >= 0 for event in trace if event['ph'] == 'X')
calls = [event for event in trace if event.get('cat') == 'call']
assert len(calls) == kinds['enter'], (len(calls), kinds)     # every call is drawn, left or not
assert {'main', 'jump()'} <= {event['name'] for event in calls}
assert len([event for event in trace if event.get('cat') == 'point']) == 2
assert phases['C'] >= 1 and phases['M'] >= 1, phases
# Slices of a thread nest: none begins in another and ends behind it.
for tid in {event['tid'] for event in calls}:
    open_until = []
    for event in sorted((e for e in calls if e['tid'] == tid), key=lambda e: (round(e['ts'] * 1000), -round(e['dur'] * 1000))):
        begin, end = round(event['ts'] * 1000), round(event['ts'] * 1000) + round(event['dur'] * 1000)
        while open_until and open_until[-1] <= begin: open_until.pop()
        assert not open_until or end <= open_until[-1], event
        open_until.append(end)
PYTHON

# speedscope's file, checked against its schema: all required and no unknown properties; each thread's calls nest.
penna export speedscope app.penna -o app.speedscope.json
/usr/bin/python3 - <<'PYTHON' || fail "the speedscope file is malformed"
import csv, json
from collections import Counter
file = json.load(open('app.speedscope.json', encoding='utf-8'))
assert set(file) <= {'$schema', 'shared', 'profiles', 'name', 'activeProfileIndex', 'exporter'}, set(file)
assert file['$schema'] == 'https://www.speedscope.app/file-format-schema.json'
frames = file['shared']['frames']
assert all(type(f['name']) is str and set(f) <= {'name', 'file', 'line', 'col'} for f in frames), frames
assert len(frames) < 200, 'a frame is said once'
rows = list(csv.DictReader(open('app.csv', errors='replace', newline='')))
opened, tids = Counter(), []
for profile in file['profiles']:
    assert set(profile) == {'type', 'name', 'unit', 'startValue', 'endValue', 'events'}, set(profile)
    assert profile['type'] == 'evented' and profile['unit'] == 'nanoseconds'
    tids.append(profile['name'].split('(tid ')[-1].rstrip(')'))
    at, stack, own = profile['startValue'], [], []
    for event in profile['events']:
        assert set(event) == {'type', 'frame', 'at'} and type(event['at']) is int
        assert at <= event['at'] <= profile['endValue'], event
        at = event['at']
        if event['type'] == 'O':
            stack.append(event['frame'])
            own.append((str(at), frames[event['frame']]['name']))
        else:
            assert event['type'] == 'C' and stack.pop() == event['frame'], event
    assert not stack
    assert own == [(r['time_ns'], r['name']) for r in rows if r['tid'] == tids[-1] and r['kind'] in ('enter', 'span_begin')]
    opened.update(name for _, name in own)
assert opened == Counter(r['name'] for r in rows if r['kind'] in ('enter', 'span_begin')), opened
assert len(tids) == len(set(tids)) == 2 and any(f.get('file', '').endswith('app.cc') and f['line'] > 0 for f in frames)
PYTHON
penna record -q -k alloc -o none.penna -- ./app
run penna export speedscope none.penna
expect_eq 0 "$status" "status without calls"
expect_contains "$err" "holds no calls"
