#!/bin/bash
# SPDX-License-Identifier: MIT
# A library opened with RTLD_DEEPBIND, as PHP opens its extensions, finds libc's functions before ours: its events are
# recorded nevertheless. One with functions of its own keeps them.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >plugin.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void (*const drop)(void*) = free;
void* plugin_make(void) { return malloc(12345); }
void plugin_drop(void* block) { pthread_mutex_lock(&mutex); drop(block); pthread_mutex_unlock(&mutex); }
C
cat >own.c <<'C'
#include <stddef.h>
static char memory[1 << 16];
static size_t used;
void* malloc(size_t size) { return memory + (used += (size + 15) & ~15ul) - ((size + 15) & ~15ul); }
void free(void* block) { (void)block; }
void* plugin_make(void) { return malloc(12345); }
void plugin_drop(void* block) { free(block); }
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  void* plugin = dlopen(argv[1], RTLD_DEEPBIND | (argc > 2 ? RTLD_NOW : RTLD_LAZY));
  if (plugin == NULL) return puts(dlerror()), 1;
  void* (*make)(void) = (void* (*)(void))dlsym(plugin, "plugin_make");
  void (*drop)(void*) = (void (*)(void*))dlsym(plugin, "plugin_drop");
  for (int i = 0; i < 10; ++i) drop(make());
  if (argc > 3) return 0;
  free(make());
  drop(malloc(123));
  return 0;
}
C
build_c opens -ldl
for how in -Wl,-z,lazy -Wl,-z,now,-z,relro; do
  gcc -O1 -g -shared -fPIC $how plugin.c -o plugin.so || fail "plugin.c does not compile"
  for mode in "" now; do
    # shellcheck disable=SC2086
    run penna record -q -k alloc,locks -f -o deep.penna -- ./opens ./plugin.so $mode
    expect_eq "0 " "$status $out" "$how $mode"
    penna export csv deep.penna >deep.csv
    expect_eq 11 "$(grep -c ',alloc,.*,12345,.*plugin_make' deep.csv || true)" "blocks of plugin_make, $how $mode"
    expect_eq 1 "$(grep -c ',alloc,.*,123,' deep.csv || true)" "blocks of main, $how $mode"
    expect_eq 11 "$(grep -c ',lock,' deep.csv || true)" "locks, $how $mode"
    expect_missing "$(penna report leaks deep.penna)" "plugin_make"
    expect_missing "$(penna report health deep.penna)" "had not been freed"
  done
done
gcc -O1 -g -shared -fPIC own.c -o own.so || fail "own.c does not compile"
run penna record -q -k alloc -f -o own.penna -- ./opens ./own.so now only
expect_eq "0 " "$status $out" "a plugin with an allocator of its own"
expect_missing "$(penna report health own.penna)" "had not been freed"

# Opened by one thread, which must be the caller of dlopen itself for $ORIGIN; first inspected by another one, after its
# own dlopen.
cat >apart.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_barrier_t barrier;
static void* run(void* none) {
  void* plugin = dlopen("$ORIGIN/plugin.so", RTLD_DEEPBIND | RTLD_LAZY);
  if (plugin == NULL) return puts(dlerror()), none;
  pthread_barrier_wait(&barrier); /* opened */
  pthread_barrier_wait(&barrier); /* looked at */
  void* (*make)(void) = (void* (*)(void))dlsym(plugin, "plugin_make");
  void (*drop)(void*) = (void (*)(void*))dlsym(plugin, "plugin_drop");
  for (int i = 0; i < 10; ++i) drop(make());
  return none;
}
int main(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&thread, NULL, run, NULL);
  pthread_barrier_wait(&barrier);
  if (dlopen("./own.so", RTLD_NOW) == NULL) puts(dlerror());
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);
  return 0;
}
C
build_c apart -ldl -pthread
for how in -Wl,-z,lazy -Wl,-z,now,-z,relro; do
  gcc -O1 -g -shared -fPIC $how plugin.c -o plugin.so || fail "plugin.c does not compile"
  run penna record -q -k alloc,locks -f -o apart.penna -- ./apart
  expect_eq "0 " "$status $out" "two threads, $how"
  penna export csv apart.penna >apart.csv
  expect_eq 10 "$(grep -c ',alloc,.*,12345,.*plugin_make' apart.csv || true)" "blocks of plugin_make, two threads, $how"
  expect_missing "$(penna report health apart.penna)" "had not been freed"
done
