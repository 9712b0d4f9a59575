#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that ends the thread which loads the agent: by a seccomp filter that kills threads, or here by an
# allocator that wants no other threads than its own. The recorder says so instead of waiting, and the program goes on.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >strict.c <<'C'
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static char space[1 << 20];
static size_t used;
static int is_up;
void* malloc(size_t bytes) {
  if (is_up && gettid() != getpid()) syscall(SYS_exit, 0);
  void* const block = space + used;
  used += (bytes + 15) & ~(size_t)15;
  return used <= sizeof space ? block : NULL;
}
void* calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void* realloc(void* old, size_t bytes) { return old == NULL ? malloc(bytes) : NULL; }
void free(void* block) { (void)block; }
int main(void) {
  is_up = 1;
  for (int round = 0; access("end", F_OK) != 0; ++round, usleep(1000)) printf("%d\n", round), fflush(stdout);
  _exit(7); /* without the dynamic linker, whose lock that thread has taken with it */
}
C
build_c strict -fno-builtin

start lines.txt ./strict
await lines.txt '^3$'
ended="process $pid has ended the thread that was to load the agent .*: use --via breakpoint"
run timeout 60 "$PENNA" record -p "$pid" --dry-run
expect_eq 125 "$status" "status of a dry run: $err"
expect_match "$err" "$ended"
run timeout 60 "$PENNA" record -f -o it.penna -p "$pid"
expect_eq 125 "$status" "status: $err"
expect_match "$err" "$ended"
# It ended while it held the dynamic linker's lock.
run timeout 60 "$PENNA" record -f -o it.penna -p "$pid"
expect_eq 125 "$status" "status the second time: $err"
expect_match "$err" "process $pid does not let the agent be loaded: a thread holds .*: use --via breakpoint"
await_progress lines.txt
run penna record -f -o it.penna --via breakpoint -k alloc --duration 300ms -p "$pid"
expect_eq 0 "$status" "--via breakpoint: $err"
touch end
status=0
wait "$pid" || status=$?
expect_eq 7 "$status" "status of the program"
