#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries loaded late have free memory in reach of their jumps, wherever the kernel puts them; if a program leaves
# none, this is reported.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >plugin.c <<'PROGRAM'
#include <stdlib.h>
#include <string.h>
__attribute__((noipa)) long inner(long n) { char* text = strdup("text"); long length = (long)strlen(text); free(text); return length + n; }
long plugin_work(long n) { return inner(n) + inner(n + 1); }
PROGRAM
cat >app.c <<'PROGRAM'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
/* With an argument: takes 3 GB on both sides of its libraries, but for what has less than 64 kB: there the next library goes. */
int main(int argc, char** argv) {
  const size_t part = 64 << 10, reach = 3ul << 30;
  char* const libraries = (char*)((size_t)&puts & -part);
  for (char* at = libraries - reach; argc > 1 && at < libraries + reach && at < (char*)argv; at += part)
    mmap(at, part, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  void* library = dlopen("./plugin.so", RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  printf("%ld\n", ((long (*)(long))dlsym(library, "plugin_work"))(5));
  return 3;
}
PROGRAM
gcc -O2 -fPIC -shared plugin.c -o plugin.so
gcc -O2 app.c -o app

for way in '' 'setarch -R'; do
  for _ in {1..5}; do
    # shellcheck disable=SC2086
    run $way "$PENNA" record -f -o late.penna -k calls --libcalls -- ./app
    expect_eq '3 19' "$status $out" "late with '$way'"
    expect_missing "$err" 'not entered'
    expect_match "$(penna report calls late.penna --format csv)" '^2,.*strdup'
  done
done

run "$PENNA" record -f -o full.penna -k calls --libcalls -- ./app full
expect_eq '3 19' "$status $out"
expect_match "$err" 'functions in .*plugin.so are not entered: [0-9]+ places have no free memory within reach of a jump'
