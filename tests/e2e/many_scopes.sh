#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls into a library that was opened with RTLD_GLOBAL after more than a thousand others: the call target is found
# there, too.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >opens.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
static void* opened(const char* name, int mode) {
  void* const library = dlopen(name, mode);
  if (library == NULL) puts(dlerror());
  return library;
}
int main(void) {
  char name[64];
  for (int i = 0; i < 1100; ++i) {
    snprintf(name, sizeof name, "./small/%d.so", i);
    if (opened(name, RTLD_GLOBAL | RTLD_NOW) == NULL) return 1;
  }
  void* const gives = opened("./gives.so", RTLD_GLOBAL | RTLD_NOW);
  void* const asks = opened("./asks.so", RTLD_LAZY);
  int (*ask)(void) = gives == NULL || asks == NULL ? NULL : (int (*)(void))dlsym(asks, "ask");
  return ask == NULL || ask() != 42;
}
C
build_c opens -ldl
mkdir small
echo 'int small;' >small.c
echo 'int given(int by) { return 40 + by; }' >gives.c
echo 'int given(int by); int ask(void) { return given(1) + given(0) - 39; }' >asks.c
gcc -shared -nostdlib -fPIC small.c -o small/0.so || fail "small.c does not compile"
for i in $(seq 1099); do cp small/0.so "small/$i.so"; done
for how in lazy now; do
  gcc -O1 -shared -fPIC gives.c -o gives.so && gcc -O1 -shared -fPIC asks.c -Wl,-z,$how -o asks.so || fail "no library"
  run penna record -q -k calls --libcalls -f -o many.penna -- ./opens
  expect_eq "0 " "$status $out" "-z $how"
  expect_eq 2 "$(penna report many.penna calls -n 0 --format csv | /usr/bin/python3 -c '
import csv, sys
print(sum(int(row["calls"]) for row in csv.DictReader(sys.stdin) if row["function"] == "given"))')" "calls of given, -z $how"
done
