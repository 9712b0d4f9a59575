#!/bin/bash
# SPDX-License-Identifier: MIT
# record --libcalls: calls from one module into another, however they are bound, of unprepared programs.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >shop.c <<'PROGRAM'
int price(int n) { return n * 2; }
int pay(int n) { return n + 1; }
int total(int n) { return pay(n) + pay(n); }
double mean(double a, double b, double c, double d, double e, double f, double g, double h, double i, double j) {
  return (a + b + c + d + e + f + g + h + i + j) / 10;
}
PROGRAM
cat >app.c <<'PROGRAM'
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
int price(int), pay(int), total(int);
double mean(double, double, double, double, double, double, double, double, double, double);
static int (*volatile by_pointer)(int) = price;
int main(int argc, char** argv) {
  jmp_buf back;
  int sum = 0;
  if (setjmp(back) != 0) return 9;
  for (int i = 0; i < 5; ++i) sum += price(i);
  for (int i = 0; i < 3; ++i) sum += total(i);
  sum += by_pointer(1);
  printf("%d %d %.1f %d %zu\n", sum, by_pointer == price, mean(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), argc, strlen(argv[0]) > 0);
  return 3;
}
PROGRAM
for shop in '' '-fno-plt'; do
  gcc -O1 -fPIC -shared $shop shop.c -o libshop.so
  for way in '-Wl,-z,lazy' '-Wl,-z,now' '-fno-plt' '-fno-pie -no-pie' '-Wl,-z,now -Wl,-z,norelro' '-static-pie -Wl,-Bdynamic'; do
    case $way in -static-pie*) way='-s' ;; esac  # and one that is stripped
    gcc -O1 $way app.c -o app -L. -lshop -Wl,-rpath,"$PWD"
    run ./app
    plain=$out
    run "$PENNA" record -q -k calls --libcalls -o app.penna -f -- ./app
    expect_eq 3 "$status" "exit status ($way)"
    expect_eq "$plain" "$out" "output ($way)"
    penna report calls app.penna --format csv >calls.csv
    penna report health app.penna >health.txt
    /usr/bin/python3 - "$way $shop" <<'PYTHON' || fail "calls of a program built with $way $shop"
import csv, sys
calls = {row['function']: int(row['calls']) for row in csv.DictReader(open('calls.csv'))}
# by_pointer is the function itself, or in a program at a fixed address its entry of the linkage table.
health = open('health.txt').read()
seen = calls.get('price') in (5, 6) or 'calls of price [app] are not recorded: it is called through a pointer' in health
assert seen and calls['total'] == 3 and calls['mean'] == 1, (sys.argv, calls)
assert calls['pay'] == 6, (sys.argv, calls)  # from one function of the library to another: by its linkage table
assert calls['printf'] == 1 or calls.get('__printf_chk') == 1, (sys.argv, calls)
assert not {'setjmp', '_setjmp', '__libc_start_main'} & calls.keys(), calls
PYTHON
  done
done

# Pointers returned by dlsym are unchanged; calls through them from other modules are recorded once each.
cat >plug.c <<'PROGRAM'
static __thread int uses;
int price(int n) { return ++uses, n * 2; }
int inside(int n) { return price(n) + price(n + 1); }
__attribute__((visibility("protected"))) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const char* name_of(const char* s) { return *s ? s : "none"; }
int table[4];
PROGRAM
cat >host.c <<'PROGRAM'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void* nothing(void* argument) { return argument; }
int main(int argc, char** argv) {
  (void)argv;
  for (int round = 0; round < 2; ++round) {
    pthread_t thread;
    if (argc > 1) pthread_create(&thread, 0, nothing, 0), pthread_join(thread, 0);  // alone no longer, for all that one knows
    void* lib = dlopen("./plug.so", RTLD_LAZY);
    int (*price)(int) = (int (*)(int))dlsym(lib, "price");
    int (*inside)(int) = (int (*)(int))dlsym(lib, "inside");
    int (*fib)(int) = (int (*)(int))dlsym(lib, "fib");
    const char* (*name_of)(const char*) = (const char* (*)(const char*))dlsym(lib, "name_of");
    int sum = ((int*)dlsym(lib, "table"))[0];
    for (int i = 0; i < 5; ++i) sum += price(i);
    for (int i = 0; i < 3; ++i) sum += inside(i);
    printf("%d %d %s %s %d\n", sum, fib(15), name_of("feather"), name_of(""), price == dlsym(lib, "price"));
    dlclose(lib);
  }
  int (*next)(const char*) = (int (*)(const char*))dlsym(RTLD_NEXT, "puts");
  void* found = dlsym(RTLD_DEFAULT, "puts");
  next("by pointer");
  puts("by import");
  printf("%d %d %d\n", (void*)next == found, dlvsym(RTLD_DEFAULT, "puts", "GLIBC_2.2.5") == found, next == puts);
  return 3;
}
PROGRAM
gcc -O2 -fPIC -shared plug.c -o plug.so
for way in '-Wl,-z,lazy' '-fno-plt'; do
  gcc -O1 $way host.c -o host
  run ./host
  plain=$out
  run "$PENNA" record -q -k calls --libcalls -A 'name_of@arg1/s' -o host.penna -f -- ./host
  expect_eq "3 $plain" "$status $out" "status and output ($way)"
  penna report calls host.penna --format csv >calls.csv
  for expected in price:22 inside:6 fib:2 name_of:4 puts:2; do
    expect_eq "${expected#*:}" "$(awk -F, -v name="${expected%:*}" 'index($0, name) { n += $1 } END { print n }' calls.csv)" "calls of ${expected%:*} ($way)"
  done
  run penna replay host.penna
  expect_eq 2 "$(grep -c 'name_of(arg1="feather")' <<<"$out")" "calls with their arguments ($way)"
  # If other threads may be inside, functions that cannot be hooked are named.
  run "$PENNA" record -q -k calls --libcalls -o host.penna -f -- ./host threads
  expect_eq "3 $plain" "$status $out" "status and output with threads ($way)"
  penna report calls host.penna --format csv >calls.csv
  penna report health host.penna >health.txt
  for name in price inside fib name_of; do
    grep -q "$name" calls.csv || grep -q "^calls of $name .* are not recorded: it has no free memory" health.txt || fail "$name is neither recorded nor named"
  done
done
run "$PENNA" record -q -k calls,alloc --libcalls -o host.penna -f -- ./host
expect_missing "$(penna report health host.penna)" 'functions refused              [1-9]'

# Interposers of libc's functions keep working.
cat >memory.c <<'PROGRAM'
#include <stdlib.h>
int main(void) {
  for (int i = 0; i < 7; i++) {
    void* volatile block = malloc(10);
    free(block);
  }
}
PROGRAM
gcc -O1 -Wl,-z,lazy memory.c -o memory
penna record -q -k calls,alloc --libcalls -o memory.penna -- ./memory
expect_match "$(penna report alloc memory.penna)" '^7 allocations of 70 B'

# Also if a non-PIE program has taken their address, so that libraries call an entry of its PLT.
cat >keeper.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void keep(void) {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&mutex);
    void* volatile block = malloc(10);
    free(block);
    pthread_mutex_unlock(&mutex);
  }
}
PROGRAM
cat >taken.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
void keep(void);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
  void* (*volatile take)(size_t) = malloc;
  void (*volatile drop)(void*) = free;
  int (*volatile lock)(pthread_mutex_t*) = pthread_mutex_lock;
  for (int i = 0; i < 100; i++) {
    void* volatile block = malloc(10);
    drop(block);
    block = take(10);
    free(block);
    lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  keep();
}
PROGRAM
for way in '-Wl,-z,lazy' '-Wl,-z,now' '-fno-plt'; do
  gcc -O1 -shared -fPIC -fno-plt keeper.c -o libkeeper.so
  gcc -O1 $way -fno-pie -no-pie taken.c -o taken -L. -lkeeper -Wl,-rpath,"$PWD"
  penna record -q -k calls,alloc,locks --libcalls -o taken.penna -f -- ./taken
  expect_match "$(penna report alloc taken.penna)" '^300 allocations of 3.00 kB in all, .* 0 B in 0 blocks live at the end'
  expect_eq 200 "$(penna export csv taken.penna | grep -c ',lock,')" "locks ($way)"
done

# Debian's own programs: the same output, and their library calls are recorded.
ls -l /etc >plain.txt
penna record -q -k calls --libcalls -o ls.penna -- ls -l /etc >traced.txt
cmp plain.txt traced.txt || fail "ls prints something else"
run penna report calls ls.penna -n 0
expect_match "$out" ' readdir .*\[libc.so.6\]'
query='with recursive n(i) as (select 1 union all select i+1 from n where i < 2000) select count(*), sum(i*i % 97) from n;'
expect_eq "$(sqlite3 :memory: "$query")" "$(penna record -q -k calls --libcalls -o s.penna -- sqlite3 :memory: "$query")" "what sqlite3 prints"
run penna report calls s.penna -n 0
expect_match "$out" ' sqlite3_step .*\[libsqlite3'

# Together with -F: only these.
penna record -q -k calls --libcalls -F 'str*' -o str.penna -- ls -l /etc >/dev/null
penna report calls str.penna --format csv | cut -d, -f9 >names.txt || true
run penna report calls str.penna -n 0
expect_match "$out" ' strlen '
expect_missing "$out" ' readdir '
