#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that opens 1,500 libraries, each with a point and a function that allocates: every point is recorded, and
# every stack has the right library.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >part.c <<'C'
#include <stdlib.h>
#include "penna/point.h"
void *part_work(long number) {
  PENNA_EVENT(parts, work, number);
  return malloc(24);
}
C
cat >opener.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static void *volatile kept;
int main(int argc, char **argv) {
  const int count = atoi(argv[1]);
  for (int i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, "./libpart_%04d.so", i);
    void *part = dlopen(name, RTLD_NOW);
    void *(*work)(long) = part != NULL ? (void *(*)(long))dlsym(part, "part_work") : NULL;
    if (work == NULL) return puts(dlerror()), 1;
    kept = work(i);
  }
  return 0;
}
C
count=1500
gcc -O1 -g -shared -fPIC -I"$PENNA_SOURCE/include" part.c -o part.so -Wl,-soname,libpart_NNNN.so || fail "part.c does not compile"
build_c opener -ldl
/usr/bin/python3 - "$count" <<'PYTHON'
import sys
part = open("part.so", "rb").read()
for i in range(int(sys.argv[1])):
    open("libpart_%04d.so" % i, "wb").write(part.replace(b"libpart_NNNN", b"libpart_%04d" % i))
PYTHON

run penna record -q -k alloc,points -o modules.penna -- ./opener "$count"
expect_eq 0 "$status" "status: $out$err"
penna export csv modules.penna >modules.csv
expect_eq "$count" "$(grep -c ',point,parts:work,' modules.csv || true)" "points"
penna report alloc modules.penna --by module -n 0 >modules.txt
expect_eq "$count" "$(grep -c 'libpart_[0-9]*\.so' modules.txt || true)" "libraries that allocated"
expect_missing "$(<modules.txt)" "generated code"
expect_contains "$(penna report health modules.penna)" "nothing lost"
