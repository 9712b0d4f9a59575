#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command that README.md and docs/ show is run, in the order of each page, on what it records itself; what they
# show as its output has to look like what it prints now (docs.py).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need 'python3.11-dbg|python3.13-dbg'

# What the pages take for granted: the two programs that they talk about.
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
cat >example.c <<'PROGRAM'
#include <stdlib.h>
char *kept;
int main(void) {
  kept = malloc(64);
}
PROGRAM
build_c example

cat >prefork.c <<'PROGRAM'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) void answer(void) {}
__attribute__((noipa)) void serve(void) {
  if (fork() == 0)
    answer();
  else
    wait(NULL);
}
int main(void) { serve(); }
PROGRAM
build_c prefork -finstrument-functions

cat >ledger.cc <<'PROGRAM'
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <string>
#include <vector>
static void* volatile kept[4];
__attribute__((noipa)) void remember(int i) { kept[i] = malloc(1000); }
__attribute__((noipa)) std::string entry(int i) { return std::string(200, 'x') + std::to_string(i); }
__attribute__((noipa)) void on_audio(float* sample) { *sample *= 0.5F; }
int main() {
  for (int i = 0; i < 4; i++) remember(i);
  std::vector<std::string> entries;
  for (int i = 0; i < 20; i++) entries.push_back(entry(i));
  std::thread([&] { entries.clear(); }).join();
  float sample = 1;
  on_audio(&sample);
  printf("%g\n", static_cast<double>(sample));
}
PROGRAM
build_c ledger -finstrument-functions -finstrument-functions-exclude-file-list=/usr/

build_c lock_orders
build_c lock_chain

/usr/bin/python3 "$PENNA_SOURCE/tests/e2e/docs.py" --self-test
/usr/bin/python3 "$PENNA_SOURCE/tests/e2e/docs.py" "$PENNA_SOURCE" "$PENNA"
