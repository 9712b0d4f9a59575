#!/bin/bash
# SPDX-License-Identifier: MIT
# Frees of a parent's blocks in a forked child are neither unknown nor leaks, and every view of a single process agrees.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >inherit.c <<'PROGRAM'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void* volatile kept[10];
int main(void) {
  for (int i = 0; i < 10; ++i) kept[i] = malloc(100 + i);
  if (fork() == 0) {
    for (int i = 0; i < 4; ++i) free(kept[i]);
    kept[4] = realloc(kept[4], 5000);
    _exit(0);
  }
  wait(0);
  for (int i = 0; i < 10; ++i) free(kept[i]);
  return 0;
}
PROGRAM
build_c inherit
penna record -q -k alloc -o inherit.penna -- ./inherit
run penna report alloc inherit.penna --by process
expect_contains "$out" '; 5 frees of blocks that forked processes had of their parents'
expect_match "$out" '^5.00 kB +1 .* 5 +[0-9]+  inherit$'
expect_match "$out" '^1.0[0-9] kB +10 .* 0 +[0-9]+  inherit$'
expect_missing "$(penna report alloc inherit.penna)" 'was not recorded'
expect_match "$(penna report health inherit.penna)" '^inherited frees +5 '
run penna report alloc inherit.penna --by process --json
child=$(python3 -c 'import json, sys; print(*[row["pid"] for row in json.load(sys.stdin)["alloc"] if row["inherited_frees"] == 5])' <<<"$out")

run penna export rtrace --pid "$child" inherit.penna -o child.rtrace
expect_contains "$err" "5 frees of blocks that were there when process $child was forked: left out"
expect_contains "$(<child.rtrace)" '# 5 frees of blocks inherited at the fork: not shown'
expect_eq 0 "$(grep -c ' free(' child.rtrace || true)" "frees of the child in rtrace"
run penna export rtrace inherit.penna -o parent.rtrace --pid "$(penna report alloc inherit.penna --by process --json | python3 -c 'import json, sys; print(*[row["pid"] for row in json.load(sys.stdin)["alloc"] if row["inherited_frees"] == 0])')"
expect_missing "$err$(<parent.rtrace)" 'was forked'
expect_eq 10 "$(grep -c ' free(' parent.rtrace)" "frees of the parent in rtrace"
