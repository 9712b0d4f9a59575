#!/bin/bash
# SPDX-License-Identifier: MIT
# The reading verbs on one recording: every table in every format, the default of the newest recording, incorrect usage,
# closed pipes.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "penna/point.h"
static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;
char *kept;
static volatile int held;
static void *hold(void *unused) {
  pthread_mutex_lock(&counter_lock);
  held = 1;
  usleep(300000);
  pthread_mutex_unlock(&counter_lock);
  return unused;
}
static void work(int n) {
  PENNA_EVENT(app, work, n, "text");
  kept = malloc(1000 + n);
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, hold, 0);
  while (!held) usleep(1000);
  pthread_mutex_lock(&counter_lock);
  pthread_mutex_unlock(&counter_lock);
  for (int i = 0; i < 3; i++) work(i);
  return pthread_join(thread, 0);
}
PROGRAM
build_c app -finstrument-functions
penna record -q -o old.penna -- true
penna record -q -o app.penna -- ./app

# Each table, with the arguments in either order, in each format.
for table in calls alloc leaks locks waits points threads health; do
  run penna report app.penna $table
  expect_eq 0 "$status" "status of report $table"
  text=$out
  run penna report $table app.penna
  expect_eq "$text" "$out" "report $table with the words swapped"
  penna report $table app.penna --format json | /usr/bin/python3 -c 'import json, sys; assert any(type(v) is list and v for v in json.load(sys.stdin).values())'
  penna report $table app.penna --format csv | /usr/bin/python3 -c 'import csv, sys
rows = list(csv.reader(sys.stdin)); assert len(rows) > 1 and all(len(r) == len(rows[0]) for r in rows), rows'
done
run penna report app.penna
for word in 'work' 'app.c:' 'counter_lock' 'app:work' 'Leaks: ' 'nothing lost'; do expect_contains "$out" "$word"; done
expect_eq "3000 3" "$(penna report app.penna leaks --format csv | grep ',work,' | /usr/bin/python3 -c 'import csv, sys
rows = list(csv.reader(sys.stdin)); print(sum(int(r[0]) for r in rows) - 3, sum(int(r[1]) for r in rows))')" "what work() leaked"
run penna report app.penna calls --sort calls:asc -n 1
expect_match "$out" '^ +1 .*(main|hold)'
expect_contains "$out" "2 more (-n 0 shows all)"

# The newest recording is found, and is this one; other files are not taken for recordings.
touch newer.penna.txt
run penna report points
expect_contains "$out" "app:work"
run penna info
expect_contains "$out" "app.penna"

# The replay: nested, in order; one thread; no more lines than requested.
run penna replay app.penna
expect_match "$out" '^ +[0-9.]+ +[0-9]+  main\(\) \{'
expect_match "$out" '    work\(\) \{'
expect_match "$out" '      point app:work n=2 p?.*"text"'
expect_match "$out" '      malloc\(1002\) = 0x'
expect_match "$out" 'lock counter_lock waited [0-9.]+ ms, held by app \(tid [0-9]+\)'
tid=$(sed -nE 's/.*held by app \(tid ([0-9]+)\).*/\1/p' <<<"$out")
run penna replay app.penna --thread "$tid"
expect_contains "$out" "hold() {"
expect_missing "$out" "main() {"
run penna replay app.penna -n 4
expect_eq 6 "$(wc -l <<<"$out")" "lines of replay -n 4, with two of titles"
run penna replay app.penna --merge
expect_eq "$(tail -n +2 <<<"$out")" "$(tail -n +2 <<<"$out" | sort -s -k1,1n)" "the merged replay, sorted by time"

# Incorrect usage: one sentence, 125, nothing on standard output.
wrong() {
  run penna "$@"
  expect_eq 125 "$status" "status of penna $*"
  expect_eq "" "$out" "output of penna $*"
  expect_eq 1 "$(wc -l <<<"$err")" "lines on stderr of penna $*: $err"
}
wrong report app.penna calls --sort size
expect_contains "$err" "choose from calls, total, self"
wrong report nothing.penna
wrong report app.c
wrong report app.penna more calls
wrong report app.penna --format csv
wrong replay app.penna --thread 1
wrong export app.penna
wrong export csv app.penna -o app.penna
wrong export csv app.penna -o /nowhere/at/all
wrong list
wrong reprot
expect_contains "$err" "penna report"
wrong record
wrong help nothing
mkdir empty && cd empty
wrong report
expect_contains "$err" "penna record"
cd ..

# A recording without events is no error.
penna record -q -k points -o empty.penna -- true
for verb in report "report points" "report leaks" replay info; do
  # shellcheck disable=SC2086
  run penna $verb -i empty.penna
  expect_eq 0 "$status" "status of $verb of an empty recording"
  [ -n "$out" ] || fail "$verb of an empty recording says nothing"
done

# A reader that exits early, and a full disk.
penna replay app.penna | head -n 1 >/dev/null
penna export csv app.penna | head -n 1 >/dev/null
for verb in report replay info "list ./app" "export csv" "export chrome"; do
  status=0
  # shellcheck disable=SC2086
  case $verb in list*) penna $verb >/dev/full 2>err.txt || status=$? ;; *) penna $verb app.penna >/dev/full 2>err.txt || status=$? ;; esac
  expect_eq 125 "$status" "status of $verb on a full disk"
  expect_contains "$(<err.txt)" "No space left"
done
for words in help 'help record --all' 'record --help' --version config 'completion bash' 'report app.penna'; do
  status=0
  # shellcheck disable=SC2086
  penna $words >/dev/full 2>err.txt || status=$?
  expect_eq '125 penna: cannot write to standard output: No space left on device; what is there is incomplete' \
    "$status $(<err.txt)" "penna $words on a full disk"
  status=0
  # shellcheck disable=SC2086
  penna $words >&- 2>err.txt || status=$?
  expect_eq '125 penna: cannot write to standard output: Bad file descriptor; what is there is incomplete' \
    "$status $(<err.txt)" "penna $words without standard output"
done

# A truncated recording can still be read, and every report mentions it.
head -c "$(($(stat -c %s app.penna) - 100))" app.penna >cut.penna
run penna report cut.penna alloc
expect_eq 0 "$status" "status of the report of a cut recording"
expect_match "$out" '(ends|cut|damaged|unfinished|complete)'

# On a terminal: colours, unless NO_COLOR is set; lines no wider than it.
on_terminal() { # ENVIRONMENT COMMAND: its output as a terminal of 60 columns got it
  env $1 script -qec "stty cols 60; $2" /dev/null </dev/null | tr -d '\r'
}
expect_contains "$(on_terminal "-u NO_COLOR -u COLUMNS TERM=xterm" "$PENNA report app.penna alloc --no-progress")" $'\e[1m'
plain=$(on_terminal "NO_COLOR=1 TERM=xterm" "$PENNA report app.penna calls --no-progress")
expect_missing "$plain" $'\e'
[ "$(penna report app.penna alloc --color always | grep -c $'\e')" -gt 0 ] || fail "--color=always has no colours"
awk 'length($0) > 60 && !/calls of/ {exit 1}' <<<"$(on_terminal "NO_COLOR=1 TERM=xterm" "$PENNA report app.penna alloc --no-progress" | grep '^      ')" ||
  fail "frames are wider than the terminal"
