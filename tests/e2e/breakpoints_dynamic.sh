#!/bin/bash
# SPDX-License-Identifier: MIT
# Breakpoints in libc's functions, which return into code of the program and of other libraries, far away from libc:
# the same allocations and locks as by the agent, of programs started and running.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need sqlite3 libc6-dev

cat >inner.c <<'C'
#include <stdlib.h>
void* inner(int bytes) { void* volatile block = malloc((size_t)bytes); return block; }
C
cat >works.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(int count, char** words) {
  void* (*inner)(int) = (void* (*)(int))dlsym(dlopen("./inner.so", RTLD_NOW), "inner");
  for (int i = 0; count > 1 || i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    void* volatile block = malloc(10 + i % 100);
    free(block), free(inner(7000));
    pthread_mutex_unlock(&mutex);
    if (count > 1) printf("%d\n", i), fflush(stdout), usleep(500);
  }
  return words[1] != NULL;
}
C
gcc -O2 -g -fno-builtin -shared -fPIC inner.c -o inner.so
gcc -O2 -g -fno-builtin -pthread works.c -o pie
gcc -O2 -g -fno-builtin -no-pie -pthread works.c -o fixed

# Allocations and bytes of the program's and the library's function, and how often the mutex was taken.
counts() {
  penna report alloc "$1" --format csv | awk -F, '$12 == "main" || $12 == "inner" {print $12, $2, $1}' | sort
  penna report locks "$1" --format csv --fields taken,lock | grep ',mutex$'
}
for program in pie fixed; do
  run penna record --via breakpoint -f -o it.penna -k alloc,locks -- ./$program
  expect_eq 0 "$status" "$err"
  expect_missing "$err" 'returned to where'
  run penna record -f -o agent.penna -k alloc,locks -- ./$program
  by_agent=$(counts agent.penna)
  expect_contains "$by_agent" 'inner 100 700000'
  expect_contains "$by_agent" '100,mutex'
  expect_eq "$by_agent" "$(counts it.penna)" "counts of $program"

  start lines.txt ./$program on
  await lines.txt '^5$'
  run penna record --via breakpoint -f -o it.penna -k alloc,locks --duration 300ms -p "$pid"
  expect_eq 0 "$status" "$err"
  expect_missing "$err" 'returned to where'
  expect_contains "$err" verified
  expect_contains "$(penna report alloc it.penna --unmatched)" 'Every recorded free was of a recorded block'
  expect_contains "$(penna report alloc it.penna)" ' inner '
  kill -9 "$pid"
done

query='create table t(a, b); insert into t select value, value * 3 % 101 from generate_series(1, 200); select count(*) from t group by b;'
events() {
  run penna record -f -o it.penna -k alloc "$@" -- sqlite3 :memory: "$query"
  expect_eq 0 "$status" "$err"
  expect_missing "$err" 'returned to where'
  grep -o '[0-9,]* allocation events' <<<"$err"
}
expect_eq "$(events)" "$(events --via breakpoint)" "allocations of sqlite3"
