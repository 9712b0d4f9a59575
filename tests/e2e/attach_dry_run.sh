#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p PID --dry-run lists exactly the bytes that recording then changes, and leaves the process unchanged.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >busy.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void* churn(void* none) {
  for (unsigned round = 1;; ++round) {
    free(malloc(100));
    if (round % 4096 == 0) usleep(500);  // the test needs the processors, too
  }
  return none;
}
static void on_signal(int number) { (void)number; }
int main(int count, char** words) {
  signal(SIGUSR1, on_signal);
  pthread_t thread;
  for (int i = 1; i < count; ++i) pthread_create(&thread, 0, churn, 0);
  for (;;) {
    raise(SIGUSR1);  // what its handler ran on stays below the stack, where a copy's own begins
    if (nanosleep(&(struct timespec){0, 20000000}, 0) != 0) return perror("nanosleep"), 1;
    // No child of its own is ever seen.
    if (waitpid(-1, 0, WNOHANG) != -1 || errno != ECHILD) return fputs("a child\n", stderr), 2;
    puts("round"), fflush(stdout);
  }
}
C
build_c busy
state() { cat "/proc/$1/maps"; ls "/proc/$1/fd" "/proc/$1/task"; cat "/proc/$1/task/"*/children; }
# as_said PID LIST LEAST OPTION...: the listed places, at least LEAST of them, are those changed, compared during
# recording.
as_said() {
  penna record -p "$1" -f -o it.penna --duration 10s "${@:4}" >recording.txt 2>&1 & recorder=$!
  python3 - "$1" "$2" "$3" <<'P'
import json, sys, time
pid, name, least = sys.argv[1:]
changes = [c for c in json.load(open(name))['changes'] if c['kind'] == 'code']
memory = open(f'/proc/{pid}/mem', 'rb', buffering=0)
def now(change):
    memory.seek(int(str(change['address']), 0))
    return memory.read(len(change['before']) // 2).hex()
assert len(changes) >= int(least), len(changes)
end = time.monotonic() + 20
# Jumps lead to the agent, which may come to another address than in the copy: the first byte is the instruction.
while True:
    changed = [c for c in changes if now(c) != c['before']]
    if len(changed) == len(changes) or time.monotonic() > end: break
    time.sleep(0.05)
missing = [c['place'] for c in changes if now(c)[:2] != c['after'][:2]]
assert not missing, missing
P
  until_true "penna ctl stops it" penna ctl "$1" stop
  wait "$recorder" || fail "the recorder: $(<recording.txt)"
  expect_match "$(<recording.txt)" verified
  kill -0 "$1" || fail "the program ended: $(<output.txt)"
}
for threads in "" "one two three"; do
  # shellcheck disable=SC2086
  start output.txt ./busy $threads
  await output.txt round
  for way in "record -p $pid --dry-run --json" "list --changes $pid --json"; do
    state "$pid" >before.txt
    # shellcheck disable=SC2086
    run penna $way
    expect_eq 0 "$status" "$way: $err"
    state "$pid" >after.txt
    # Its heap may have grown meanwhile; nothing else is new.
    expect_eq "" "$(diff before.txt after.txt | grep -v 'r[w-].p 00000000 00:00 0 *$' | grep '^[<>] ' || true)" "what is new"
    cp out.txt "${way%% *}.json"
  done
  expect_match "$(<record.json)" '"kind": *"code"'
  run penna record -p "$pid" --dry-run
  expect_match "$out" "Recording process $pid \(busy\) would change [0-9]+ places in [0-9]+ modules?"
  expect_match "$out" 'code +[0-9a-f]+ +[0-9a-f]+ +malloc \[libc'
  as_said "$pid" record.json 31
done

# The same by breakpoints: those make no copies of code.
cp busy.c busy_static.c
build_c busy_static -static
start output.txt ./busy_static one two
await output.txt round
state "$pid" >before.txt
run penna record -p "$pid" --via breakpoint --dry-run --json -F churn
state "$pid" >after.txt
expect_eq 0 "$status" "$err"
expect_eq "" "$(diff before.txt after.txt || true)" "what is new"
cp out.txt record.json
run penna record -p "$pid" --via breakpoint --dry-run -F churn
expect_match "$out" "Recording process $pid \(busy_static\) by breakpoints would change [0-9]+ places in 1 module, and one byte"
expect_match "$out" 'code +[0-9a-f]{2} +cc +churn \[busy_static\]'
as_said "$pid" record.json 10 --via breakpoint -F churn

# A copy has one of the process's threads, and never gets a lock that another one holds: here the dynamic linker's,
# for 400 ms of 408.
cat >slow.c <<'C'
__attribute__((constructor)) static void init(void) { usleep(400000); }
C
gcc -shared -fPIC -D_GNU_SOURCE -include unistd.h slow.c -o slow.so
cat >loads.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void* load(void* path) {
  for (;; usleep(8000)) dlclose(dlopen(path, RTLD_NOW));
}
int main(int count, char** words) {
  pthread_t thread;
  pthread_create(&thread, NULL, load, words[count - 1]);
  for (int round = 0;; ++round, usleep(10000)) printf("%d\n", round), fflush(stdout);
}
C
build_c loads
start lines.txt ./loads ./slow.so
await lines.txt '^3$'
for round in 1 2 3; do
  run penna record -p "$pid" --dry-run
  expect_eq 0 "$status" "a lock that is hardly ever free, $round: $err"
  expect_match "$out" "Recording process $pid \(loads\) would change [0-9]+ places"
done
await_progress lines.txt

run penna record --dry-run -- true
expect_eq 125 "$status" "--dry-run of a command"
run penna record -p $$ --format json
expect_contains "$err" '--format is for --dry-run'
run penna list --changes /bin/true
expect_contains "$err" "'/bin/true' is no PID"
