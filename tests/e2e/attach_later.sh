#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p PID of a single kind of event: later additions, such as a library by dlopen or a program by exec, are
# recorded, too; and a library unloaded meanwhile is not touched any more.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >later.c <<'C'
#include "penna/point.h"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void pass(void) {
  PENNA_EVENT(later, pass, 1);
  void* volatile block = malloc(4321);
  free(block);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
#ifdef ALONE
int main(void) { pass(); }
#endif
C
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  for (int round = 0;; ++round) {
    void* library = dlopen("./later.so", RTLD_NOW);
    ((void (*)(void))dlsym(library, "pass"))();
    dlclose(library);
    if (fork() == 0) execl("./later", "./later", (char*)0), _exit(127);
    wait(0);
    printf("%d\n", round), fflush(stdout);
    usleep(20000);
  }
}
C
build_c host
build_c later -DALONE
gcc -O1 -g -I"$PENNA_SOURCE/include" -shared -fPIC later.c -o later.so || fail "later.c does not compile"

for kind in points alloc locks; do
  start output.txt ./host
  await output.txt '^3$'
  run penna record -p "$pid" -k "$kind" -o "$kind.penna" --duration 2s
  expect_eq 0 "$status" "$kind: status"
  case $kind in
    points) event='later:pass' ;;
    alloc) event='malloc\(4321\)' ;;
    locks) event='lock' ;;
  esac
  # Events of the library are in the attached process, those of the program in the image it executed.
  for where in host later; do
    penna replay "$kind.penna" | awk -v where="$where," '/^# / {is_it = $2 == where} is_it' >events.txt
    grep -qE "$event" events.txt || fail "$kind: nothing that $where does is recorded: $(head -n 20 events.txt)"
  done
  kill -0 "$pid" || fail "$kind: the program died"
  kill "$pid"
done

# A library with points that was loaded when we attached, and is gone when we detach: something else may be mapped there
# by then.
cat >goes.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
  void* library = dlopen("./later.so", RTLD_NOW);
  void (*pass)(void) = (void (*)(void))dlsym(library, "pass");
  char* page = (char*)((unsigned long)pass & ~4095ul);
  for (int round = 0;; ++round, usleep(10000)) {
    if (library) pass();
    printf("%d%s\n", round, library ? "" : " gone"), fflush(stdout);
    if (!library || access("close", F_OK) != 0) continue;
    dlclose(library), library = 0;
    if (mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != page) return 1;
  }
}
C
build_c goes
for kind in points alloc,points; do
  rm -f close
  start output.txt ./goes
  await output.txt '^3$'
  program=$pid
  start recorder.txt "$PENNA" record -p "$program" -k "$kind" -f -o goes.penna --live
  await recorder.txt later:pass
  touch close
  await output.txt gone
  kill -INT "$pid"
  wait "$pid" || fail "goes: status $?: $(<recorder.txt)"
  pid=$program err=$(<recorder.txt)
  expect_contains "$err" verified
  expect_missing "$err" 'left alone'
  expect_match "$(penna replay goes.penna | grep -m1 later:pass)" 'pass'
  lines=$(wc -l <output.txt)
  sleep 0.2
  kill -0 "$pid" || fail "the program died: $(tail -n 3 output.txt)"
  [ "$(wc -l <output.txt)" -gt "$lines" ] || fail "the program makes no progress: $(tail -n 3 output.txt)"
  expect_contains "$(tail -n 1 output.txt)" gone
  # Again, with the agent already loaded.
  run penna record -p "$pid" -k "$kind" -f -o goes.penna --duration 200ms
  expect_eq 0 "$status" "goes again: status"
  kill "$pid"
done
