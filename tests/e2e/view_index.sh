#!/bin/bash
# SPDX-License-Identifier: MIT
# penna view of a large recording: its index is built once, beside it, using little memory; it contains every call; and
# if it cannot be stored there, or is damaged, the page has the same numbers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export XDG_CACHE_HOME=$PWD/cache

cat >busy.c <<'C'
#include <pthread.h>
#include <stdio.h>
static volatile unsigned sum;
void leaf(unsigned n) { sum += n; }
void step(unsigned n) { for (unsigned i = 0; i < 3 + n % 4; ++i) leaf(i); }
void round_of(unsigned n) { for (unsigned i = 0; i < 200; ++i) step(n + i); }
void *work(void *count) {
  for (unsigned long n = 0; n < (unsigned long)count; ++n) round_of((unsigned)n);
  return NULL;
}
int main(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, work, (void *)2200UL) != 0) return 1;
  work((void *)4400UL);
  return pthread_join(other, NULL);
}
C
build_c busy -O1 -finstrument-functions
run penna record -o busy.penna -k calls ./busy
expect_eq 0 "$status" "exit status of record: $err"
penna report calls busy.penna --json -n 0 >calls.json

cat >ask.py <<'PYTHON'
import json, struct, sys, time, urllib.request
address, pid, is_first, is_told = sys.argv[1], sys.argv[2], 'first' in sys.argv[3:], 'told' in sys.argv[3:]
TYPES = {'f64': 'd', 'u32': 'I', 'u8': 'B'}
def ask(question):
    body = urllib.request.urlopen(address + 'api/' + question, timeout=100).read()
    if body[:4] != b'PNV1':
        return json.loads(body)
    length = struct.unpack_from('<I', body, 4)[0]
    header = json.loads(body[8:8 + length])
    for column in header.pop('columns'):
        header[column['name']] = struct.unpack_from(f'<{column["count"]}{TYPES[column["type"]]}', body, column['offset'])
    return header
def in_view(thread, px, part=''):
    view = ask(f'slices?thread={thread}&px={px}{part}')
    assert view['left_out'] == 0
    begin = int(part.split('t0=')[1].split('&')[0]) if part else 0
    return sum(start >= begin for start in view['start']) + sum(view['d_count'])

now = ask('summary?now=1')
assert now['pending'] is not is_told and now['threads'] == 2, now
# What only reading all of it gave is told at once at the next start.
assert now['sentences'] == [] if not is_told else [now[key] for key in ('sentences', 'health')] + [ask('highlights')] == json.load(open('told.json')), now
assert ask('tables')['tables'] and ask('index')['of'] > 4_000_000
threads = ask('threads')['threads']
assert ask('index')['ready']
end, calls = now['duration_ns'] + 1, {row['function']: row['calls'] for row in json.load(open('calls.json'))['calls']}
total = 0
for thread in threads:
    whole = in_view(thread['id'], 1000)
    total += whole
    assert whole == in_view(thread['id'], 1)
    assert not is_first or whole == in_view(thread['id'], 8192)
    cuts = [0, end // 7, end // 7 + 100_000, end // 2, end]
    parts = [in_view(thread['id'], 500, f'&t0={t0}&t1={t1}') for t0, t1 in zip(cuts, cuts[1:])]
    assert sum(parts) == whole, (parts, whole)
assert total == sum(calls.values()) > 4_000_000, (total, calls)
assert sum(ask('counters?px=300')['calls']) == total
found = {one['name'].split('(')[0]: one for one in ask('find?q=e')['matches'] if one['kind'] == 'function'}
assert found['leaf']['count'] == next(count for name, count in calls.items() if name.startswith('leaf')), found
rounds = ask('find?q=ROUND_of')['matches'][0]
assert rounds['count'] == 6600, rounds
longest = ask(f'instance?name={rounds["id"]}')
assert longest == ask(f'instance?name={rounds["id"]}&after={longest["start_ns"] - 1}&thread={longest["thread"]}')
if is_first:
    whole = ask('summary')
    assert not whole['pending'] and whole['sentences']
    json.dump([whole['sentences'], whole['health'], ask('highlights')], open('told.json', 'w'))
most = next(int(line.split()[1]) for line in open(f'/proc/{pid}/status') if line.startswith('VmHWM'))
assert most < 250_000, f'{most} kB of memory'  # in memory, the calls alone would take twice that
print('answered', total)
PYTHON

# serve RECORDING [WANTED]: requests all calls, and the first time more; its stderr is in $said.
serve() {
  start address.txt "$PENNA" view "$1" --no-open "${options[@]}"
  await address.txt '^http'
  run python3 ask.py "$(grep -m 1 '^http' address.txt)" "$pid" ${first:+first} ${told:+told}
  expect_match "$status $out" "^0 answered ${2:-}" "$err"
  kill -TERM "$pid"
  wait "$pid" || true
  said=$(cat address.txt)
}
options=()
first=yes
told=
serve busy.penna
first=
told=yes
calls=${out#answered }
expect_eq 600 "$(stat -c %a busy.penna.view)" "rights of the index"
expect_eq "" "$(ls cache 2>/dev/null)"
(($(stat -c %s busy.penna.view) < calls / 5)) || fail "the index is large: $(stat -c %s busy.penna.view) bytes for $calls calls"

# It is reused the next time; a damaged one, or that of another recording, is rebuilt.
before=$(stat -c %i busy.penna.view)
serve busy.penna "$calls"
expect_eq "$before" "$(stat -c %i busy.penna.view)" "the index that was there"
options=(--demangle full)  # names may be others
told=
serve busy.penna "$calls"
options=()
told=yes
size=$(stat -c %s busy.penna.view)
dd if=/dev/urandom of=busy.penna.view bs=1 seek=$((size / 3)) count=5000 conv=notrunc status=none
serve busy.penna "$calls"
serve busy.penna "$calls"
told=
truncate -s $((size / 2)) busy.penna.view
serve busy.penna "$calls"
penna record -q -o other.penna -k calls ./busy
cp busy.penna.view other.penna.view
serve other.penna "$calls"
cmp -s busy.penna.view other.penna.view && fail "the index of another recording was taken"

# If it cannot be stored beside the recording, it is in the cache, and this is reported.
rm busy.penna.view
mkdir busy.penna.view
serve busy.penna "$calls"
expect_contains "$said" "busy.penna.view is there, and no index of yours: the index is $PWD/cache/penna/"
expect_eq 1 "$(find cache/penna -name '*.view' | wc -l)" "indexes in the cache"
rmdir busy.penna.view

# The page as a file contains the same.
penna export html busy.penna -o one.html
cat >page.py <<'PYTHON'
import base64, json, re, struct, sys, zlib
packed = re.search(r'<script id="penna-data" type="application/octet-stream">([A-Za-z0-9+/=]*)</script>', open('one.html').read()).group(1)
plain = zlib.decompress(base64.b64decode(packed))
size = struct.unpack_from('<I', plain)[0]
index = json.loads(plain[4:4 + size])
total = 0
for one in index['answers']:
    if one['question'].startswith('slices'):
        answer = plain[4 + size + one['offset']:][:one['length']]
        length = struct.unpack_from('<I', answer, 4)[0]
        columns = {c['name']: c for c in json.loads(answer[8:8 + length])['columns']}
        total += columns['start']['count'] + sum(struct.unpack_from(f'<{columns["d_count"]["count"]}I', answer, columns['d_count']['offset']))
assert total == int(sys.argv[1]), total
PYTHON
run python3 page.py "$calls"
expect_eq 0 "$status" "$err"

# Ctrl-C while it is being built leaves no partial file.
rm -rf cache busy.penna.view
start address.txt "$PENNA" view busy.penna --no-open
await address.txt '^http'
kill -INT "$pid"
status=0
wait "$pid" || status=$?
expect_eq 0 "$status" "status after Ctrl-C"
expect_eq "" "$(find . -name 'busy.penna*' ! -name busy.penna ! -name busy.penna.view)" "files that are left"
echo PASS
