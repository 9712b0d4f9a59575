#!/bin/bash
# SPDX-License-Identifier: MIT
# valgrind and its children: each tool's output and files are as without us, and the program it runs is reported as
# unrecorded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need valgrind
cat >leaky.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static char* volatile kept;
static void* work(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&lock);
    ++count;
    pthread_mutex_unlock(&lock);
    kept = strdup("leaks");
  }
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  return printf("%d %d\n", count, kept[6] != 0) < 0;
}
C
build_c leaky
printf '#!/bin/sh\nvalgrind --tool=memcheck ./leaky\necho $?\n' >script
chmod +x script
# The same except for what differs from run to run: pids, addresses, and the number of false positives due to thread
# order.
plain() { sed -E 's/==[0-9]+==/==N==/; /^penna: /d; s/0x[0-9A-F]+/ADDR/g; s/\(suppressed: .*/(suppressed: N)/' "$1"; }

for tool in memcheck helgrind drd massif dhat none; do
  case $tool in massif) how=(--massif-out-file=%q{WHO}) ;; dhat) how=(--dhat-out-file=%q{WHO}) ;; *) how=() ;; esac
  WHO=alone.out run valgrind --tool=$tool "${how[@]}" ./leaky
  alone="$status $out $(plain err.txt | sed 's/alone.out/WHO/')"
  WHO=ours.out run penna record -f -o of.penna -- valgrind --tool=$tool "${how[@]}" ./leaky
  expect_eq "$alone" "$status $out $(plain err.txt | sed 's/ours.out/WHO/')" "$tool"
  expect_match "$err" "^penna: .*/$tool-amd64-linux \(pid [0-9]+\) was not recorded: it is a tool of valgrind"
done
if command -v callgrind_annotate >/dev/null; then
  run valgrind --tool=callgrind --callgrind-out-file=alone.cg ./leaky
  run penna record -q -f -o of.penna -- valgrind --tool=callgrind --callgrind-out-file=ours.cg ./leaky
  expect_missing "$(<ours.cg)" 'libpenna-agent'
fi
run ./script
alone="$status $out $(plain err.txt)"
run penna record -f -o of.penna -- ./script
expect_eq "$alone" "$status $out $(plain err.txt)" "a script that starts valgrind"
expect_contains "$err" 'it is a tool of valgrind'
