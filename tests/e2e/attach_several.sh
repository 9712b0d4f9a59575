#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p of several processes, of programs that they exec, and of the images they become; and its end by penna
# ctl PID stop.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >busy.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "penna/point.h"
int main(int count, char** words) {
  const size_t bytes = count > 1 ? atol(words[1]) : 100;
  for (long round = 0;; ++round) {
    void* volatile block = malloc(bytes);
    free(block);
    PENNA_EVENT(busy, round, round);
    printf("%ld\n", round), fflush(stdout);
    nanosleep(&(struct timespec){0, 1000000}, 0);
  }
}
C
build_c busy
start a.txt ./busy 1111
a=$pid
start b.txt ./busy 2222
b=$pid
start c.txt ./busy 3333
c=$pid
for file in a b c; do await $file.txt '^20$'; done

run penna record -p "$a,$b,$c" -p "$a" -o it.penna --duration 300ms
expect_eq 0 "$status"
expect_match "$err" 'it.penna: .* 3 processes'
expect_match "$err" 'restored [0-9]+ places in [0-9]+ modules?, verified; all threads stopped for at most [0-9.]+ (us|ms|s)$'
penna replay it.penna >events.txt
for bytes in 1111 2222 3333; do expect_match "$(grep -Em1 "malloc\($bytes\)" events.txt || true)" "malloc"; done

# A refused process is reported, and the others are recorded; one that ends does not end the recording.
kill -STOP "$b"
await "/proc/$b/status" '^State:.T'
"$PENNA" record -p "$a,$b,4194305,$c" -f -o it.penna >recorder.txt 2>&1 </dev/null & recorder=$!
started+=("$recorder")
until_true "process a is recorded" penna ctl "$a" on busy:round
until_true "process c is recorded" penna ctl "$c" on busy:round
kill -9 "$a"
wait "$a" 2>/dev/null || true
last=$(tail -n 1 c.txt)
await c.txt "^$((last + 20))\$"
run penna ctl "$c" stop
expect_eq 0 "$status"
status=0
wait "$recorder" || status=$?
kill -CONT "$b"
expect_eq 0 "$status" "status of the recorder"
said=$(<recorder.txt)
expect_contains "$said" "process $b is stopped: resume it first, with: kill -CONT $b"
expect_contains "$said" 'there is no process 4194305'
expect_match "$said" 'it.penna: .* 2 processes'
expect_contains "$said" 'verified'
penna replay it.penna >events.txt
expect_match "$(grep -m1 'malloc(3333)' events.txt || true)" malloc
run penna record -p 4194305,4194306
expect_eq 125 "$status"
expect_eq 2 "$(wc -l <<<"$err")" lines
for wrong in "$c,x" x 0 -1; do
  run penna record -p "$wrong"
  expect_eq 125 "$status" "status of -p $wrong"
done

# penna ctl: points off and on, and stop.
"$PENNA" record -p "$b,$c" -f -o it.penna 2>recorder.txt </dev/null & recorder=$!
started+=("$recorder")
await_served "$c"
run penna ctl "$c" off busy:round
expect_eq 0 "$status"
run penna ctl "$c" on busy:round
expect_eq 0 "$status"
expect_contains "$err" "'busy:round' names 1 site of 1 process: 1 switched on"
run penna ctl "$b" stop
expect_eq 0 "$status"
expect_contains "$err" 'the recording has ended'
penna report alloc it.penna >report.txt # it is complete when penna ctl returns
status=0
wait "$recorder" || status=$?
expect_eq 0 "$status" "status of the recorder"
expect_contains "$(<recorder.txt)" 'verified'
run penna ctl "$b" stop
expect_eq 125 "$status"
await_progress c.txt

# Another recorder that is stopped, and where clients already wait, holds up nobody.
"$PENNA" record -p "$b" -f -o stopped.penna 2>recorder.txt </dev/null & recorder=$!
started+=("$recorder")
await_served "$b"
kill -STOP "$recorder"
for _ in {1..40}; do
  timeout 1 "$PENNA" ctl "$b" on busy:round >/dev/null 2>&1 & asking+=($!)
done
wait "${asking[@]}" || true
run timeout 60 "$PENNA" record -p "$c" -f -o it.penna --duration 100ms
kill -CONT "$recorder"
expect_eq 0 "$status" "$err"
run penna ctl "$b" stop
expect_eq 0 "$status" "$err"
wait "$recorder"

# A command continues, too, and its status becomes ours.
cat >command.sh <<'COMMAND'
while [ ! -e end ]; do sleep 0.02; done
exit 9
COMMAND
"$PENNA" record -q -f -o command.penna -- sh command.sh </dev/null & recorder=$!
started+=("$recorder")
until_true "penna ctl stops it" penna ctl "$recorder" stop
[ -s command.penna ] || fail "no recording"
kill -0 "$recorder" || fail "the recorder of the command ended"
touch end
status=0
wait "$recorder" || status=$?
expect_eq 9 "$status" "status of the command"
run penna ctl "$c" stop now
expect_eq 125 "$status"

# Programs it starts are recorded, with unchanged output and environment, and so are the images it becomes.
build_c starter
start starter.txt ./starter "$work"
await starter.txt '^3$'
"$PENNA" record -p "$pid" -f -o it.penna 2>recorder.txt </dev/null & recorder=$!
started+=("$recorder")
# rounds N: that many more
rounds() {
  until_true "the program makes progress: $(tail -n 3 starter.txt)" has_lines $(($(grep -c . starter.txt) + $1))
}
has_lines() { [ "$(grep -c . starter.txt)" -ge "$1" ]; }
await_served "$recorder"
rounds 3
touch become
await starter.txt became
rounds 3
run penna ctl "$recorder" stop
expect_eq 0 "$status"
status=0
wait "$recorder" || status=$?
expect_eq 0 "$status"
expect_match "$(<recorder.txt)" 'started by exec meanwhile, and not recorded any more'
penna replay it.penna >events.txt
for bytes in 4444 5555 7654; do expect_match "$(grep -m1 "malloc($bytes)" events.txt || true)" malloc; done
expect_match "$(<starter.txt)" became
rounds 3
expect_missing "$(<starter.txt)" WRONG

# A recorder is killed while it waits for another one: what it had started does not attach later.
start idle.txt sleep 60
/usr/bin/python3 - "$PENNA" "$pid" <<'PYTHON' || fail "a killed recorder attaches"
import os, socket, subprocess, sys, time
penna, pid = sys.argv[1:]
turn = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
turn.bind(f'\0penna-surgeon.{pid}')
recorder = subprocess.Popen([penna, 'record', '-p', pid, '-f', '-o', 'killed.penna'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
children = f'/proc/{recorder.pid}/task/{recorder.pid}/children'
surgeons = []
while not surgeons:  # it waits for its turn then
    surgeons = [one for one in open(children).read().split() if open(f'/proc/{one}/comm').read() == 'penna-surgeon\n']
time.sleep(0.2)
recorder.kill(), recorder.wait()
turn.close()
while any(os.path.exists(f'/proc/{one}') for one in surgeons):
    assert 'penna' not in open(f'/proc/{pid}/maps').read()
assert 'penna' not in open(f'/proc/{pid}/maps').read()
PYTHON
