#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record --view: the page grows while the program runs, a point is switched from it, stop ends the recording, and the page goes on
# with all of it; requests that change something are for the page alone.
. "$(dirname "$0")/common.sh"

need chromium
command -v node >/dev/null || need nodejs
npm_packages playwright-core@1.65.1
cat >steady.c <<'PROGRAM'
// Does a little of everything until its file is gone: calls, a block that grows, a point; and says what it should.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "penna/point.h"
static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void step(long round) {
  PENNA_EVENT(steady, round, round);
  void *volatile kept = malloc(1000);
  (void)kept;
  usleep(5000);
}
static void *other(void *file) {
  while (access(file, F_OK) == 0) {
    pthread_mutex_lock(&ledger);
    usleep(2000);
    pthread_mutex_unlock(&ledger);
  }
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t thread;
  pthread_create(&thread, NULL, other, argv[argc - 1]);
  for (long round = 0; access(argv[argc - 1], F_OK) == 0; ++round) step(round);
  pthread_join(thread, NULL);
  puts("all rounds done");
  return 7;
}
PROGRAM
cc -O1 -g -finstrument-functions -I"$PENNA_SOURCE/include" steady.c -o steady -pthread
# begin OPTION...: leaves $recorder.
begin() {
  touch go
  : >steady.out
  : >steady.err # what it said before is not to be waited for
  "$PENNA" record "$@" ./steady go >steady.out 2>steady.err &
  recorder=$!
  started+=("$recorder")
}
# end SIGNAL
end() {
  kill -s "$1" "$recorder"
  ended=0
  wait "$recorder" || ended=$?
}
address_in() { await "$1" '^http'; grep -Eo 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/' "$1" | head -n 1; }

# In a browser: it grows, a point is switched off and on, and the end comes.
begin --view --no-open -o steady.penna
address=$(address_in steady.err)
run env NODE_MODULES="$modules" node "$PENNA_SOURCE/tests/view/served_live.mjs" "$address" "$PWD/go"
expect_eq 0 "$status" "exit status of the page's test: $err"
await steady.out 'all rounds done'
expect_eq "all rounds done" "$(cat steady.out)" "the program's output is its own"
await steady.err 'the page shows the recording until Ctrl-C'
end TERM
expect_eq 7 "$ended" "exit status of the program"
run penna report points steady.penna
expect_contains "$out" "steady:round"
run penna info steady.penna
expect_contains "$out$err" "points 'steady:round' were switched off while all processes ran"
run penna report health steady.penna
expect_match "$out" 'calls were switched off after'
expect_match "$out" 'calls were switched on again after'

# Attached: the same page; at the end the program goes on, as it was before.
touch go
./steady go >attached.out &
program=$!
started+=("$program")
"$PENNA" record -p "$program" --view --no-open -k alloc,locks,points -o attached.penna 2>attached.err &
recorder=$!
started+=("$recorder")
address=$(address_in attached.err)
cat >attached.py <<'PYTHON'
import json, sys, time, urllib.request
from view_client import Client
address = sys.argv[1]
client = Client(address)
assert client.ask('summary?now=1')['growing'] is True
for _ in range(600):
    events = client.ask('summary?now=1')['events']
    if events['allocations'] > 10 and events['points'] > 10:
        break
    time.sleep(0.1)
assert events['allocations'] > 10 and events['points'] > 10 and events['calls'] == 0, events
assert [one['name'] for one in client.ask('controls')['kinds']] == ['alloc', 'locks']
request = urllib.request.Request(address + 'act/stop', method='POST', headers={'Origin': address[:address.index('/', 8)]})
assert json.loads(urllib.request.urlopen(request, timeout=60).read())['done'] == 'the recording has ended'
for _ in range(600):
    if 'growing' not in client.ask('summary'):
        break
    time.sleep(0.1)
else:
    raise AssertionError('the page does not know of the end')
assert client.ask('table?name=alloc')['tables'][0]['rows']
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 attached.py "$address"
expect_eq 0 "$status" "exit status of the questions about what was attached to: $err"
[ -d "/proc/$program" ] || fail "the program that was attached to has ended"
rm go
wait "$program" || ended=$?
expect_eq 7 "$ended" "exit status of the program that was attached to"
expect_eq "all rounds done" "$(cat attached.out)" "its output"
await attached.err 'the page shows the recording until Ctrl-C'
end INT
expect_eq 0 "$ended" "exit status of the recorder"

# Without a browser: who may ask for a change, and stop.
begin --view --no-open -o stopped.penna
address=$(address_in steady.err)
cat >ask.py <<'PYTHON'
import json, sys, time, urllib.error, urllib.request
from view_client import Client
address, origin = sys.argv[1], sys.argv[1][:sys.argv[1].index('/', 8)]
client = Client(address)

def post(path, origin=origin, host=None, base=address):
    headers = {name: value for name, value in (('Origin', origin), ('Host', host)) if value is not None}
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, method='POST', headers=headers), timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()

summary = client.ask('summary?now=1')
assert summary['growing'] is True, summary
switch = 'act/points?pattern=steady:*&on=0'
for wrong in (None, 'null', 'http://evil.example', 'https' + origin[4:], origin + '1', origin + '.evil.example'):
    assert post(switch, wrong)[0] == 403, wrong
assert post(switch, host='evil.example')[0] == 403
assert post(switch, base=origin + '/' + '0' * 32 + '/')[0] == 404
assert client.get(switch)[0] == 404 and client.get(switch, method='PUT')[0] == 405
assert post('api/summary')[0] == 405
assert post('act/points?pattern=a%20b&on=1')[0] == 400 and post('act/points?pattern=*&on=2')[0] == 400 and post('act/nothing')[0] == 404
assert post('act/kinds?kind=points&on=0')[0] == 400 and post('act/kinds?kind=love&on=0')[0] == 400 and post('act/kinds?kind=calls&on=2')[0] == 400
assert post('act/kinds?kind=alloc&on=0', 'http://evil.example')[0] == 403
kinds = client.ask('controls')['kinds']
assert [(one['name'], one['on']) for one in kinds] == [('calls', True), ('alloc', True), ('locks', True)], kinds
assert post('act/kinds?kind=alloc&on=0') == (200, {'done': 'alloc switched off'})
assert [one['on'] for one in client.ask('controls')['kinds']] == [True, False, True]
points = client.ask('controls')['points']
assert [(one['name'], one['on']) for one in points] == [('steady:round', True)], points
status, done = post(switch)
assert (status, done['done']) == (200, '1 of 1 switched off'), done
assert [one['on'] for one in client.ask('controls')['points']] == [False]
status, refused = post('act/snapshot')
assert status == 400 and 'record --keep' in refused, refused
# The same numbers are told again and again, and grow.
with urllib.request.urlopen(address + 'events', timeout=120) as events:
    told = [json.loads(line[6:]) for line in (events.readline().decode() for _ in range(40)) if line.startswith('data: ')]
assert len(told) > 3 and told[-1]['duration_ns'] > told[0]['duration_ns'] and told[-1]['events']['calls'] > 0, told
threads = client.ask('threads')['threads']
assert len(threads) == 2, threads
main = next(one for one in threads if one['calls'] > 10)
slices = client.ask(f'slices?thread={main["id"]}&t0=0&t1={told[-1]["duration_ns"]}&px=100')
assert 2 in slices['flags'], 'main() is open: its end is not known'
counters = client.ask(f'counters?t0=0&t1={told[-1]["duration_ns"]}&px=50')
assert max(counters['live_bytes']) >= 1000 and sum(counters['calls']) > 0, counters
calls = client.ask('table?name=calls')['tables'][0]
assert any('step' in str(row['cells']) for row in calls['rows']), calls
status, done = post('act/stop')
assert status == 200, done
for _ in range(100):
    summary = client.ask('summary')
    if 'growing' not in summary:
        break
    time.sleep(0.1)
assert 'growing' not in summary and not summary['pending'], summary
after = {one['id']: (one['tid'], one['name']) for one in client.ask('threads')['threads']}
assert all(after[one['id']] == (one['tid'], one['name']) for one in threads), (threads, after)
assert post(switch)[0] == 400
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 ask.py "$address"
expect_eq 0 "$status" "exit status of the questions: $err"
rm go  # the program, which went on unrecorded, ends
await steady.err 'the page shows the recording until Ctrl-C'
expect_eq "all rounds done" "$(cat steady.out)" "the program's output"
end INT
expect_eq 7 "$ended" "exit status of the program that went on"

# A recorder that could not finish the file has ended, too, although it goes on to show the page.
cat >limited.sh <<'SCRIPT'
ulimit -Sf 60
exec "$@"
SCRIPT
touch go
bash limited.sh "$PENNA" record --view --no-open -o limited.penna -- bash -c 'ulimit -Sf unlimited; exec ./steady go' >limited.out 2>limited.err &
recorder=$!
started+=("$recorder")
address=$(address_in limited.err)
is_full() { [ "$(stat -c %s limited.penna)" -ge 60000 ]; }
until_true "the file has reached its limit" is_full
rm go
await limited.err 'cannot finish limited.penna'
cat >limited.py <<'PYTHON'
import sys, time
from view_client import Client
client = Client(sys.argv[1])
for _ in range(200):
    summary = client.ask('summary?now=1')
    if 'growing' not in summary:
        break
    time.sleep(0.1)
else:
    raise AssertionError('the page does not know of the end')
assert summary['lost'] > 0, summary
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 limited.py "$address"
expect_eq 0 "$status" "exit status of the questions about what could not be finished: $err"
end INT
expect_eq 7 "$ended" "exit status of the recorder that could not finish"

# A file that was deleted meanwhile: the recording has ended all the same.
begin --view --no-open -o gone.penna
address=$(address_in steady.err)
rm gone.penna go
await steady.err 'the page shows the recording until Ctrl-C'
cat >gone.py <<'PYTHON'
import json, sys, urllib.request
from view_client import Client
with urllib.request.urlopen(sys.argv[1] + 'events', timeout=120) as events:
    while not (told := json.loads(next(line[6:] for line in events if line.startswith(b'data: ')))).get('error'):
        assert told['growing'] is True, told
assert told['growing'] is False and 'gone.penna' in told['error'], told
assert 'growing' not in Client(sys.argv[1]).ask('summary?now=1')
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 gone.py "$address"
expect_eq 0 "$status" "exit status of the questions about a file that is gone: $err"
end INT
expect_eq 7 "$ended" "exit status of the recorder whose file is gone"

# penna view of a recording that is written follows it, too; and what was kept is stored at a snapshot.
begin -q --keep 8 -o kept.penna
until_true "the recording has begun" test -s kept.penna
start view.txt "$PENNA" view kept.penna --no-open
address=$(address_in view.txt)
cat >kept.py <<'PYTHON'
import json, sys, time, urllib.request
from view_client import Client
address = sys.argv[1]
client = Client(address)
assert client.ask('summary?now=1')['growing'] is True
request = urllib.request.Request(address + 'act/snapshot', method='POST', headers={'Origin': address[:address.index('/', 8)]})
for _ in range(200):
    urllib.request.urlopen(request, timeout=120).read()
    time.sleep(0.1)
    if client.ask('summary?now=1')['events']['calls'] > 0:
        break
else:
    raise AssertionError('no snapshot came')
PYTHON
run env PYTHONPATH="$PENNA_SOURCE/tests/e2e" python3 kept.py "$address"
expect_eq 0 "$status" "exit status of the snapshot: $err"
run penna ctl "$recorder" snapshot
expect_eq 0 "$status" "exit status of ctl snapshot: $err"
rm go
ended=0
wait "$recorder" || ended=$?
expect_eq 7 "$ended" "exit status"
run penna record --no-open ./steady go
expect_eq 125 "$status" "exit status of --no-open alone"
expect_contains "$err" "--no-open is for --view"
