#!/bin/bash
# SPDX-License-Identifier: MIT
# A limit counts as kept only if everything it needs is known. record, info and check report what is missing, in words
# and as JSON, and check exits with 2; a limit exceeded regardless of missing parts is reported as exceeded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# expect_unknown RECORDING REASON LIMIT...
expect_unknown() {
  local recording=$1 reason=$2
  shift 2
  run penna check "$recording" "$@"
  expect_eq 2 "$status" "$recording $*"
  expect_contains "$out" "not known: $*: "
  expect_contains "$out" "$reason"
  run penna check "$recording" "$@" --json
  expect_eq 2 "$status" "$recording $* as JSON"
  /usr/bin/python3 - "$*" "$reason" out.txt <<'CHECK' || fail "JSON of $recording $*"
import json, sys
limit, reason, file = sys.argv[1:]
row = [one for one in json.load(open(file))['limits'] if one['limit'] == limit][0]
assert row['unknown'] == 1 and row['broken'] == 0 and reason in row['reasons'], row
CHECK
}

# An allocator excluded as a whole, and one excluded in part.
cat >own.c <<'C'
#include <stddef.h>
#include <string.h>
static char heap[1 << 20];
static size_t used;
#define APART __attribute__((noipa))
APART void* own(size_t size) { size = (size + 31) & ~(size_t)15; used += size; return heap + used - size; }
void* (*volatile target)(size_t) = own;
#ifdef WHOLE
__attribute__((naked)) void* malloc(size_t size) { __asm__("jmp *target(%rip)"); (void)size; }
#else
APART void* malloc(size_t size) { return own(size); }
__attribute__((naked)) char* strdup(const char* text) { __asm__("jmp *copied(%rip)"); (void)text; }
static char* copy(const char* text) { return strcpy(own(strlen(text) + 1), text); }
char* (*volatile copied)(const char*) = copy;
#endif
APART void free(void* block) { if (block) *(volatile char*)block = 0; }
APART void* calloc(size_t count, size_t size) { return malloc(count * size); }
APART void* realloc(void* block, size_t size) { (void)block; return malloc(size); }
int main(int argc, char** argv) {
  char* kept = malloc(100);
#ifndef WHOLE
  kept = strdup(argv[argc - 1]);
#endif
  (void)argv;
  return kept == 0;
}
C
whole="blocks of the allocator that is part of own are not recorded: its malloc jumps through a pointer"
half="blocks that strdup gives in own are not recorded: it jumps through a pointer"
for part in -DWHOLE -DHALF; do
  build_c own -fno-builtin $part
  run penna record -f -k alloc -o own.penna -- ./own word
  expect_eq 0 "$status" "own $part"
  reason=$whole
  [ $part = -DWHOLE ] || reason=$half
  expect_contains "$err" "$reason"
  expect_contains "$(penna info own.penna)" "$reason"
  for limit in '--max-leak 1M' '--max-leak-blocks 100' '--max-peak 1M' '--max-alloc-rate 1TB' '--max-allocs main=100'; do
    # shellcheck disable=SC2086
    expect_unknown own.penna "$reason" $limit
  done
done
run penna check own.penna --max-leak-blocks 0
expect_eq 1 "$status" "what is broken as far as it is known"
expect_match "$out" '^ *1 +0 +broken +--max-leak-blocks 0$'

# Samples: a value far enough from the limit is certain.
cat >many.c <<'C'
#include <stdlib.h>
static void* volatile kept;
static void deep(int depth) {
  if (depth > 0) deep(depth - 1);
  else kept = malloc(1000);
  __asm__ volatile("");
}
int main(void) {
  for (int i = 0; i < 3000; i++) kept = malloc(1000);
  deep(20);
}
C
build_c many
run penna record -q -f -k alloc --sample-bytes=10k -o sample.penna -- ./many
expect_unknown sample.penna "only a sample was recorded" --max-leak 3003000
expect_unknown sample.penna "only a sample was recorded" --max-leak-blocks 100000
run penna check sample.penna --max-leak 6M
expect_eq 0 "$status" "far less than the limit"
run penna check sample.penna --max-leak 0 --max-leak-blocks 0
expect_eq 1 "$status" "limits of nothing"

# A function may be among the frames that were cut off; a limit on a sum needs no stacks.
run penna record -q -f -k alloc --stack-depth 4 -o short.penna -- ./many
expect_unknown short.penna "the outer frames of the stack are not known" --max-allocs 'other=0'
run penna check short.penna --max-leak 10M
expect_eq 0 "$status" "a limit that asks for no stacks"
run penna check short.penna --max-leak 10M --stack other
expect_eq 2 "$status" "blocks that are chosen by a stack that is cut"
expect_contains "$out" "where a function of --stack may stand"
run penna check short.penna --max-allocs deep=0
expect_eq 1 "$status" "what is seen in spite of that"

# Frees without allocations show that something allocates unrecorded.
cat >unseen.c <<'C'
#include <stdlib.h>
void *__libc_malloc(size_t);
int main(void) { free(__libc_malloc(100)); }
C
build_c unseen
run penna record -q -f -k alloc -o unseen.penna -- ./unseen
expect_unknown unseen.penna "1 block was freed whose allocation is not recorded" --max-leak 0
