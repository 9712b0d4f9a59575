#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that cannot have an agent, static ones and those of musl, are recorded by breakpoints: calls, allocations,
# locks and points, as an agent records them; and they are restored afterwards.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need musl-tools

cat >works.c <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_POINTS
#include "penna/point.h"
#else
#define PENNA_EVENT(...) (void)0
#endif
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int alarms;
static jmp_buf away;
static void on_alarm(int number) { alarms += number != 0; }
__attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
__attribute__((noinline)) int middle(int x) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += leaf(x + i);
  return sum;
}
__attribute__((noinline)) int goes_on(int x) { return middle(x + 7); }
__attribute__((noinline)) void leaves(int depth) {
  if (depth == 0) longjmp(away, 1);
  leaves(depth - 1);
  __asm__ volatile("");
}
static void* run(void* none) {
  long sum = 0, wanted = 0;
  for (int i = 0; i < 50; ++i) {
    sum += goes_on(i), wanted += 9L * (i + 7) + 12;
    char* block = malloc(100 + i);
    memset(block, i, 100);
    block = realloc(block, 5000);
    for (int k = 0; k < 100; ++k) wanted += block[k] != i;
    free(block);
    pthread_mutex_lock(&mutex);
    PENNA_EVENT(works, round, i, "text");
    pthread_mutex_unlock(&mutex);
  }
  return sum == wanted ? none : &mutex;
}
int main(int count, char** words) {
  signal(SIGALRM, on_alarm);
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, 0);
  const int threads = atoi(words[1]);
  do {
    pthread_t thread[16];
    for (int i = 0; i < threads; ++i) pthread_create(thread + i, 0, run, 0);
    for (int i = 0; i < threads; ++i) {
      void* wrong;
      pthread_join(thread[i], &wrong);
      if (wrong) return 3;
    }
    if (setjmp(away) == 0) leaves(4);
    const pid_t child = fork();
    if (child == 0) _exit(run(0) == 0 ? 9 : 4);
    int status = 0;
    while (waitpid(child, &status, 0) != child) {}
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) return 5;
    printf("right\n"), fflush(stdout);
  } while (count > 2);
  return 7;
}
C
gcc -O2 -g -static -pthread -DWITH_POINTS -I"$PENNA_SOURCE/include" works.c -o glibc_static
gcc -O2 -g -static-pie -fPIE -pthread -DWITH_POINTS -I"$PENNA_SOURCE/include" works.c -o glibc_pie
musl-gcc -O2 -g -static -pthread works.c -o musl_static
musl-gcc -O2 -g -pthread works.c -o musl
gcc -O2 -g -pthread -DWITH_POINTS -I"$PENNA_SOURCE/include" works.c -o glibc
command -v clang >/dev/null && clang -O2 -g -static -pthread works.c -o clang_static

# As a command: its output and exit status are unchanged, and each event is recorded. Per thread and round goes_on,
# middle and three leaf; two threads, and the child.
for program in glibc_static glibc_pie musl_static musl clang_static glibc; do
  [ -x $program ] || continue
  via=(--via breakpoint); [ $program != musl ] || via=()
  run penna record "${via[@]}" -f -o it.penna -F leaf -F middle -F goes_on -F leaves -- ./$program 2
  expect_eq 7 "$status" "status of $program"
  expect_eq right "$out" "output of $program"
  [ $program != musl ] || expect_contains "$err" "recording it by breakpoints"
  expect_match "$err" '755 calls, .* 0 lost'
  expect_contains "$(penna report tree it.penna)" leaves
  calls=$(penna report calls it.penna --json)
  for function in leaf:450 middle:150 goes_on:150 leaves:5; do
    expect_eq "${function#*:}" "$(python3 -c 'import json,sys
print(next(row["calls"] for row in json.loads(sys.argv[1])["calls"] if row["function"] == sys.argv[2]))' "$calls" "${function%:*}")" \
      "calls of ${function%:*} in $program"
  done
  expect_match "$(penna report alloc it.penna)" '^ *[1-9].* run '
  expect_missing "$(penna report leaks it.penna)" ' run '
  expect_match "$(penna report locks it.penna)" ' 100 .* mutex +mutex'
  case $program in glibc*) expect_eq 150 "$(penna replay it.penna | grep -c 'works:round.*text')" "points of $program" ;; esac
done

# While it runs: attach, detach, and its code is the original; also when the recorder is killed.
code() {
  python3 - "$1" <<'PYTHON'
import sys
with open(f'/proc/{sys.argv[1]}/mem', 'rb', 0) as memory:
    for line in open(f'/proc/{sys.argv[1]}/maps'):
        place, rights, *rest = line.split()
        if 'x' in rights and rest[-1].startswith('/'):
            begin, end = (int(number, 16) for number in place.split('-'))
            memory.seek(begin)
            print(rest[-1], hash(memory.read(end - begin)))
PYTHON
}
export PYTHONHASHSEED=0
await_free() {
  for _ in {1..500}; do
    grep -q '^TracerPid:.0$' "/proc/$1/status" && return
    sleep 0.02
  done
  fail "process $1 is still traced"
}
for program in glibc_static musl_static musl; do
  start output.txt ./$program 4 forever
  await output.txt right
  before=$(code "$pid")
  run penna record --via breakpoint -q -f -o it.penna -F leaf -k calls,alloc,locks --duration 200ms -p "$pid"
  expect_eq 0 "$status" "status of -p of $program"
  run penna record --via breakpoint -f -o it.penna -F leaf -k calls,alloc,locks --duration 200ms -p "$pid"
  expect_match "$err" 'restored [1-9][0-9]* places in [12] modules?, verified'
  expect_contains "$err" '0 lost'
  expect_eq "$before" "$(code "$pid")" "code of $program"
  "$PENNA" record --via breakpoint -q -f -o it.penna -F leaf -p "$pid" &
  recorder=$!
  for _ in {1..500}; do
    grep -q '^TracerPid:.0$' "/proc/$pid/status" || break
    sleep 0.01
  done
  # No other recorder can attach meanwhile.
  run penna record -p "$pid"
  expect_eq 125 "$status" "status of another recorder"
  expect_contains "$err" 'traced by process'
  kill -9 $recorder
  wait $recorder || true
  await_free "$pid"
  expect_eq "$before" "$(code "$pid")" "code of $program when its recorder was killed"
  : >output.txt
  await output.txt right
  kill -0 "$pid" || fail "$program died"
  kill -9 "$pid"
done

# Things that breakpoints cannot do are reported at once if requested; otherwise the program runs, unrecorded.
run penna record --via breakpoint --sample-bytes 1k -- ./glibc_static 1
expect_eq 125 "$status"
expect_contains "$err" '--sample-bytes cannot be had with breakpoints'
run penna record --sample-bytes 1k -- ./musl 1
expect_eq 7 "$status"
expect_contains "$err" 'record it with --via breakpoint'

# A program that ends as soon as it has started another one (by vfork): the recording ends with that one.
build_c leaves
for ((i = 0; i < 12; ++i)); do
  run timeout 30 "$PENNA" record -q -f -o leaves.penna -k alloc --via breakpoint ./leaves
  expect_eq 0 "$status" "status of a program that leaves another one: $err"
done
