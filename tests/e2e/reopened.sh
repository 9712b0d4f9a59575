#!/bin/bash
# SPDX-License-Identifier: MIT
# A library closed and mapped again at the same address is a new one for all code changes: even if that happens before
# dlclose has returned, and from any thread.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# dlclose(first): its destructor closes `last`; once `first` is gone, the destructor of `last` opens it again.
cat >first.c <<'C'
#include <dlfcn.h>
void* to_close;
int first_work(int n) { for (int i = 0; i < n; ++i) n += n * i; return n; }
__attribute__((destructor)) static void gone(void) { if (to_close) dlclose(to_close); }
C
cat >last.c <<'C'
#include <dlfcn.h>
void** opened;
__attribute__((destructor)) static void gone(void) { if (opened) *opened = dlopen("./first.so", RTLD_NOW); }
C
cat >closes.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
static void* again;
static void* work(void* first) { void* at = dlsym(first, "first_work"); ((int (*)(int))at)(3); return at; }
int main(void) {
  void *first = dlopen("./first.so", RTLD_NOW), *last = dlopen("./last.so", RTLD_NOW);
  void* const before = work(first);
  *(void**)dlsym(first, "to_close") = last;
  *(void***)dlsym(last, "opened") = &again;
  dlclose(first);
  if (!again) return puts("not opened again"), 1;
  return puts(work(again) == before ? "same place" : "elsewhere"), 0;
}
C
for name in first last; do gcc -O1 -g -shared -fPIC $name.c -o $name.so || fail "$name.so does not compile"; done
build_c closes -ldl
for how in "-F first_work" "--libcalls"; do
  # shellcheck disable=SC2086
  run penna record -q -k calls $how -o "closes$how.penna" -- ./closes
  expect_eq "0 same place" "$status $out" "$how"
  penna export csv "closes$how.penna" >closes.csv
  expect_eq 2 "$(grep -c ',enter,first_work,' closes.csv || true)" "calls of first_work, $how"
done

# Threads that open and close two libraries, and call each twice whenever they have opened it.
programs=$PENNA_SOURCE/tests/torture/programs
gcc -O1 -g "$programs/reopen.c" -o reopen -pthread || fail "reopen.c does not compile"
echo 'int plugin_work(int n) { return n == 3 ? 5 : n * 3 - 1; }' >work.c
for name in one two; do gcc -O1 -g -shared -fPIC work.c -o $name.so || fail "work.c does not compile"; done
for round in 1 2 3; do
  run penna record -q -k calls -F plugin_work -o "threads$round.penna" -- ./reopen "$PWD/one.so" "$PWD/two.so"
  expect_eq "0 0 mistakes" "$status $out" "threads that open and close"
  penna export csv "threads$round.penna" >threads.csv
  expect_eq 1200 "$(grep -c ',enter,plugin_work' threads.csv)" "calls of plugin_work"
done
