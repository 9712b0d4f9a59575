#!/bin/bash
# SPDX-License-Identifier: MIT
# Requests of the penna view page about parts of a recording: the sums match the report, to the hit, byte and
# nanosecond.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
penna record -q -o orders.penna ./orders 300
penna report points orders.penna --json -n 0 >points.json
penna report alloc orders.penna --json -n 0 >alloc.json
start address.txt "$PENNA" view orders.penna --no-open
await address.txt '^http'
cat >ask.py <<'PYTHON'
import json, sys
from urllib.parse import quote
from view_client import Client
client = Client(sys.argv[1])
ask, refused = client.ask, client.refused
summary = ask('summary')
end = summary['duration_ns'] + 1

# Hits of points: each a row, in time order; conditions and histograms count each once.
points = ask('point_names')['points']
wanted = {row['point']: row['hits'] for row in json.load(open('points.json'))['points']}
assert {one['name']: one['hits'] for one in points} == wanted and wanted['shop:order'] == 300, (points, wanted)
def hits(more=''):
    answer = ask('hits?point=shop:order&top=10000' + more)
    keys = [column['key'] for column in answer['tables'][0]['columns']]
    return answer, [dict(zip(keys, row['cells']), thread_id=row['thread']) for row in answer['tables'][0]['rows']]
answer, rows = hits()
assert len(rows) == 300 and sorted(row['order.number'] for row in rows) == list(range(1, 301))
assert all(one['time_ns'] <= other['time_ns'] for one, other in zip(rows, rows[1:]))
assert {column['key']: column['kind'] for column in answer['tables'][0]['columns']}['order.price'] == 'number'
assert len(hits('&where=' + quote('order.items >= 3'))[1]) == sum(row['order.items'] >= 3 for row in rows)
assert len(hits('&where=' + quote('order.customer ~ "A*" && order.price < 5'))[1]) == sum(
    row['order.customer'].startswith('A') and row['order.price'] < 5 for row in rows)
by_thread = [len(hits(f'&thread={one["id"]}')[1]) for one in ask('threads')['threads']]
assert sum(by_thread) == 300 and max(by_thread) < 300, by_thread
middle = rows[150]['time_ns']
assert [len(hits(f'&t0={t0}&t1={t1}')[1]) for t0, t1 in ((0, middle), (middle, end))] == [150, 150]
few = ask('hits?point=shop:order&top=7&sort=order.number:desc')['tables'][0]
assert [row['cells'][2] for row in few['rows']] == [300 - i for i in range(7)] and few['rows_left_out'] == 293
for column in ('order.number', 'order.price'):
    histogram = ask(f'hits?point=shop:order&histogram={column}&top=1')['histogram']
    assert sum(histogram['counts']) + histogram['others'] == 300 and len(histogram['edges']) == len(histogram['counts']) + 1
    edges = histogram['edges']
    edges[-1] += 1  # the last bar has its upper end
    for low, high, count in zip(edges, edges[1:], histogram['counts']):
        assert count == sum(low <= row[column] < high for row in rows), (column, low, high, count)
    # As the page asks when a bar is clicked: the same hits, with edges to the last digit.
    for bar, count in enumerate(histogram['counts']):
        last = bar + 1 == len(histogram['counts'])
        where = f'{column} >= {edges[bar]!r} && {column} {"<=" if last else "<"} {(edges[bar + 1] - 1 if last else edges[bar + 1])!r}'
        assert len(hits('&where=' + quote(where))[1]) == count, (where, count)
assert len(hits('&where=' + quote('order.price >= 1e-7 && order.price < 1e+21'))[1]) == 300
curve = ask('curve?point=shop:order&argument=order.number&px=500')
assert sum(curve['count']) == 300 and max(value for value in curve['value'] if value == value) == 300

# Blocks: those of a partition add up to all; a row of a table has its own.
def blocks(more=''):
    answer = ask('blocks?top=1000' + more)
    table = answer['tables'][0]
    assert all(answer['lives'][row['life']]['places'][0]['time_ns'] == row['cells'][0] for row in table['rows'])
    return int(table['title'].split()[0]), table['rows'], answer['lives']
count, rows_of_blocks, lives = blocks()
allocations = sum(row['count'] for row in json.load(open('alloc.json'))['alloc'])
assert 0 < count <= allocations and len(rows_of_blocks) == min(count, 1000), (count, allocations)
assert sum(blocks(f'&thread={one["id"]}')[0] for one in ask('threads')['threads']) == count
assert sum(blocks(f'&t0={t0}&t1={t1}')[0] for t0, t1 in ((0, middle), (middle, end))) == count
assert {'allocated', 'freed'} <= {place['what'] for life in lives for place in life['places']}
assert any(life['places'][0].get('stack') for life in lives)
leaks = ask('table?name=leaks&top=0')['tables'][0]
keys = [column['key'] for column in leaks['columns']]
leaked = {row['stack']: row['cells'][keys.index('blocks')] for row in leaks['rows']}
assert 0 < sum(leaked.values()) <= blocks('&leaked=1')[0], leaked  # the report leaves out what libraries keep on purpose
for stack, wanted_blocks in list(leaked.items())[:5]:
    assert blocks(f'&leaked=1&stack={stack}')[0] == wanted_blocks, stack
heap = ask('live_heap?by=function&px=100&series=1')
step = max(range(len(heap['total'])), key=lambda at: heap['total'][at])
assert blocks(f'&instant={int(heap["time"][step])}')[0] > 0
assert blocks(f'&instant={int(heap["time"][step])}&function={quote(heap["series"][0])}')[0] > 0
assert 'COLUMN' in refused('blocks?sort=colour').upper() and refused('blocks?top=0') and refused('blocks?leaked=2')

# What stands out: the numbers of the reports, and the way to each.
stands_out = {one['text'].split(':')[0]: one for one in ask('highlights')['highlights']}
assert set(stands_out) == {'Hottest function', 'Peak memory', 'Longest wait for a lock'} | ({'Largest leak'} & set(stands_out)), stands_out
top = lambda name, sort: ask(f'table?name={name}&top=1&sort={sort}')['tables'][0]
calls = top('calls', 'self_ns')
assert calls['rows'][0]['cells'][[one['key'] for one in calls['columns']].index('function')] .split(' (')[0] in stands_out['Hottest function']['text']
peak = ask(f'live_heap?by=function&px=1&t0={stands_out["Peak memory"]["instant_ns"] - 1}&t1={stands_out["Peak memory"]["instant_ns"]}')
assert peak['total'][0] == ask('flame?weight=peak')['total'], peak
wait = stands_out['Longest wait for a lock']
waits = ask(f'waits?thread={wait["thread"]}&px=10000')
assert wait['duration_ns'] == max(waits['duration']) and wait['start_ns'] in waits['start'] and 'shop::ledger.mutex, held by' in wait['text']

# Live bytes: the parts of each instant add up, and are what a flame graph up to then has, to the byte.
leaks = sum(row['live_bytes'] for row in json.load(open('alloc.json'))['alloc'])
for by in ('function', 'stack'):
    for series in (2, 50):
        heap = ask(f'live_heap?by={by}&px=60&series={series}')
        steps = len(heap['time'])
        assert steps == 60 and len(heap['series']) <= series and len(heap['bytes']) == steps * len(heap['series'])
        for step in range(steps):
            assert sum(heap['bytes'][step::steps]) + heap['rest'][step] == heap['total'][step], (by, step)
for step in (10, 30, 45, 59):
    until = int(heap['time'][step])
    assert ask(f'flame?weight=live&t1={until}')['total'] == heap['total'][step], (step, until)
assert max(heap['total']) == ask('flame?weight=peak')['total'] == max(ask('counters?px=1')['live_bytes'])
assert ask(f'live_heap?by=function&px=7&t0={end - 10}')['total'][-1] == leaks == ask('flame?weight=live')['total'], leaks
by_thread = [ask(f'live_heap?by=function&px=1&t0={end - 1}&thread={one["id"]}')['total'][0] for one in ask('threads')['threads']]
assert sum(by_thread) == leaks, by_thread

# Time order: the same time as of the flame graph, but for rounding; a thread by itself, or each below its name.
called = [row['time_ns'] for row in rows]
for part in ('', '&thread=1', f'&t0={called[100]}&t1={called[200]}'):
    merged, ordered = ask('flame?weight=time' + part), ask('flame?weight=time&time_order=1&px=10000' + part)
    assert abs(merged['total'] - ordered['total']) <= 400 and merged['total'] > 0, (part, merged['total'], ordered['total'])
    assert len(ordered['name']) > (0 if part else 5) and all(parent < at for at, parent in enumerate(ordered['parent']))
apart = ask('flame?weight=time&by_thread=1')
assert abs(apart['total'] - ask('flame?weight=time')['total']) <= 400
known = ask('names')['names']
outer = [known[name] for name, parent in zip(apart['name'], apart['parent']) if parent >= 0 and apart['parent'][parent] == -1]
assert len(outer) >= 2 and all('tid' in name for name in outer), outer

# Several threads at once: what a partition has adds up to the whole, to the byte and the hit.
ids = [one['id'] for one in ask('threads')['threads']]
def of_threads(question):
    parts = [ask(f'{question}&thread={part}') for part in (f'{ids[0]},{ids[2]}', ','.join(str(one) for one in ids[1::2]))]
    return parts + [ask(question)]
one, other, whole = of_threads('flame?weight=bytes')
assert one['total'] + other['total'] == whole['total'] > 0
one, other, whole = (sum(row['cells'][0] for row in answer['tables'][0]['rows']) for answer in of_threads('table?name=calls&top=0'))
assert one + other == whole > 0
one, other, whole = (len(answer['tables'][0]['rows']) for answer in of_threads('hits?point=shop:order&top=1000'))
assert one + other == whole == 300

# Critical paths: pieces without gaps, as long as the parts that the report of the same thread and time has.
for thread in ask('threads')['threads']:
    for part in ('', f'&t0={end // 4}&t1={end // 2}'):
        path = ask(f'critical_path?thread={thread["id"]}{part}')
        pieces = list(zip(path['start'], path['duration']))
        assert path['left_out'] == 0 and all(abs(start + length - after) < 1 for (start, length), (after, _) in zip(pieces, pieces[1:]))
    path = ask(f'critical_path?thread={thread["id"]}')
    table = ask(f'table?name=chains&top=0&thread={thread["id"]}')['tables'][0]
    key = [column['kind'] for column in table['columns']].index('duration')
    told = sum(row['cells'][key] for row in table['rows'])
    assert abs(sum(path['duration']) - told) < 100, (thread, sum(path['duration']), told)
longest = max((ask(f'critical_path?thread={one["id"]}') for one in ask('threads')['threads']), key=lambda path: len(set(path['thread'])))
assert len(set(longest['thread'])) >= 2 and set(longest['what']) <= {0, 1, 2}, longest

# What cannot be asked is refused in a sentence that says what can.
assert 'order.number' in refused('hits?point=shop:order&histogram=order.customer')
assert 'it has order.number' in refused('hits?point=shop:order&where=' + quote('price > 3'))
assert 'expected' in refused('hits?point=shop:order&where=' + quote('order.price >'))
assert 'no numbers' in refused('curve?point=shop:order&argument=nothing')
for question in ('critical_path', 'critical_path?thread=0,1', 'critical_path?thread=77',
                 'diff?of=calls', 'flame?weight=time&compare=1',
                 'table?name=calls&thread=0,', 'table?name=calls&thread=0,99', 'slices?thread=0,1', 'flame?weight=time&thread=x',
                 'flame?weight=bytes&time_order=1', 'flame?weight=time&time_order=1&reverse=1', 'flame?weight=time&by_thread=7',
                 'flame?weight=hold&by_thread=1',
                 'live_heap', 'live_heap?by=love', 'live_heap?by=stack&px=1001', 'live_heap?by=stack&series=51',
                 'hits?point=shop:order&top=0', 'hits?point=' + 'x' * 501, 'hits?point=shop:order&t0=-1', 'curve?point=x&argument=y&px=0',
                 'hits?point=shop:order&sort=nothing', 'hits?point=shop:order&thread=99'):
    assert refused(question)
assert ask('hits?point=no:such')['tables'][0]['rows'] == []
print('answered')
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 ask.py "$(head -n 1 address.txt)"
expect_eq "0 answered" "$status $out" "$err"

# Compared with another recording: the tables of penna diff, and both sides of the flame graph.
penna record -q -o more.penna ./orders 400
start compared.txt "$PENNA" view orders.penna more.penna --no-open
await compared.txt '^http'
for of in calls alloc leaks locks; do penna diff orders.penna more.penna --of "$of" --json -n 0 >"diff.$of.json"; done
cat >compare.py <<'PYTHON'
import json, sys
from view_client import Client
client = Client(sys.argv[1])
ask = client.ask
summary = ask('summary')
assert summary['recording'].endswith('more.penna') and summary['compared_with'] == 'orders.penna', summary
for of in ('calls', 'alloc', 'leaks', 'locks'):
    table = ask(f'diff?of={of}&top=0')['tables'][0]
    told = json.load(open(f'diff.{of}.json'))
    wanted = next(rows for key, rows in told.items() if isinstance(rows, list) and rows and isinstance(rows[0], dict))
    keys = [column['key'] for column in table['columns']]
    if of == 'calls':
        rows = [dict(zip(keys, row['cells']), quiet=int(row.get('quiet', False))) for row in table['rows']]
        shared = [key for key in (*keys, 'quiet') if key in wanted[0]]
        assert len(shared) > 5, (keys, list(wanted[0]))
        assert [[row[key] for key in shared] for row in rows] == [[row[key] for key in shared] for row in wanted]
    assert table['rows'], of
for weight in ('time', 'calls', 'bytes'):
    graph = ask(f'flame?weight={weight}&compare=1')
    assert graph['total'] == ask(f'flame?weight={weight}')['total'] and graph['total_before'] > 0
    assert len(graph['before']) == len(graph['value'])
calls = ask('flame?weight=calls&compare=1')
assert calls['total_before'] == sum(row['calls'] for row in json.load(open('calls.json'))['calls'])
assert len(ask('diff?of=calls&top=2&sort=function:asc')['tables'][0]['rows']) == 2
for question in ('diff', 'diff?of=love', 'diff?of=calls&sort=nothing', 'flame?weight=time&compare=2'):
    assert client.refused(question)
print('compared')
PYTHON
penna report calls orders.penna --json -n 0 >calls.json
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 compare.py "$(head -n 1 compared.txt)"
expect_eq "0 compared" "$status $out" "$err"
run timeout 20 "$PENNA" view nowhere.penna more.penna --no-open
expect_eq 125 "$status" "of a recording to compare with that is not there"
expect_contains "$err" nowhere.penna
run timeout 20 "$PENNA" view orders.penna orders.penna more.penna --no-open
expect_eq 125 "$status" "of three recordings"
expect_contains "$err" "or two to compare them"

# The page as a file has the hits, too.
penna export html orders.penna -o one.html
cat >hits.py <<'PYTHON'
import base64, json, re, struct, zlib
packed = re.search(r'<script id="penna-data"[^>]*>([A-Za-z0-9+/=]*)</script>', open('one.html').read()).group(1)
plain = zlib.decompress(base64.b64decode(packed, validate=True))
size = struct.unpack_from('<I', plain)[0]
answers = {one['question']: plain[4 + size + one['offset']:][:one['length']] for one in json.loads(plain[4:4 + size])['answers']}
assert len(json.loads(answers['hits?point=shop:order&top=500'])['tables'][0]['rows']) == 300
assert 'shop:order' in answers['point_names'].decode()
blocks = json.loads(answers['blocks?top=1000'])
assert len(blocks['lives']) == len(blocks['tables'][0]['rows']) > 0
assert not any(question.startswith('source') for question in answers)
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 hits.py
expect_eq 0 "$status" "$err"

# Source files, when they are wanted: only of the directories that may be shown, and it is told what is not there.
printf '</script><img src=x onerror=alert(1)>\n' >>orders.cc
mkdir elsewhere
run penna export html --embed-source orders.penna -o sources.html
expect_eq 0 "$status" "$err"
expect_match "$err" 'the text of [12] of [0-9]+ source files is in the page; [0-9]+ may not be shown or cannot be read \(--source-dir DIR\), only their costs are'
run penna export html --embed-source --source-dir elsewhere orders.penna -o none.html
expect_match "$err" 'the text of 0 of [0-9]+ source files is in the page'
cat >sources.py <<'PYTHON'
import base64, json, re, struct, zlib
def read(path):
    text = open(path).read()
    assert 'onerror=alert' not in text
    plain = zlib.decompress(base64.b64decode(re.search(r'<script id="penna-data"[^>]*>([A-Za-z0-9+/=]*)</script>', text).group(1)))
    size = struct.unpack_from('<I', plain)[0]
    index = json.loads(plain[4:4 + size])
    return index['note'], {one['question']: plain[4 + size + one['offset']:][:one['length']] for one in index['answers']}
note, answers = read('sources.html')
assert 'source files is in the page; ' in note, note
file = next(one['file'] for one in json.loads(answers['sources'])['files'] if one['file'].endswith('/orders.cc'))
source = json.loads(answers[f'source?file={file}'])
assert source['lines'] == open('orders.cc').read().split('\n')[:-1] and source['costs'] and 'changed' in source['problem'], source['problem']
for note, answers in (read('none.html'),):
    source = json.loads(answers[f'source?file={file}'])
    assert source['lines'] == [] and source['costs'] and '--source-dir' in source['problem']
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 sources.py
expect_eq 0 "$status" "$err"
run penna export csv --embed-source orders.penna -o none.csv
expect_eq 125 "$status" "exit status of --embed-source with another format"
run penna export html --source-dir elsewhere orders.penna -o none.html
expect_eq 125 "$status" "exit status of --source-dir alone"

# What stands out names everything, also in a recording in which stacks are missing.
start damaged.txt "$PENNA" view "$PENNA_SOURCE/tests/golden/recording-v3-chunks.penna" --no-open
await damaged.txt '^http'
cat >damaged.py <<'PYTHON'
import sys
from view_client import Client
texts = [one['text'] for one in Client(sys.argv[1]).ask('highlights')['highlights']]
assert any('allocated by [unknown], the first' in text for text in texts), texts
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 damaged.py "$(grep '^http' damaged.txt)"
expect_eq 0 "$status" "questions about a damaged recording: $err"
echo PASS
