#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs started where the agent's file is not accessible, under another root or as a user without permission to read
# it: their output is unchanged, and they are reported as missing from the recording.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
libc=$(ldd /bin/echo | sed -n 's/.*=> \(.*libc.so.6\) .*/\1/p')
mkdir -p root/bin "root$(dirname "$libc")" root/lib64
cp /bin/echo root/bin
cp "$libc" "root$libc"
cp /lib64/ld-linux-x86-64.so.2 root/lib64
cat >>start.c <<'C'
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
// ./start exec|spawn|system: goes behind another root and starts an echo there.
int main(int argc, char** argv) {
  char* const words[] = {"/bin/echo", "behind", NULL};
  pid_t child;
  int status = -1;
  if (argc != 2 || chroot("root") != 0 || chdir("/") != 0) return 1;
  execv("/none/echo", words);  // as shells look for it
  execv("/usr/bin/echo", words);
  if (strcmp(argv[1], "exec") == 0) return execv(words[0], words);
  if (strcmp(argv[1], "system") == 0) return system("echo never") >> 8;  // there is no shell
  if (posix_spawn(&child, words[0], NULL, NULL, words, environ) == 0) waitpid(child, &status, 0);
  return status >> 8;
}
C
build_c start
cat >run.sh <<'S'
cd "$1"; shift
exec "$@"
S
for how in exec spawn system; do
  run as_root bash run.sh "$work" ./start $how
  alone="$status $out $err"
  run as_root "$PENNA" record -q -f -k alloc -o other.penna -- bash run.sh "$work" ./start $how
  expect_eq "$alone" "$status $out $err" "by $how"
  run as_root "$PENNA" info other.penna
  [ $how != system ] || program=/bin/sh
  expect_eq 1 "$(grep -cE "^${program-/bin/echo}( \(pid [1-9][0-9]*\))? was not recorded: the agent's file is not there for it" <<<"$out")" "lines of info, by $how"
done
