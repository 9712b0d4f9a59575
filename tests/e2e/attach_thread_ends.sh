#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p of a program whose threads come and go: libc empties a thread's cache of freed blocks by calling free
# again, which is no free of the program's. And a thread that ends while being stopped does not keep its process from
# ending.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void* work(void* none) {
  void* blocks[20];
  for (int i = 0; i < 20; ++i) blocks[i] = malloc(100 + i);
  for (int i = 0; i < 20; ++i) free(blocks[i]);
  FILE* const file = fopen("/dev/null", "w"); /* libc's own blocks are recorded, and freed */
  fprintf(file, "x"), fclose(file);
  return none;
}
int main(int count, char** words) {
  const int rounds = count > 1 ? atoi(words[1]) : 1 << 30;
  for (int i = 0; i < rounds; ++i) {
    pthread_t threads[2];
    for (int k = 0; k < 2; ++k) pthread_create(&threads[k], 0, work, 0);
    for (int k = 0; k < 2; ++k) pthread_join(threads[k], 0);
    printf("%d\n", i), fflush(stdout);
  }
  return 6;
}
C
gcc -O2 -g -pthread threads.c -o dynamic
gcc -O2 -g -pthread -static threads.c -o static
for program in dynamic static; do
  start lines.txt ./$program
  await lines.txt '^20$'
  run penna record -f -o it.penna -k alloc --duration 300ms -p "$pid"
  expect_eq 0 "$status" "status of -p of $program: $err"
  kill -9 "$pid"
  report=$(penna report alloc it.penna --unmatched)
  expect_missing "$report" 'freed twice'
  expect_match "$(penna report alloc it.penna)" '^ *[1-9].* work '
  expect_match "$(penna report alloc it.penna)" ' _*fopen'
done

# It ends at about the time of detaching.
for ((i = 0; i < 15; ++i)); do
  start lines.txt ./dynamic 400
  await lines.txt '^5$'
  run timeout 60 "$PENNA" record -q -f -o it.penna -k alloc --duration $((10 + i * 10))ms -p "$pid"
  [ "$status" != 124 ] || fail "the recorder waits for a process that has ended"
  status=0
  wait "$pid" || status=$?
  expect_eq 6 "$status" "status of the program"
done
for ((i = 0; i < 15; ++i)); do
  run timeout 60 "$PENNA" record -q -f -o it.penna -k alloc --duration $((10 + i * 10))ms -- ./static 200
  expect_eq 6 "$status" "status of a static program that was started"
done
