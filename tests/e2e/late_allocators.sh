#!/bin/bash
# SPDX-License-Identifier: MIT
# Allocators in libraries that nothing reaches through the dynamic linker: linked, opened later, opened while there are
# other threads; and those not hooked, because other threads may be running in them, are named.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# A private allocator: its work is 100 blocks of 1,234 bytes, one of which remains, and one of 5,678, moved.
cat >own.inc <<'C'
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
static char *heap, *end;
void* malloc(size_t size) {
  size = (size + 31) & ~(size_t)15;
  if (heap + size > end) {
    heap = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    end = heap + (1 << 20);
  }
  heap += size;
  *(size_t*)(heap - size) = size;
  return heap - size + 16;
}
void free(void* block) { if (block) *((size_t*)block - 1) = 0; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* block, size_t size) {
  void* moved = malloc(size);
  if (block) { memcpy(moved, block, size); free(block); }
  return moved;
}
C
cat >plugin.c <<'C'
#include "own.inc"
#include <pthread.h>
#include <unistd.h>
static void* idle(void* ignored) { for (;;) pause(); return ignored; }
__attribute__((constructor)) static void loaded(void) {
  pthread_t thread;
  if (THREAD) pthread_create(&thread, 0, idle, 0);
}
__attribute__((visibility("default"))) int plugin_work(void) {
  char* blocks[100];
  for (int i = 0; i < 100; ++i) blocks[i] = malloc(1234);
  for (int i = 1; i < 100; ++i) free(blocks[i]);
  free(realloc(calloc(1, 100), 5678));
  return blocks[0] != 0;
}
C
plugin() { gcc -O1 -g -shared -fPIC -fno-builtin -fvisibility=hidden "$@" || fail "$1 does not compile"; }
plugin plugin.c -DTHREAD=0 -o plugin.so
plugin plugin.c -DTHREAD=1 -o starter.so
cp plugin.so other.so

# ./opener LIBRARY [again|threads]...
cat >opener.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void* idle(void* ignored) { for (;;) pause(); return ignored; }
static int use(const char* name, void** opened) {
  *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!*opened) return puts(dlerror()), 0;
  int (*work)(void) = (int (*)(void))dlsym(*opened, "plugin_work");
  return work && work();
}
int main(int count, char** names) {
  int sum = 0;
  void* opened;
  pthread_t thread;
  for (int i = 1; i < count; ++i) {
    if (strcmp(names[i], "threads") == 0) pthread_create(&thread, 0, idle, 0);
    else if (strcmp(names[i], "close") == 0) dlclose(opened);
    else sum += use(names[i], &opened);
  }
  printf("%d\n", sum);
  return 0;
}
C
build_c opener
gcc -O1 -g opener.c -DOWN -include own.inc -fno-builtin -o owner -pthread

# record NAME SUM PROGRAM ARGUMENT...: traced and untraced output are the same.
record() {
  local name=$1 sum=$2
  shift 2
  run penna record -k alloc -o "$name.penna" -- "$@"
  expect_eq 0 "$status" "$name"
  expect_eq "$sum" "$out" "output of $name"
}
# expect_blocks NAME WORKS: plugin_work() ran this often, all of it recorded.
expect_blocks() {
  penna export csv "$1.penna" >"$1.csv"
  expect_eq $((100 * $2)) "$(grep -c ',alloc,.*,1234,' "$1.csv" || true)" "blocks of 1,234 bytes in $1"
  expect_eq "$2" "$(grep -c ',alloc,.*,5678,' "$1.csv" || true)" "blocks of 5,678 bytes in $1"
}

record opened 1 ./opener ./plugin.so
head -3 opened.csv 2>/dev/null || true
expect_blocks opened 1
expect_missing "$err" "not recorded"

# Linked; several; closed and opened again; beside the program's own; with threads that started earlier.
gcc -O1 -g opener.c -o linked -pthread -DLINKED -Wl,--no-as-needed,-rpath,. -L. -l:plugin.so
record linked 1 ./linked ./plugin.so
expect_blocks linked 1
record several 4 ./opener ./plugin.so ./other.so threads close ./other.so ./plugin.so
expect_blocks several 4
record beside 2 ./owner ./plugin.so ./other.so
expect_blocks beside 2
record threads 1 ./opener threads ./plugin.so
expect_blocks threads 1
expect_missing "$err" "not recorded"
for i in 1 2 3 4 5; do cp plugin.so "plugin$i.so"; done
record five 6 ./opener ./plugin{1,2,3,4,5}.so ./plugin1.so
expect_blocks five 5
expect_contains "$err" "blocks of the allocator that is part of plugin5.so are not recorded: its malloc belongs to a fifth allocator"

# A constructor's thread may be running in it; so may threads in the program's own allocator, if they started before us.
record starter 1 ./opener ./starter.so
expect_blocks starter 0
not_now="are not recorded: its malloc may be running in other threads when it is found; open it before threads are started, or"
expect_contains "$err" "blocks of the allocator that is part of starter.so $not_now"
run penna report starter.penna health
expect_contains "$out" "blocks of the allocator that is part of starter.so $not_now"
cat >early.c <<'C'
#include <pthread.h>
#include <unistd.h>
static void* idle(void* ignored) { for (;;) pause(); return ignored; }
__attribute__((constructor)) static void loaded(void) {
  pthread_t thread;
  pthread_create(&thread, 0, idle, 0);
}
C
plugin early.c -o libearly.so
gcc -O1 -g opener.c -DOWN -include own.inc -fno-builtin -o early -pthread -Wl,--no-as-needed,-rpath,. -L. -learly
record early 0 ./early
expect_contains "$err" "blocks of the allocator that is part of early $not_now"

# A library found through the RUNPATH of its opener is inspected when the program asks for its first function.
mkdir folder
cp plugin.so folder/found.so
gcc -O1 -g opener.c -o searching -pthread -Wl,--enable-new-dtags,-rpath,"$PWD/folder"
record searching 1 ./searching found.so
expect_blocks searching 1
run penna record -k calls -F plugin_work -o calls.penna -- ./searching found.so
expect_eq 1 "$out" "output"
run penna report calls.penna calls
expect_contains "$out" plugin_work

# Threads that open the same library at the same time: the second one waits until it is hooked.
build_c together
record together 120 ./together ./plugin.so
expect_blocks together 120
