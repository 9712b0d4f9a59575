#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p of processes in containers, from outside: with a root directory, a network and users of their own.
# They and the children that they fork are recorded, and programs that they start where the agent's file is; nothing stays.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
chmod 755 .
mkdir -p p/bin p/lib  # which any user may read
cp "$PENNA" p/bin
cp "$(dirname "$PENNA")/../lib/libpenna-agent.so" p/lib
PENNA=$work/p/bin/penna
cat >contained.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void* volatile kept;
// Says that it runs; then, once it gets a line, allocates a thousand blocks, as does a child, which is another program
// if there is an argument. Ends at the next line.
int main(int argc, char** argv) {
  char line[8];
  int status = 0;
  puts("runs"), fflush(stdout);
  if (argc < 3 && !fgets(line, sizeof line, stdin)) return 1;
  const pid_t child = argc < 3 ? fork() : 0;
  if (child == 0 && argc == 2) return execl(argv[0], argv[0], argv[1], "child", NULL);
  for (int i = 0; i < 1000; ++i) kept = malloc(20);
  if (child == 0) _exit(3);
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status)), fflush(stdout);
  return fgets(line, sizeof line, stdin) ? 7 : 1;
}
C
build_c contained
libc=$(ldd ./contained | sed -n 's/.*=> \(.*libc.so.6\) .*/\1/p')
mkdir -p "root$(dirname "$libc")" root/lib64 root/proc
cp contained root
cp "$libc" "root$libc"
cp /lib64/ld-linux-x86-64.so.2 root/lib64
is_served_to_root() { [[ $(as_root "$PENNA" ctl "$1" off nothing:here 2>&1) =~ 'names no point'|'does not take points' ]]; }
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
# recorded WHAT CMD...: contained, started by the command, is recorded by root.
recorded() {
  local what=$1 target
  shift
  rm -f words
  mkfifo words
  "$@" <words >said.txt 2>&1 &
  started+=($!)
  exec 8>words
  await said.txt runs
  target=$(pgrep -n -x contained)
  : >err.txt
  as_root "$PENNA" record -f -o it.penna -k alloc -p "$target" 2>err.txt &
  until_true "$what: attached" is_served_to_root "$target"
  echo go >&8
  await said.txt 'child 3'
  as_root "$PENNA" ctl "$target" stop >/dev/null 2>&1
  wait $! || fail "$what: $(cat err.txt)"
  expect_contains "$(cat err.txt)" 'verified'
  expect_missing "$(cat err.txt)" 'not recorded'
  expect_eq '' "$(as_root grep "@.*penna-.*socket+$target\$" "/proc/$target/net/unix" || true)" "$what: sockets that stay"
  echo end >&8
  exec 8>&-
  until_true "$what: it ends" [ ! -e "/proc/$target" ]
  [ "$(as_root "$PENNA" report alloc it.penna --json -n 0 |
    /usr/bin/python3 -c 'import json, sys; print(sum(row["count"] for row in json.load(sys.stdin)["alloc"]))')" -ge 2000 ] ||
    fail "$what: allocations of the process and its child are missing"
  # The names come from the container's files, which nothing leads to any more.
  expect_match "$(as_root "$PENNA" report alloc it.penna --by function)" '\bmain\b.* \((contained.c|\[contained\])'
}
container=(unshare --mount --pid --net --ipc --uts --fork)
recorded "a root and a network" as_root "${container[@]}" --mount-proc="$work/root/proc" chroot root /contained
recorded "with users" as_root "${container[@]}" --user --map-root-user --mount-proc="$work/root/proc" chroot root /contained
recorded "users alone" as_root "${nobody[@]}" unshare --user --map-root-user ./contained
recorded "users and a network" as_root "${nobody[@]}" "${container[@]}" --user --map-root-user ./contained
recorded "a program that is started" as_root "${nobody[@]}" "${container[@]}" --user --map-root-user ./contained starts
