#!/bin/bash
# SPDX-License-Identifier: MIT
# A program's own allocator that is left by a longjmp, and one that waits inside while another context runs: allocations
# of the thread afterwards, and meanwhile, are recorded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >leaver.c <<'PROGRAM'
#include <setjmp.h>
#include <stddef.h>
#include <ucontext.h>
static _Alignas(16) char heap[1 << 20];
static size_t used;
static int leave;
static jmp_buf target;
static ucontext_t main_context, other;
static char stack[1 << 16];
__attribute__((noipa)) void *malloc(size_t size) {
  if (leave == 1) longjmp(target, 1);
  if (leave == 2) leave = 0, swapcontext(&other, &main_context);
  void *block = heap + used;
  used += (size + 15) & ~(size_t)15;
  return block;
}
__attribute__((noipa)) void free(void *block) { *(volatile char *)heap = block != 0; }
__attribute__((noipa)) void *calloc(size_t count, size_t size) { return malloc(count * size); }
__attribute__((noipa)) void *realloc(void *block, size_t size) { char *fresh = malloc(size); *(volatile char *)fresh = block == 0; return fresh; }
static void *volatile kept;
static void body(void) { leave = 2; kept = malloc(333); }
int main(void) {
  for (leave = 0; leave < 2;) {
    kept = malloc(111);
    leave = 1;
    if (setjmp(target) == 0) kept = malloc(999);
    leave = 2;
  }
  leave = 0;
  for (int i = 0; i < 100; i++) kept = malloc(222);
  getcontext(&other);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = sizeof stack;
  other.uc_link = &main_context;
  makecontext(&other, body, 0);
  swapcontext(&main_context, &other);
  for (int i = 0; i < 100; i++) kept = malloc(444);
  swapcontext(&main_context, &other);
  for (int i = 0; i < 100; i++) kept = malloc(555);
}
PROGRAM
build_c leaver -fno-builtin -rdynamic
run penna record -q -k alloc -o left.penna -- ./leaver
expect_eq 0 "$status" status
penna export csv left.penna >left.csv
of_size() { awk -F, -v size="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "size") column = i } $column == size' left.csv | wc -l; }
expect_eq 1 "$(of_size 111)" "blocks before"
expect_eq 0 "$(of_size 999)" "blocks that never were"
expect_eq 100 "$(of_size 222)" "blocks behind the jump"
expect_eq 100 "$(of_size 444)" "blocks while another context is in the allocator"
expect_eq 1 "$(of_size 333)" "block of that one"
expect_eq 100 "$(of_size 555)" "blocks behind it"
