#!/bin/bash
# SPDX-License-Identifier: MIT
# No memory is ever writable and executable at once, whatever is patched, nor becomes executable after having been
# writable if that is forbidden (PR_SET_MDWE, seccomp): all ways of patching work there, and change the same places.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need strace
cat >app.c <<'PROGRAM'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "penna/control.h"
#include "penna/point.h"
#include "penna/trigger.h"
#define APART __attribute__((noipa))
static long hits;
static void hit(long by) { hits += by; }
static int word;
APART void own_lock(int* lock) { while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) usleep(10); }
APART void own_unlock(int* lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }
APART long tiny(long n) { return n * 7 / 3 + n % 5 - 2; }
APART long small(long n) { own_lock(&word); long sum = tiny(n) + tiny(n + 1); own_unlock(&word); return sum; }
APART long pass(long n) {
  PENNA_EVENT(code, passed, n);
  PENNA_TRIGGER(code, hit, hit, n);
  return small(n);
}
static void* body(void* rounds) { long sum = 0; for (long i = 0; i < (long)rounds; i++) sum += pass(i); return (void*)sum; }
int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 100, sum = 0;
  void* result;
  pthread_t thread;
  printf("%d\n", penna_enable("code:hit"));
  sum += (long)body((void*)rounds);
  pthread_create(&thread, 0, body, (void*)rounds);
  pthread_join(thread, &result);
  printf("%d\n", penna_disable("code:hit"));
  sum += (long)result + pass(1);
  void* library = dlopen("./plugin.so", RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  sum += ((long (*)(long))dlsym(library, "plugin_work"))(5);
  void* zlib = dlopen("libz.so.1", RTLD_NOW);
  if (zlib) sum += ((unsigned long (*)(unsigned long, const char*, unsigned))dlsym(zlib, "crc32"))(0, "feather", 7) != 0;
  dlclose(library);
  printf("%ld %ld\n", sum, hits);
  return 3;
}
PROGRAM
cat >plugin.c <<'PROGRAM'
#include <stdlib.h>
#include <string.h>
#include "penna/point.h"
__attribute__((noipa)) static long inner(long n) { PENNA_EVENT(plugin, inner, n); char* block = strdup("text"); long length = (long)strlen(block); free(block); return length + n; }
long plugin_work(long n) { return inner(n) + inner(n + 1); }
PROGRAM
# An allocator that is part of the program only.
cat >own_malloc.c <<'PROGRAM'
#include <stddef.h>
#include <string.h>
static char heap[8 << 20];
static size_t used;
void* malloc(size_t size) { size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED); *(size_t*)(heap + at) = size; return heap + at + 16; }
void free(void* block) { if (block) *((size_t*)block - 2) = 0; }
void* calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
void* realloc(void* block, size_t size) { void* moved = malloc(size); if (block) { size_t was = *((size_t*)block - 2); memcpy(moved, block, was < size ? was : size); free(block); } return moved; }
PROGRAM
# Bans, for programs started under them.
cat >under.c <<'PROGRAM'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static int filter(void) { /* mmap and mprotect with both: EACCES */
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 2, 0),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pkey_mprotect, 0, 4),
                               BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
                               BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 13),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "mdwe") == 0 && prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0) != 0) return perror("PR_SET_MDWE"), 99;
  if (argc > 2 && strcmp(argv[1], "filter") == 0 && filter() != 0) return perror("filter"), 99;
  execvp(argv[2], argv + 2);
  return 98;
}
PROGRAM
gcc -O2 -g under.c -o under
gcc -O2 -g -I"$PENNA_SOURCE/include" -fPIC -shared plugin.c -o plugin.so
build() { local name=$1; shift; gcc -O2 -g -w -I"$PENNA_SOURCE/include" app.c "$@" -o "$name" -pthread; }
build app_plain
build app_patchable -fpatchable-function-entry=5
build app_nops -pg -mfentry -mnop-mcount -mrecord-mcount -fno-pie -no-pie
build app_malloc own_malloc.c -fno-builtin

ways=('-k calls,alloc,locks,points' '-k calls,points -F tiny -F small -F pass -F inner' '-k calls --libcalls' '-k calls --libcalls -A tiny@arg1'
  '-k locks --lock-functions own_lock=own_unlock')
# facts RECORDING: what was changed in the program, and what was not.
facts() { penna report health "$1" --format csv | grep -E '^(points|functions) (armed|patched|refused),' | cut -d, -f1,2; }
for program in app_plain app_patchable app_nops app_malloc; do
  rounds=100
  run ./under none ./$program $rounds
  plain="$status $out"
  expect_match "$plain" '^3 1$'
  for way in "${ways[@]}"; do
    # shellcheck disable=SC2086
    { run "$PENNA" record -q -f -o free.penna $way -- ./under none ./$program $rounds
    expect_eq "$plain" "$status $out" "$program $way"; }
    for ban in mdwe filter; do
      # shellcheck disable=SC2086
      run "$PENNA" record -q -f -o ban.penna $way -- ./under $ban ./$program $rounds
      expect_eq "$plain" "$status $out" "$program $way under $ban"
      expect_eq "$(facts free.penna)" "$(facts ban.penna)" "what is changed in $program with $way under $ban"
    done
    case "$program $way" in
      *-F*|*lock-functions*|app_nops*|app_patchable*) expect_match "$(facts ban.penna)" 'functions patched,[1-9]' ;;
    esac
    # Every memory request of all processes.
    # shellcheck disable=SC2086
    run "$PENNA" record -q -f -o traced.penna $way -- strace -f -e trace=mmap,mprotect,pkey_mprotect -o calls.txt ./$program $rounds
    expect_eq "$plain" "$status $out" "$program $way under strace"
    expect_match "$(<calls.txt)" 'PROT_EXEC'
    expect_missing "$(grep -E 'PROT_WRITE.*PROT_EXEC' calls.txt || true)" PROT
  done
done

# Switched from outside and silenced under the same ban, with another thread that monitors the map.
cat >watched.c <<'PROGRAM'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "penna/point.h"
static int stop, writable;
static long looks;
static void* watch(void* unused) {
  char line[512];
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    FILE* maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) writable += strstr(line, " rwx") != 0;
    fclose(maps);
    looks++;
  }
  return unused;
}
__attribute__((noipa)) static void pass(long n) { PENNA_EVENT(db, query, n); PENNA_EVENT(net, send, n); }
static void* run(void* unused) { for (long n = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) pass(n); return unused; }
int main(void) {
  pthread_t watcher, runner;
  pthread_create(&watcher, 0, watch, 0);
  pthread_create(&runner, 0, run, 0);
  printf("%d\n", getpid());
  fflush(stdout);
  getchar();
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(watcher, 0);
  pthread_join(runner, 0);
  printf("%d %d\n", writable, looks > 20);
}
PROGRAM
gcc -O2 -g -I"$PENNA_SOURCE/include" watched.c -fpatchable-function-entry=5 -o watched -pthread
mkfifo to from
for ban in none mdwe; do
  "$PENNA" record -q -f -k points,calls -e 'none:*' -F pass --on-full=drop -o watched.penna -- ./under $ban ./watched <to >from &
  recorder=$!
  exec 8>to 9<from
  read -r pid <&9
  : >many.txt
  for _ in $(seq 60); do penna ctl "$pid" on 'db:*' net:send 2>>many.txt; penna ctl "$pid" off '*' 2>>many.txt; done
  expect_eq 60 "$(grep -c "2 switched off" many.txt)" "switches under $ban"
  echo >&8
  read -r seen <&9
  exec 8>&- 9<&-
  wait $recorder
  expect_eq '0 1' "$seen" "mappings that were both under $ban, and whether it looked often"
done
