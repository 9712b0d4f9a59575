#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command that README.md and docs/ show is run, in the order of each page, on what it records itself; what they
# show as its output has to look like what it prints now (docs.py).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need python3.11-dbg

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

/usr/bin/python3 "$PENNA_SOURCE/tests/e2e/docs.py" --self-test
/usr/bin/python3 "$PENNA_SOURCE/tests/e2e/docs.py" "$PENNA_SOURCE" "$PENNA"
