#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p of a program that opens and closes the unwinder's library all the time: found when the agent looks for
# _Unwind_Backtrace, it may be gone when that is to be changed. And of its other libraries, whichever they are.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >opener.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char** paths) {
  for (int round = 0; access("end", F_OK) != 0; ++round) {
    for (int i = 1; i < count; ++i) {
      void* const library = dlopen(paths[i], RTLD_NOW);
      if (library == NULL || dlclose(library) != 0) return printf("WRONG: %s\n", dlerror()), 3;
    }
    if (round % 16 == 0) printf("%d\n", round), fflush(stdout);
  }
  return 7;
}
C
build_c opener
for _ in {1..12}; do
  rm -f end
  start lines.txt ./opener libgcc_s.so.1 libresolv.so.2 libcrypt.so.1
  await lines.txt '^16$'
  attach "$pid"
  touch end
  status=0
  wait "$pid" || status=$?
  expect_eq 7 "$status" "status of the program: $(tail -1 lines.txt)"
done
