#!/bin/bash
# SPDX-License-Identifier: MIT
# The standalone agent in running programs that no dynamic linker loaded: allocations, locks, calls and points with
# stacks; exceptions and thread cancellation unwind through it; and its changes are reverted.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need musl-tools

cat >works.c <<'C'
#include <errno.h>
#include <pthread.h>
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
static void on_alarm(int number) { alarms += number != 0; }
__attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
__attribute__((noinline)) char* make(int i) {
  char* block = malloc(100 + i);
  memset(block, i, 100);
  return block;
}
static void* run(void* none) {
  long sum = 0, wanted = 0;
  for (int i = 0; i < 50; ++i) {
    sum += leaf(i), wanted += 3L * i + 1;
    errno = 77;
    char* block = make(i);
    block = realloc(block, 5000);
    for (int k = 0; k < 100; ++k) wanted += block[k] != i;
    pthread_mutex_lock(&mutex);
    PENNA_EVENT(works, round, i, "text");
    pthread_mutex_unlock(&mutex);
    free(block);
    wanted += errno != 77;
  }
  return sum == wanted ? none : &mutex;
}
int main(void) {
#ifndef PLAIN
  signal(SIGALRM, on_alarm);
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, 0);
#endif
  for (;;) {
    pthread_t thread[4];
    for (int i = 0; i < 4; ++i) pthread_create(thread + i, 0, run, 0);
    for (int i = 0; i < 4; ++i) {
      void* wrong;
      pthread_join(thread[i], &wrong);
      if (wrong) return puts("WRONG sum"), 3;
    }
    const pid_t child = fork();
    if (child == 0) _exit(run(0) == 0 ? 9 : 4);
    int status = 0;
    while (waitpid(child, &status, 0) != child) {}
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) return puts("WRONG child"), 5;
    puts("right"), fflush(stdout);
    usleep(1000);
  }
}
C
points=(-DWITH_POINTS -I"$PENNA_SOURCE/include")
gcc -O2 -g -static -pthread "${points[@]}" works.c -o glibc_static
gcc -O2 -g -static-pie -fPIE -pthread "${points[@]}" works.c -o glibc_pie
musl-gcc -O2 -g -static -pthread works.c -o musl_static
musl-gcc -O2 -g -static -pthread -DPLAIN works.c -o musl_plain
g++ -O2 -g -static -pthread "$PENNA_SOURCE/tests/torture/programs/unwound.cc" -o throws_static
g++ -O2 -g -static-pie -fPIE -pthread "$PENNA_SOURCE/tests/torture/programs/unwound.cc" -o throws_pie

code() {
  python3 - "$1" <<'PYTHON'
import sys
with open(f'/proc/{sys.argv[1]}/mem', 'rb', 0) as memory:
    for line in open(f'/proc/{sys.argv[1]}/maps'):
        place, rights, *rest = line.split()
        if 'x' in rights and rest[-1].startswith('/') and 'memfd' not in line:
            begin, end = (int(number, 16) for number in place.split('-'))
            memory.seek(begin)
            print(rest[-1], hash(memory.read(end - begin)))
PYTHON
}
export PYTHONHASHSEED=0

for program in glibc_static glibc_pie musl_static musl_plain throws_static throws_pie; do
  start output.txt ./$program
  await output.txt right
  before=$(code "$pid")
  for options in "-k alloc" "-k alloc,locks -F leaf -F throws" "-k alloc,locks,points,calls -F leaf"; do
    # shellcheck disable=SC2086  # words
    run penna record -f -o it.penna $options --duration 300ms -p "$pid"
    expect_eq 0 "$status" "status of -p of $program: $err"
    expect_missing "$err" breakpoint
    expect_match "$err" 'restored [1-9][0-9]* places? in 1 module, verified'
    expect_contains "$err" '0 lost'
    expect_eq "$before" "$(code "$pid")" "code of $program after $options"
  done
  : >output.txt
  await output.txt right
  expect_missing "$(cat output.txt)" WRONG
  kill -0 "$pid" || fail "$program died"
  expect_eq "" "$(find "/proc/$pid/fd" -lname '*memfd:penna*')" "descriptors that are left"
  kill -9 "$pid"
  wait "$pid" 2>/dev/null || true
  case $program in throws*) continue ;; esac
  expect_match "$(penna report alloc it.penna)" '^ *[1-9].* make '
  expect_match "$(penna report alloc it.penna)" '^ +run '
  expect_match "$(penna report calls it.penna)" ' leaf '
  expect_match "$(penna report locks it.penna)" ' mutex +mutex'
  case $program in glibc*) expect_contains "$(penna replay it.penna)" 'works:round' ;; esac
done

# Its changes are known beforehand. Programs it cannot enter are recorded by breakpoints, and this is reported.
start output.txt ./glibc_static
await output.txt right
run penna record -p "$pid" --dry-run -F leaf
expect_eq 0 "$status" "$err"
expect_match "$out" 'code .* leaf \[glibc_static\]'
strip -o stripped glibc_static
start output.txt ./stripped
await output.txt right
run penna record --via inject -p "$pid"
expect_eq 125 "$status"
expect_contains "$err" "process $pid is statically linked and has no symbols (it was stripped)"
run penna record -p "$pid" -f -o it.penna --duration 100ms
expect_contains "$err" "process $pid is statically linked and has no symbols (it was stripped): recording it by breakpoints"
