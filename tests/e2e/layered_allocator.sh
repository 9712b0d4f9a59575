#!/bin/bash
# SPDX-License-Identifier: MIT
# An additionally preloaded allocator, as in tools that count or check: its functions call one another through the
# dynamic linker, and so the agent's hooks again. Still, each block is one event, at the place where the program
# requested it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >layer.c <<'C'
#include <errno.h>
#include <stddef.h>
#include <string.h>
void *__libc_malloc(size_t), *__libc_realloc(void*, size_t), *__libc_memalign(size_t, size_t);
void __libc_free(void*);
void* malloc(size_t size) { return __libc_malloc(size); }
void free(void* block) { __libc_free(block); }
void* calloc(size_t count, size_t size) {
  void* block = malloc(count * size);
  return block ? memset(block, 0, count * size) : block;
}
void* realloc(void* block, size_t size) {
  void* moved = malloc(size);
  if (block) memcpy(moved, block, size < 40 ? size : 40), free(block);
  return moved;
}
void* memalign(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, size_t alignment, size_t size) {
  return (*result = memalign(alignment, size)) ? 0 : ENOMEM;
}
C
gcc -O1 -shared -fPIC -fno-builtin layer.c -o layer.so
cat >user.c <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void use(void) {
  void* volatile block = calloc(1, 40);
  free(realloc(block, 1000));
  free(aligned_alloc(64, 128));
  void* aligned = NULL;
  if (posix_memalign(&aligned, 64, 256) == 0) free(aligned);
}
int main(void) {
  for (int i = 0; i < 10; i++) use();
  if (fork() == 0) { use(); _exit(0); }
  wait(NULL);
  return 0;
}
C
gcc -g -O0 user.c -o user
LD_PRELOAD=$PWD/layer.so run penna record -q -k alloc -o user.penna -- ./user
expect_eq 0 "$status" "status of ./user"
run penna report alloc user.penna --stack use --by kind
expect_match "$out" '^44 allocations of 15.7 kB in all'
expect_match "$out" ' 22 .* aligned$'
run penna report health user.penna -n 0
expect_match "$out" '^unmatched frees +0 '
expect_match "$out" '^replaced blocks +0 '
