#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p of a program that forks all the time, also while the recording ends: nothing deadlocks, and the
# children, including those that the recorder never connected to, have their original code.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
session=
trap 'status=$?; [ -z "$session" ] || pkill -9 -s "$session" || true; cd /; rm -rf "$work"; exit $status' EXIT

cat >forks.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int x) { __asm__ volatile(""); return x * 3 + 1; }
static void* fork_always(void* argument) {
  (void)argument;
  for (long round = 0;; ++round) {
    free(malloc(100 + leaf(1)));
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 30; ++i) leaf(i), free(malloc(1000)), usleep(20000);
      _exit(0);
    }
    if (round == 20) printf("forks\n"), fflush(stdout);
    usleep(3000);
    while (waitpid(-1, 0, WNOHANG) > 0) {
    }
  }
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, fork_always, 0);
  fork_always(0);
}
C
build_c forks
cp forks.c forks_static.c
build_c forks_static -static

# The code of each process of the session in PROGRAM and libc, compared with the files: of at least six mappings, some of
# them of children.
cat >code.py <<'PYTHON'
import os, sys, time
session, compared, children = int(sys.argv[1]), 0, set()
def processes():
    end = time.monotonic() + 60
    while (compared < 6 or not children) and time.monotonic() < end:
        yield from filter(str.isdigit, os.listdir('/proc'))
for pid in processes():
    try:
        if os.getsid(int(pid)) != session: continue
        with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'rb', 0) as memory:
            for line in maps:
                place, rights, offset, _, _, *path = line.split()
                if 'x' not in rights or not path or not ('forks' in path[0] or 'libc.so' in path[0]): continue
                start, end = (int(number, 16) for number in place.split('-'))
                memory.seek(start)
                inside = memory.read(end - start)
                with open(path[0], 'rb') as file:
                    file.seek(int(offset, 16))
                    outside = file.read(end - start)
                if not inside: continue  # it has just ended
                assert inside == outside[:len(inside)], f'process {pid}: code of {path[0]} is changed'
                compared += 1
                if int(pid) != session: children.add(pid)
    except OSError:
        pass  # it has ended
assert compared >= 6 and children, compared
PYTHON

for way in forks forks_static 'forks_static --via breakpoint'; do
  read -ra options <<<"$way"
  program=${options[0]}
  # With breakpoints it is stopped repeatedly, and that time is not reported.
  told='; all threads stopped for at most [0-9.]+ (us|ms|s)'
  case $way in *breakpoint) told= ;; esac
  setsid ./$program >$program.txt 2>&1 </dev/null &
  session=$!
  disown
  await $program.txt forks
  for round in 1 2 3; do
    run timeout 100 "$PENNA" record "${options[@]:1}" -p "$session" -f -o it.penna --duration 100ms -F leaf -k calls,alloc
    expect_eq 0 "$status" "$way, round $round: status"
    expect_match "$err" 'restored [0-9,]+ places in [0-9]+ modules?, verified'"$told\$"
    run python3 code.py "$session"
    expect_eq 0 "$status" "$way, round $round"
  done
  pkill -9 -s "$session"
done
echo PASS
