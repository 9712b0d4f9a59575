#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p PID: allocations, locks, points and maps of a running program, which is restored afterwards.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >busy.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "penna/point.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* volatile early;
static void nap(void) { nanosleep(&(struct timespec){0, 1000000}, 0); }
__attribute__((noinline)) static void* make(size_t bytes) { return malloc(bytes); }
static void* contend(void* none) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    nap();
    pthread_mutex_unlock(&mutex);
    nap();  // or nobody else would ever get it
  }
  return none;
}
int main(void) {
  early = make(4321);
  pthread_t thread;
  pthread_create(&thread, 0, contend, 0);
  for (int round = 0;; ++round) {
    void* volatile block = make(1234);
    void* map = mmap(0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(map, 8192);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    PENNA_EVENT(busy, round, round);
    free(block);
    if (early && access("let_go", F_OK) == 0) free(early), early = 0;
    const pid_t child = round % 20 == 0 ? fork() : 0;
    if (round % 20 == 0 && child == 0) {
      free(make(777));
      _exit(9);
    }
    int status = 9 << 8;
    if (child > 0) waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != 9) return 1;
    if (access("more", F_OK) == 0) dlclose(dlopen("libm.so.6", RTLD_NOW));
    nap();
    printf("%d\n", round), fflush(stdout);
  }
}
C
build_c busy
start output.txt ./busy
await output.txt '^3$'

# Its events are recorded with their locations, including those of children.
touch more
before=$(cat "/proc/$pid/maps" | grep -c 'libc.so.6')
(sleep 0.7; touch let_go) &
run penna record -p "$pid" -o it.penna --duration 1500ms
expect_eq 0 "$status" status
expect_eq "" "$out" "standard output"
expect_match "$err" 'it.penna: .* processes'
expect_contains "$err" '0 lost'
expect_match "$err" 'restored [0-9]+ places in [0-9]+ modules?, verified; all threads stopped for at most [0-9.]+ (us|ms|s)$'
penna report alloc it.penna >alloc.txt
expect_match "$(<alloc.txt)" 'make \(busy.c:'
expect_match "$(<alloc.txt)" '[1-9] frees? of blocks whose allocation was not recorded'
penna replay it.penna >events.txt
for event in 'malloc\(1234\)' 'malloc\(777\)' 'mmap' 'munmap' 'busy:round'; do
  expect_match "$(grep -Em1 "$event" events.txt || true)" "$event"
done
penna report locks it.penna >locks.txt
expect_match "$(<locks.txt)" 'mutex .*(mutex|busy)'
rm more

# Once more, and again: the agent is already loaded. Existing code, threads and descriptors are unchanged.
cat >code.py <<'CODE'
import hashlib, sys
pid = sys.argv[1]
with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
    for line in open(f'/proc/{pid}/maps'):
        place, rights, *_, path = line.split()
        if 'x' in rights and path.startswith('/') and 'penna' not in path:
            start, end = (int(number, 16) for number in place.split('-'))
            memory.seek(start)
            print(path, hashlib.sha256(memory.read(end - start)).hexdigest())
CODE
was=$(/usr/bin/python3 code.py "$pid") threads=$(ls "/proc/$pid/task") descriptors=$(ls "/proc/$pid/fd") maps=$(wc -l <"/proc/$pid/maps")
for round in 1 2 3; do
  run penna record -p "$pid" -f -o again.penna --duration 400ms -k alloc,points
  expect_eq 0 "$status" "status of round $round"
  expect_contains "$err" 'verified'
  penna replay again.penna >events.txt
  expect_match "$(grep -m1 'busy:round' events.txt || true)" 'round'
  expect_match "$(grep -m1 'malloc(1234)' events.txt || true)" 'make'
  expect_eq "$was" "$(/usr/bin/python3 code.py "$pid")" "code after round $round"
  expect_eq "$threads" "$(ls "/proc/$pid/task")" threads
  expect_eq "$descriptors" "$(ls "/proc/$pid/fd")" descriptors
done
[ "$(wc -l <"/proc/$pid/maps")" -le $((maps + 16)) ] || fail "mappings: $maps, now $(wc -l <"/proc/$pid/maps")"

# Waits until its code is changed: the channel of an earlier recording stays mapped.
await_attached() {
  until_true "attached: $(cat ./*.txt)" is_changed
}
is_changed() { [ "$was" != "$(/usr/bin/python3 code.py "$pid")" ]; }
is_left() { ! is_changed && ! grep -q "@penna-surgeon.$pid$" /proc/net/unix; }

# Ctrl-C ends the recording, not the program.
"$PENNA" record -p "$pid" -f -o ended.penna 2>ended.txt </dev/null & recorder=$!
started+=("$recorder")
await_attached
sleep 0.2
run penna record -p "$pid"
expect_eq 125 "$status" "the second recorder"
expect_contains "$err" "process $pid is already being recorded: penna ctl $pid"
kill -INT "$recorder"
status=0
wait "$recorder" || status=$?
expect_eq 0 "$status" "status after SIGINT"
expect_contains "$(<ended.txt)" 'verified'
penna report alloc ended.penna >/dev/null

# A killed recorder leaves nothing behind, either.
for patience in 0.05 0.1 0.3 0.6; do
  "$PENNA" record -p "$pid" -f -q -o killed.penna </dev/null & recorder=$!
  sleep "$patience"
  kill -9 "$recorder"
  wait "$recorder" 2>/dev/null || true
  until_true "the code is restored after a kill" is_left
done
run penna record -p "$pid" -f -o again.penna --duration 200ms
expect_eq 0 "$status" "status after kills"

# The process ends while being recorded.
"$PENNA" record -p "$pid" -f -o last.penna 2>last.txt </dev/null & recorder=$!
started+=("$recorder")
await_attached
sleep 0.2
last=$(tail -n 1 output.txt)
kill -0 "$pid" || fail "the program died: $(tail output.txt)"
[ "$last" -gt 100 ] || fail "the program makes no progress"
kill "$pid"
status=0
wait "$recorder" || status=$?
expect_eq 0 "$status" "status after its end"
expect_match "$(<last.txt)" '0 lost'

# --duration ends the recording of a command, too; the command continues, and its status becomes ours.
run penna record -q -f -o short.penna --duration 100ms -- sh -c 'sleep 0.5; exit 5'
expect_eq 5 "$status" "status of a command that outlives its recording"

# A program that was only just started, and may still be running another image or loading its libraries.
need python3
for patience in 0 0.002 0.005 0.01 0.02 0.03 0.05 0.1; do
  (sleep "$patience"; exec /usr/bin/python3 -c 'while True: list(range(99))') >early.txt 2>&1 & early=$!
  started+=("$early")
  sleep 0.01
  run penna record -p "$early" -f -o early.penna --duration 50ms
  sleep 0.1
  kill -0 "$early" 2>/dev/null || fail "the program died, attached $patience s after its start: $(<early.txt)"
  [ "$status" = 0 ] || expect_contains "$err" "process $early"
  kill "$early"
done
