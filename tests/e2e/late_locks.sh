#!/bin/bash
# SPDX-License-Identifier: MIT
# Lock functions in libraries that a program opens: with other threads and without, closed and opened again, by several
# at once; those not hooked, because other threads may be running in them, are named.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need libabsl-dev

# Its work is 100 acquisitions of each lock, and one wait of 20 ms or more; or only of its own lock.
cat >plugin.cc <<'PROGRAM'
#include <absl/synchronization/mutex.h>
#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#define PLACE __attribute__((noipa))
static PLACE bool own_try(int *word) { return __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) == 0; }
static PLACE void own_lock(int *word) { errno = 0; while (!own_try(word)) usleep(500); }
static PLACE void own_unlock(int *word) { errno = 0; __atomic_store_n(word, 0, __ATOMIC_RELEASE); }
static int own_word;
static absl::Mutex ledger;
static void *idle(void *ignored) { for (;;) pause(); return ignored; }
__attribute__((constructor)) static void loaded() {
  pthread_t thread;
  Dl_info absl;  // which crashes, once in a while, when it is unloaded
  void (absl::Mutex::*lock)() = &absl::Mutex::Lock;
  dladdr(*(void **)&lock, &absl);
  if (THREAD) pthread_create(&thread, 0, idle, 0);
  dlopen(absl.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
static PLACE void audit(std::atomic<int> *phase) {
  absl::MutexLock lock(&ledger);
  *phase = 1;
  while (*phase == 1) usleep(500);
  usleep(20000);
}
static PLACE void pay(std::atomic<int> *phase) {
  while (*phase == 0) usleep(500);
  *phase = 2;
  absl::MutexLock lock(&ledger);
}
extern "C" __attribute__((visibility("default"))) int plugin_work() {
  for (int i = 0; i < 100; i++) own_lock(&own_word), own_unlock(&own_word);
  if (!WAIT) return 1;
  for (int i = 0; i < 98; i++) absl::MutexLock lock(&ledger);
  std::atomic<int> phase{0};
  std::thread one(audit, &phase), other(pay, &phase);
  one.join();
  other.join();
  return 1;
}
PROGRAM
absl=$(pkg-config --libs absl_synchronization | tr ' ' '\n' | grep -- '^-labsl' | tr '\n' ' ')
# plugin NAME WAIT THREAD
plugin() {
  # shellcheck disable=SC2086
  g++ -std=c++17 -O2 -g -shared -fPIC -fvisibility=hidden -fno-gnu-unique plugin.cc -DWAIT="$2" -DTHREAD="$3" -o "$1" $absl || fail "plugin.cc does not compile"
}
plugin plugin.so 1 0
plugin starter.so 1 1
plugin quiet.so 0 0
cp plugin.so other.so

# ./opener {LIBRARY|close|threads}...
cat >opener.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void* idle(void* ignored) { for (;;) pause(); return ignored; }
int main(int count, char** names) {
  int sum = 0;
  void* opened = 0;
  pthread_t thread;
  for (int i = 1; i < count; ++i) {
    if (strcmp(names[i], "threads") == 0) { pthread_create(&thread, 0, idle, 0); continue; }
    if (strcmp(names[i], "close") == 0) { dlclose(opened); continue; }
    opened = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!opened) return puts(dlerror()), 1;
    sum += ((int (*)(void))dlsym(opened, "plugin_work"))();
  }
  return printf("%d\n", sum) < 0;
}
C
build_c opener

own='own_lock=own_unlock,try=own_try'
# record NAME SUM PROGRAM ARGUMENT...: traced and untraced output are the same.
record() {
  local name=$1 sum=$2
  shift 2
  run penna record -k locks --lock-functions "$own" -o "$name.penna" -- "$@"
  expect_eq "0 $sum" "$status $out" "$name"
}
cat >check.py <<'CHECK'
import json, sys
name, works, waits = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = json.load(open(name))['locks']
own = [row for row in rows if row['kind'] == 'own lock']
ledgers = [row for row in rows if row['kind'] == 'rwlock']
assert sum(row['taken'] for row in own) == 100 * works, rows
# absl has a mutex or two of its own
assert sum(row['taken'] for row in ledgers if 'ledger' in row['lock']) == 100 * works, rows
assert sum(row['waits'] for row in ledgers) == waits, rows
for row in ledgers:
    if 'ledger' in row['lock'] and row['waits']:
        assert 20e6 <= row['max_wait_ns'] and 'audit' in row['holder'], row
    assert row['hold_ns'] < 60e9, row
CHECK
# expect_locks NAME WORKS WAITS: plugin_work() ran and waited this often, all of it recorded.
expect_locks() {
  penna report "$1.penna" locks --json >"$1.json"
  /usr/bin/python3 check.py "$1.json" "$2" "$3" || fail "the locks of $1 are not those of the program: $(penna report "$1.penna" locks)"
}

record opened 1 ./opener ./plugin.so
expect_locks opened 1 1
expect_missing "$err" "not recorded"
expect_missing "$err" "lock-functions"
record threads 1 ./opener threads ./plugin.so
expect_locks threads 1 1
record again 4 ./opener ./plugin.so close ./plugin.so threads ./other.so close ./plugin.so
expect_locks again 4 4
many=()
for ((i = 0; i < 20; i++)); do many+=(./plugin.so close ./other.so close); done
record many 40 ./opener "${many[@]}"
expect_locks many 40 40
expect_missing "$err" "not recorded"

# With allocations and calls recorded, too.
run penna record -k calls,alloc,locks --lock-functions "$own" -F plugin_work -o both.penna -- ./opener ./plugin.so close ./plugin.so
expect_eq "0 2" "$status $out" both
expect_locks both 2 2

# A constructor's thread may be running in it.
record starter 1 ./opener ./starter.so
not_now="may be running in other threads when it is found; open it before threads are started"
expect_match "$err" "locks by .* in .* are not recorded: .* $not_now, and [0-9]+ more"
run penna report starter.penna health
expect_match "$out" "locks by absl::Mutex in libabsl_synchronization.so.* are not recorded: .* $not_now"
expect_match "$out" "locks by own_lock.* in starter.so are not recorded: .* $not_now"
expect_missing "$(penna report starter.penna locks 2>&1)" "own lock"

# Libraries found through the RUNPATH of their opener.
mkdir folder
cp plugin.so folder/found.so
gcc -O1 -g opener.c -o searching -pthread -Wl,--enable-new-dtags,-rpath,"$PWD/folder"
record searching 1 ./searching found.so
expect_locks searching 1 1

# Threads that open the same library at the same time: the second one waits until it is hooked.
build_c together
run penna record -k locks --lock-functions "$own" -o together.penna -- ./together ./quiet.so
expect_eq "0 120" "$status $out" together
penna report together.penna locks --json >together.json
expect_eq 12000 "$(/usr/bin/python3 -c '
import json
print(sum(row["taken"] for row in json.load(open("together.json"))["locks"] if row["kind"] == "own lock"))')" "acquisitions together"

# The unlock of a lock held while its first function is hooked is recorded as usual.
cat >holding.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
int main(int count, char** names) {
  pthread_mutex_lock(&outer);
  void* opened = dlopen(names[count - 1], RTLD_NOW);
  ((int (*)(void))dlsym(opened, "plugin_work"))();
  pthread_mutex_unlock(&outer);
  usleep(300000);
  return 0;
}
C
build_c holding
run penna record -k locks --lock-functions "$own" -o holding.penna -- ./holding ./quiet.so
penna report holding.penna locks --json >holding.json
/usr/bin/python3 -c '
import json
row = [row for row in json.load(open("holding.json"))["locks"] if row["lock"] == "outer"][0]
assert row["taken"] == 1 and 0 < row["hold_ns"] < 250e6, row' || fail "wrong hold time of outer"
