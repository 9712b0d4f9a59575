#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p PID: reasons against attaching are reported in one sentence, and the process continues unchanged.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need strace musl-tools


# refused PID PART: one sentence containing PART, status 125, no recording; and none of its threads is touched.
refused() {
  local state
  for _ in {1..200}; do # one that still starts has another state in a moment
    grep -q '^State:.R' "/proc/$1/status" 2>/dev/null || break
    sleep 0.01
  done
  state=$(grep -E '^(State|TracerPid|SigBlk|SigPnd)' "/proc/$1/status" 2>/dev/null || true)
  run penna record -p "$1" "${@:3}"
  expect_eq 125 "$status" "status of -p $1"
  expect_eq 1 "$(wc -l <<<"$err")" "lines about $1"
  expect_contains "$err" "$2"
  expect_eq "$state" "$(grep -E '^(State|TracerPid|SigBlk|SigPnd)' "/proc/$1/status" 2>/dev/null || true)" "state of $1"
  [ -z "$(find . -name '*.penna')" ] || fail "a recording of $1"
}

run penna record -p cat
expect_eq 125 "$status"
expect_contains "$err" pid
run penna record -p 0
expect_eq 125 "$status"
run penna record -p 1 -- true
expect_eq 125 "$status"
expect_contains "$err" '-p PID and a command contradict each other: give one of them'
refused 4194305 'there is no process 4194305'

echo 'int pause(void); int main(void) { for (;;) pause(); }' >waits.c
build_c waits
start /dev/null ./waits
usual=$pid
await "/proc/$usual/status" '^State:.S'

cat >threads.c <<'C'
#include <pthread.h>
#include <unistd.h>
static void* wait_on(void* none) { for (;;) pause(); return none; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, wait_on, NULL);
  for (;;) pause();
}
C
build_c threads
start /dev/null ./threads
await "/proc/$pid/status" '^Threads:.2'
thread=$(ls "/proc/$pid/task" | grep -vx "$pid")
refused "$thread" "is a thread of process $pid: use -p $pid"

# One that may not start threads: another limit would not help.
if [ "$(id -u)" = 0 ]; then
  start deadline.txt chrt -d --sched-runtime 5000000 --sched-deadline 10000000 --sched-period 10000000 0 sleep 60
  await "/proc/$pid/comm" sleep
  refused "$pid" "has a deadline scheduler (SCHED_DEADLINE), which forbids a thread for the agent: use --via breakpoint"
fi

# Nothing is left of what the agent is loaded from; breakpoints need neither.
cat >poor.c <<'C'
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
int main(int argc, char** argv) {
  (void)argv;
  const struct rlimit none = {3, 3};
  if (argc == 1 && setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
  if (argc > 1 && chroot(".") != 0 && (unshare(CLONE_NEWUSER) != 0 || chroot(".") != 0)) return 1;
  puts("poor"), fflush(stdout);
  for (;;) pause();
}
C
build_c poor
start lines.txt ./poor
await lines.txt poor
await "/proc/$pid/status" '^State:.S'
refused "$pid" "has no descriptor left for the agent's file: raise its limit (prlimit --pid $pid --nofile), or use --via breakpoint"
start lines.txt ./poor root
await lines.txt poor
await "/proc/$pid/status" '^State:.S'
refused "$pid" "has a root directory without /proc, through which the agent is loaded: use --via breakpoint"
run penna record -f -o poor.penna --via breakpoint -p "$pid" -k alloc --duration 100ms
expect_eq 0 "$status" "status by breakpoints: $err"
rm poor.penna

kill -STOP "$usual"
await "/proc/$usual/status" '^State:.T'
refused "$usual" "kill -CONT $usual"
kill -CONT "$usual"

cat >zombie.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void) {
  const pid_t child = fork();
  if (child == 0) return 0;
  FILE* out = fopen("zombie.pid", "w");
  fprintf(out, "%d\n", child);
  fclose(out);
  for (;;) pause();
}
C
build_c zombie
start /dev/null ./zombie
await zombie.pid .
zombie=$(<zombie.pid)
await "/proc/$zombie/status" '^State:.Z'
refused "$zombie" 'has ended'

start /dev/null strace -o strace.txt ./waits
tracer=$pid
await strace.txt '^pause'
traced=$(pgrep -P "$tracer" -x waits)
started+=("$traced")
refused "$traced" "is already traced by process $tracer" --via inject # without it, by uprobes: uprobes.sh

build_c waits -static -s
start /dev/null ./waits
await "/proc/$pid/maps" waits
refused "$pid" 'statically linked and has no symbols (it was stripped), so it can have no agent' --via inject
musl-gcc waits.c -o waits_musl
start /dev/null ./waits_musl
await "/proc/$pid/maps" waits_musl
refused "$pid" 'uses musl, so it can have no agent' --via inject

# Another user's process.
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$work"
  run setpriv --reuid=65534 --regid=65534 --clear-groups "$PENNA" record -p "$usual"
  expect_eq 125 "$status"
  expect_contains "$err" 'belongs to user root'
  setpriv --reuid=65534 --regid=65534 --clear-groups sleep 60 & other=$!
  started+=("$other")
  await "/proc/$other/comm" sleep
  mkdir -m 777 theirs
  run setpriv --reuid=65534 --regid=65534 --clear-groups "$PENNA" record -p "$other" --duration 50ms -o theirs/own.penna
  [ "$status" = 0 ] || expect_contains "$err" 'ptrace_scope'
fi

# An already recorded process, and the recorder itself.
mkdir recordings
"$PENNA" record -q -k alloc -o recordings/it.penna -- sleep 60 & recorder=$!
started+=("$recorder")
until_true "the command runs" pgrep -P "$recorder" -x sleep
recorded=$(pgrep -P "$recorder" -x sleep)
await "/proc/$recorded/maps" penna-channel
started+=("$recorded")
run penna record -p "$recorded"
expect_eq 125 "$status"
expect_contains "$err" "process $recorded is already being recorded: penna ctl $recorded"
run penna record -p "$recorder"
expect_eq 125 "$status"
expect_contains "$err" "process $recorder is a penna recorder"
kill "$recorded"
wait "$recorder" || true

kill -0 "$usual" || fail "the program died"
