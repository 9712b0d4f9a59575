#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that lock their memory (mlockall), as real-time programs do, get what recording uses, not all that it has
# reserved; and those with more threads than a channel has room for at first get more.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >locked.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) static void step(void) {
  void* volatile block = malloc(1234);
  free(block);
}
int main(int count, char** words) {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 2;
  for (int round = 0; access("end", F_OK) != 0; ++round, usleep(1000)) {
    step();
    if (count == 1 || round < 3) printf("%d\n", round), fflush(stdout);
    if (count > 1 && round == 300) break;
  }
  char line[256];
  FILE* const status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "VmHWM:", 6) == 0) printf("most %ld kB\n", atol(line + 6));
  return 0;
}
C
build_c locked
cp locked.c locked_static.c
build_c locked_static -static
most() { sed -n 's/^most \([0-9]*\) kB$/\1/p' "$1"; }

# The pool is 64 MiB, and the first part of the stack tree 25: before, it was all that is reserved, 300 MiB.
./locked once >alone.txt || fail "may not lock memory"
for program in locked locked_static; do
  run penna record -f -o it.penna -- ./$program once
  expect_eq 0 "$status" "status of $program: $err"
  printf '%s\n' "$out" >recorded.txt
  expect_match "$(penna report alloc it.penna)" ' step \('
  [ "$(most recorded.txt)" -lt $(($(most alone.txt) + 220000)) ] || fail "$program has $(most recorded.txt) kB"
done

# Attached: the thread that maps memory for the agent does not wait for its pages, and nobody gets them.
for program in locked locked_static; do
  rm -f end
  start lines.txt ./$program
  await lines.txt '^3$'
  attach "$pid"
  expect_match "$(penna report alloc it.penna)" ' step \('
  touch end
  wait "$pid" || fail "$program failed"
  [ "$(most lines.txt)" -lt $(($(most alone.txt) + 40000)) ] || fail "$program, attached, has $(most lines.txt) kB"
done

# A thread has a chunk, and with --pool 4 there are some 300 at first.
cat >crowd.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { kThreads = 700 };
static pthread_barrier_t all;
static void* work(void* none) {
  for (int i = 0; i < 10; ++i) {
    void* volatile block = malloc(777);
    if (i == 5) pthread_barrier_wait(&all);
    free(block);
  }
  return none;
}
int main(void) {
  static pthread_t threads[kThreads];
  pthread_barrier_init(&all, NULL, kThreads);
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 2;
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  puts("all");
}
C
build_c crowd
run penna record -f -o it.penna --pool 4 -k alloc -- ./crowd
expect_eq 0 "$status" "status of 700 threads: $err"
expect_eq all "$out"
expect_contains "$err" '; 0 lost'
expect_match "$(penna report alloc it.penna)" ' 7,000 +work \(crowd'
