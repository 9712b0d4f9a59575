#!/bin/bash
# SPDX-License-Identifier: MIT
# A program whose control group limits its memory (a container) is not killed for being recorded: it may use what it
# would without Penna, but a small part of the limit.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
first=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
if [ -n "$first" ]; then
  group=$first/penna-e2e-$$ limit=memory.limit_in_bytes
else
  grep -qw memory "$unified/cgroup.subtree_control" || as_root bash -c "echo +memory >$unified/cgroup.subtree_control"
  group=$unified/penna-e2e-$$ limit=memory.max
fi
as_root mkdir "$group"
trap 'status=$?; cd /; as_root kill -9 $(as_root cat "$group/cgroup.procs") 2>/dev/null || true
      until_true "the group is empty" as_root rmdir "$group"; rm -rf "$work"; exit $status' EXIT

cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { kThreads = 20 };
static void* work(void* none) {
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3000; ++i) free(__extension__({ void* volatile block = malloc(64); block; }));
    usleep(5000);
  }
  return none;
}
// ./threads MIB: keeps that much memory, and allocates in many threads.
int main(int argc, char** argv) {
  const size_t bytes = (size_t)atoi(argv[1]) << 20;
  pthread_t threads[kThreads];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  memset(malloc(bytes), 1, bytes);
  puts("begins"), fflush(stdout);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kThreads; ++i)
      if (pthread_create(&threads[i], &small, work, NULL) != 0) return 1;
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  }
  puts("ends");
  return argc == 2 ? 7 : 1;
}
C
build_c threads
inside() { as_root env MALLOC_ARENA_MAX=1 bash -c "echo \$\$ >$group/cgroup.procs; exec \"\$@\"" inside "$@"; }
for megabytes in 32 64 100; do
  as_root bash -c "echo ${megabytes}M >$group/$limit"
  kept=$((megabytes * 5 / 8))
  run inside ./threads $kept
  expect_eq "7 begins
ends" "$status $out" "alone, of $megabytes MB"
  start said.txt inside ./threads $kept
  await said.txt begins
  run as_root "$PENNA" record -f -q -k alloc -o it.penna -p "$(grep -v '^0$' "$group/cgroup.procs" | head -n 1)"
  expect_eq "0 " "$status $err" "attached to, with $megabytes MB"
  status=0; wait "$pid" || status=$?
  expect_eq "7 ends" "$status $(tail -n 1 said.txt)" "attached to, with $megabytes MB"
  run penna report health it.penna
  expect_contains "$out" 'nothing lost'
  run as_root env MALLOC_ARENA_MAX=1 "$PENNA" record -f -q -k alloc -o it.penna -- \
    bash -c "echo \$\$ >$group/cgroup.procs; exec ./threads $kept"
  expect_eq "7 begins
ends" "$status $out" "recorded, with $megabytes MB"
done
