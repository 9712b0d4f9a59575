#!/bin/bash
# SPDX-License-Identifier: MIT
# Forked children that cannot reach the recorder, as in a sandbox, run as without Penna, and are reported with their
# numbers and the reason.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir empty
cat >sandbox.c <<'C'
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
// ./sandbox CHILDREN [pids]: behind another root and in another network, where neither name of the recorder's socket is; pids: and where
// children are numbered from 1.
int main(int argc, char** argv) {
  if (unshare(CLONE_NEWNET | (argc > 2 ? CLONE_NEWPID : 0)) != 0 || chroot("empty") != 0 || chdir("/") != 0) return 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; i < atoi(argv[1]); i++) {
    const pid_t child = fork();
    if (child == 0) {
      free(malloc(10));
      _exit(0);
    }
    printf("child %d\n", child);
    waitpid(child, NULL, 0);
  }
  return 4;
}
C
build_c sandbox
why='was not recorded: it was forked and could not reach the recorder \(another root, a sandbox\)'

run as_root "$PENNA" record -f -k alloc -o one.penna -- ./sandbox 2
expect_eq 4 "$status" "status"
for pid in $(sed 's/child //' <<<"$out"); do expect_match "$err" "^penna: a process \(pid $pid\) $why$"; done
expect_eq 2 "$(grep -c 'not recorded' <<<"$err")" "sentences"
run as_root "$PENNA" info one.penna
expect_eq 2 "$(grep -cE "^a process \(pid [1-9][0-9]*\) $why" <<<"$out")" "sentences of info"

run as_root "$PENNA" record -f -k alloc -o pids.penna -- ./sandbox 1 pids
expect_eq 4 "$status" "status"
expect_match "$err" "^penna: a process $why$"

run as_root "$PENNA" record -f -k alloc -o many.penna -- ./sandbox 7
expect_contains "$err" '7 programs and processes were not recorded: 7 forked without a way to the recorder; see: penna info'
run as_root "$PENNA" info many.penna
expect_eq 7 "$(grep -cE "^a process \(pid [1-9][0-9]*\) $why" <<<"$out")" "sentences of info"
