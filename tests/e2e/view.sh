#!/bin/bash
# SPDX-License-Identifier: MIT
# penna view: the page's requests are answered with the numbers of the command line, only to clients that know the
# address, and problems with damaged or empty recordings are reported.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >shop.cc <<'CC'
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include "penna/point.h"
std::mutex ledger;
__attribute__((noinline)) void parse(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string(i);
  PENNA_EVENT(shop, parsed, n, text.size());
}
__attribute__((noinline)) void serve(int n) {
  parse(n);
  std::lock_guard<std::mutex> hold(ledger);
  std::this_thread::sleep_for(std::chrono::microseconds(100));
}
int main() {
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k) threads.emplace_back([k] { for (int i = 0; i < 100; ++i) serve(i + k); });
  for (auto& one : threads) one.join();
}
CC
g++ -O2 -g -std=c++17 -fpatchable-function-entry=5 -I"$PENNA_SOURCE/include" shop.cc -o shop -pthread
penna record -q -o shop.penna ./shop
penna report calls shop.penna --json -n 0 >calls.json
penna report alloc shop.penna --json -n 0 >alloc.json

# serve_page REC: sets $address and $pid.
serve_page() {
  start address.txt "$PENNA" view "$1" --no-open
  await address.txt '^http'
  address=$(head -n 1 address.txt)
}

serve_page shop.penna
expect_match "$address" '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$'
cat >ask.py <<'PYTHON'
import json, sys
from view_client import Client
address = sys.argv[1]
get, ask = Client(address).get, Client(address).ask

# The page, and who gets it.
status, page, headers = get('')
assert status == 200 and b'<!doctype html>' in page[:100].lower(), page[:100]
assert "default-src 'none'" in headers['Content-Security-Policy'] and 'Access-Control-Allow-Origin' not in headers
port = address.split(':')[2].split('/')[0]
assert get('', host='localhost:' + port)[0] == 200
for host in ('evil.example', '127.0.0.1', '127.0.0.1:1', 'localhost:' + port + '.evil.example'):
    assert get('api/summary', host=host)[0] == 403, host
for method in ('POST', 'PUT', 'DELETE', 'OPTIONS'):
    assert get('api/summary', method=method)[0] == 405, method
root = address[:address.index('/', 8) + 1]
for path in ('', 'api/summary', '0' * 32 + '/', address.split('/')[3][:-1] + '/', '../' + address.split('/')[3] + 'x/'):
    assert get(path, base=root)[0] == 404, path
for path in ('x', 'api', 'api/nothing', '../../etc/passwd', 'api/../../x'):
    assert get(path)[0] == 404, path

# What cannot be asked is refused in a sentence.
for question in ('slices', 'slices?thread=99', 'slices?thread=-1', 'slices?thread=0&px=0', 'slices?thread=0&px=10001', 'slices?thread=0&t0=5&t1=5',
                 'slices?thread=0&t0=1e9', 'table', 'table?name=../x', 'table?name=calls&sort=nothing', 'table?name=calls&top=-1',
                 'flame?weight=love', 'find', 'instance?name=x', 'find?q=' + 'x' * 1000):
    status, body, _ = get('api/' + question)
    assert status == 400 and json.loads(body)['error'], (question, status, body)
assert get('api/find?q=' + 'x' * 5000)[0] == 414

# The same numbers as on the command line.
summary = ask('summary')
assert summary['command'] == ['./shop'] and summary['lost'] == 0 and set(summary['kinds']) == {'calls', 'allocations', 'locks', 'points'}
assert summary['missing'] == [] and any('ledger' in one['text'] for one in summary['sentences']), summary
assert {one['key'] for one in ask('tables')['tables']} >= {'calls', 'tree', 'alloc', 'leaks', 'locks', 'waits', 'points', 'health'}
def rows_of(name):
    table = ask(f'table?name={name}&top=0')['tables'][0]
    keys = [column['key'] for column in table['columns']]
    return table['columns'], [dict(zip(keys, row['cells'])) for row in table['rows']]

columns, rows = rows_of('calls')
columns_of_calls = [column['key'] for column in columns]
wanted = json.load(open('calls.json'))['calls']
assert len(rows) == len(wanted) > 2
for row, other in zip(rows, wanted):
    for column in columns:
        if column['kind'] != 'text':
            assert row[column['key']] == other[column['key']], (column, row, other)
by_thread = [sum(row['cells'][0] for row in ask(f'table?name=calls&top=0&thread={thread}')['tables'][0]['rows']) for thread in range(4)]
assert columns_of_calls[0] == 'calls' and sum(by_thread) == sum(row['calls'] for row in wanted) and min(by_thread) > 0, by_thread
status, body, _ = get('api/table?name=health&thread=1')
assert status == 400 and 'all threads' in json.loads(body)['error'], body
# People see stacks without the frames of libraries: rows that read the same are one.
columns, rows = rows_of('alloc')
wanted = json.load(open('alloc.json'))['alloc']
assert 2 < len(rows) <= len(wanted)
for key in ('bytes', 'count', 'live_bytes', 'live_blocks', 'temp'):
    assert sum(row[key] for row in rows) == sum(row[key] for row in wanted), key
some = ask('table?name=calls&sort=calls:asc&top=2')['tables'][0]
assert len(some['rows']) == 2 and some['rows_left_out'] == len(json.load(open('calls.json'))['calls']) - 2

# Each call of each thread is a slice, or in a sum; no time is lost on the way.
threads = ask('threads')['threads']
assert len(threads) == 4 and [one['id'] for one in threads] == [0, 1, 2, 3]
known = ask('names')['names']
total = 0
for thread in threads:
    for px in (1, 37, 1000, 10000):
        view = ask(f'slices?thread={thread["id"]}&px={px}')
        if px == 1:
            count, time = len(view['start']) + sum(view['d_count']), sum(view['duration']) + sum(view['d_time'])
        assert len(view['start']) + sum(view['d_count']) == count, (thread, px)
        assert abs(sum(view['duration']) + sum(view['d_time']) - time) < 1, (thread, px)
        assert len(view['start']) <= (px + 2) * view['density']['depths']
        assert all(known[name] for name in view['name'])
    total += count
assert total == sum(row['calls'] for row in json.load(open('calls.json'))['calls'])
serves = [index for index, name in enumerate(known) if name.startswith('serve(')]
assert len(serves) == 1
slowest = ask(f'instance?name={serves[0]}&slowest=1')
again = ask(f'instance?name={serves[0]}&after={slowest["start_ns"] - 1}&thread={slowest["thread"]}')
assert again == slowest and slowest['duration_ns'] > 0
assert ask(f'instance?name={serves[0]}&after={2**61}') == {}
counters = ask('counters?px=500')
assert sum(counters['calls']) == total and sum(counters['points']) == 300
assert max(counters['live_bytes']) == max(ask('table?name=peak&top=0')['tables'][0]['rows'] and counters['live_bytes'])
points = [ask(f'points?thread={one["id"]}&px=10') for one in threads]
assert sum(sum(one['count']) for one in points) == 300

# Parts add up to the whole, to the byte and the nanosecond.
end, third = summary['duration_ns'] + 1, summary['duration_ns'] // 3
for weight in ('bytes', 'allocations'):
    whole = ask('flame?weight=' + weight)
    assert whole['total'] > 0 and whole['total'] == ask(f'flame?weight={weight}&reverse=1')['total']
    parts = [ask(f'flame?weight={weight}&t0={begin}&t1={stop}')['total'] for begin, stop in ((0, third), (third, 2 * third), (2 * third, end))]
    assert sum(parts) == whole['total'], (weight, parts, whole['total'])
roots = ask('flame?weight=time')
assert abs(sum(roots['self']) + roots['left_out'] - roots['total']) < 1
found = ask('find?q=SERVE')['matches']
assert found[0]['name'].startswith('serve(') and found[0]['count'] == 300, found
assert [one['kind'] for one in ask('find?q=ledger')['matches']] == ['lock']
waits = [ask(f'waits?thread={one["id"]}&px=1000') for one in threads]
assert any(holder >= 0 for one in waits for holder in one['holder'])
print('answered')
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 ask.py "$address"
expect_eq "0 answered" "$status $out" "$err"

# Ctrl-C ends it.
kill -INT "$pid"
status=0
wait "$pid" || status=$?
expect_eq 0 "$status" "status after Ctrl-C"

# A port can be chosen; a port in use is reported.
serve_page shop.penna
port=${address#*:*:} port=${port%%/*}
run timeout 20 "$PENNA" view shop.penna --no-open --port "$port"
expect_eq 125 "$status" "of a port that is taken"
expect_contains "$err" "cannot listen on port $port of 127.0.0.1"
kill -TERM "$pid"
wait "$pid"

# Events filtered out on the command line stay out, whichever part is requested.
read -r begin length < <(penna report threads shop.penna --format csv | awk -F, '{ begin = $4; length_ns = $5 } END { print begin, length_ns }')
half=$((begin + length / 2)) quarter=$((begin + length / 4))
start address.txt "$PENNA" view shop.penna --no-open -r "0-${half}ns"
await address.txt '^http'
cat >range.py <<'PYTHON'
import json, sys, urllib.request
address, half, quarter = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def summed(column, part):
    table = json.load(urllib.request.urlopen(f'{address}api/table?name=calls&top=0{part}'))['tables'][0]
    return sum(row['cells'][column] for row in table['rows'])
whole, sooner, later = summed(0, ''), summed(0, f'&t1={quarter}'), summed(1, f'&t0={half + 1}')
# Calls that were open at the end of -r have no time after it.
assert 0 < sooner <= whole == summed(0, '&t0=0&t1=900000000000') and later == 0, (whole, sooner, later)
PYTHON
run python3 range.py "$(head -n 1 address.txt)" "$half" "$quarter"
expect_eq 0 "$status" "$err"
kill -TERM "$pid"
wait "$pid"

# The address is passed to the browser in a private file, never on a command line; the browser gets the original signal
# settings.
mkdir -p bin run
cat >bin/xdg-open <<'SH'
#!/bin/sh
{ stat -c %a "$1"; cat "$1"; grep SigBlk /proc/self/status; echo done; } >"$OPENED"
SH
chmod 755 bin/xdg-open
start address.txt env PATH="$PWD/bin:$PATH" DISPLAY=:9 XDG_RUNTIME_DIR="$PWD/run" OPENED="$PWD/opened.txt" "$PENNA" view shop.penna
await opened.txt '^done'
expect_eq 600 "$(head -n 1 opened.txt)" "rights of the file that leads to the page"
expect_contains "$(cat opened.txt)" "url=$(head -n 1 address.txt)\""
expect_match "$(cat opened.txt)" '^SigBlk:[[:space:]]+0+$'
expect_missing "$(tr '\0' ' ' <"/proc/$pid/cmdline")" http
kill -TERM "$pid"
wait "$pid"
expect_eq "" "$(ls run)" "files that are left"

# The page as a file: it contains all calls, and loads nothing.
penna export html shop.penna -o one.html
cat >page.py <<'PYTHON'
import base64, json, re, struct, zlib
text = open('one.html').read()
assert text.startswith('<!') and len(text) < 20_000_000
assert "default-src 'none'" in text[:text.index('</head>')] and not re.search(r'(src|href)="?https?:', text)
packed = re.search(r'<script id="penna-data" type="application/octet-stream">([A-Za-z0-9+/=]*)</script>', text).group(1)
plain = zlib.decompress(base64.b64decode(packed, validate=True))
size = struct.unpack_from('<I', plain)[0]
index = json.loads(plain[4:4 + size])
answers = {one['question']: plain[4 + size + one['offset']:][:one['length']] for one in index['answers']}
def column(answer, name):
    length = struct.unpack_from('<I', answer, 4)[0]
    found = next(one for one in json.loads(answer[8:8 + length])['columns'] if one['name'] == name)
    return struct.unpack_from(f'<{found["count"]}{dict(f64="d", u32="I")[found["type"]]}', answer, found['offset'])
wanted = json.load(open('calls.json'))['calls']
slices = [answers[f'slices?px={index["px"]}&thread={thread}'] for thread in range(4)]
assert sum(len(column(one, 'start')) + sum(column(one, 'd_count')) for one in slices) == sum(row['calls'] for row in wanted)
assert len(json.loads(answers['table?name=calls&top=500'])['tables'][0]['rows']) == len(wanted)
names = json.loads(answers['names?from=0'])['names']
assert all(name < len(names) for one in slices for name in column(one, 'name'))
assert json.loads(answers['summary'])['lost'] == 0 and len(column(answers['flame?weight=time'], 'value')) > 2
assert 'ns' in index['note']
PYTHON
run python3 page.py
expect_eq 0 "$status" "$err"

# Empty, damaged, and missing recordings.
penna record -q -k alloc -e none:none -o nothing.penna -- true
serve_page nothing.penna
cat >empty.py <<'PYTHON'
import json, sys, urllib.request
summary = json.load(urllib.request.urlopen(sys.argv[1] + 'api/summary'))
assert {one['kind'] for one in summary['missing']} >= {'calls', 'locks', 'points'}, summary
assert all(one['how'].startswith('penna record') for one in summary['missing'])
PYTHON
run python3 empty.py "$address"
expect_eq 0 "$status" "$err"
kill -TERM "$pid"
wait "$pid"
head -c $(($(stat -c %s shop.penna) * 2 / 3)) shop.penna >torn.penna
serve_page torn.penna
cat >torn.py <<'PYTHON'
import json, sys, urllib.request
summary = json.load(urllib.request.urlopen(sys.argv[1] + 'api/summary'))
assert summary['health']['warnings'], summary
json.load(urllib.request.urlopen(sys.argv[1] + 'api/threads'))
PYTHON
run python3 torn.py "$address"
expect_eq 0 "$status" "$err"
kill -TERM "$pid"
wait "$pid"
echo nothing >text.penna
run timeout 20 "$PENNA" view text.penna --no-open
expect_eq 125 "$status"
expect_contains "$err" 'text.penna'
run timeout 20 "$PENNA" view nowhere.penna --no-open
expect_eq 125 "$status"
echo PASS
