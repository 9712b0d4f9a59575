#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that cannot be recorded are reported one by one, with the true reason, and without delays. Whether they are
# started by system(), by a shell, by exec or by posix_spawn makes no difference; programs that failed to start are not
# reported.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need strace
echo 'int main(int argc, char** argv) { (void)argv; return argc > 1; }' >still.c
build_c still -static -s
cp still still_too
cat >starts.c <<'C'
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
// ./starts HOW PROGRAM: after a look at a place where it is not.
int main(int argc, char** argv) {
  char* const words[] = {argv[2], NULL};
  pid_t child;
  if (argc != 3) return 1;
  execv("/none/still", words);
  execv("/tmp", words);
  if (strcmp(argv[1], "exec") == 0) execv(words[0], words);
  if (strcmp(argv[1], "spawn") == 0 && posix_spawn(&child, words[0], NULL, NULL, words, environ) == 0)
    printf("pid %d\n", child);
  if (strcmp(argv[1], "vfork") == 0 && (child = vfork()) == 0) _exit(execve(words[0], words, environ));
  if (strcmp(argv[1], "system") == 0) return system(words[0]);
  return wait(NULL) < 0;
}
C
build_c starts

for how in exec spawn vfork system; do
  run penna record -f -k alloc -o starts.penna -- ./starts $how ./still
  expect_match "$err" '^penna: \./still \(pid [1-9][0-9]*\) was not recorded: it is statically linked'
  expect_eq 1 "$(grep -c 'was not recorded' <<<"$err")" "sentences about $how"
  run penna info starts.penna
  expect_match "$out" '^\./still \(pid [1-9][0-9]*\) was not recorded: it is statically linked'
  run penna record -f -k alloc -o starts.penna -- ./starts $how ./nothing
  expect_missing "$err" 'not recorded'
  run penna record -f -k alloc -o starts.penna -- ./starts $how /bin/true
  expect_missing "$err" 'not recorded'
done
run penna record -f -k alloc -o starts.penna -- ./starts spawn ./still
expect_contains "$err" "(${out/pid /pid }) was not recorded"

# However many there are, they take one line.
run penna record -f -k alloc -o many.penna -- bash -c 'for i in 1 2 3 4 5; do ./still; ./still_too; done; ./still'
expect_contains "$err" '11 programs that were started were not recorded: 11 statically linked; see: penna info'
[ "$(grep -c '^penna: ' <<<"$err")" -le 6 ] || fail "more than six lines"
run penna info many.penna
expect_eq 11 "$(grep -c 'was not recorded: it is statically linked' <<<"$out")" "lines of info"

# Limits that leave no room.
echo 'int main(void) { return 0; }' >killed.c
build_c killed
run penna record -f -k alloc -o room.penna -- bash -c '(ulimit -f 100; ./killed; exec ./killed)'
expect_match "$err" 'killed \(pid [0-9]+\) was not recorded: its resource limits \(ulimit\) leave no memory'
# It may set them itself; then its forked children have none either.
cat >limited.c <<'C'
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  const struct rlimit few = {100 << 10, 100 << 10};
  setrlimit(RLIMIT_FSIZE, &few);
  const pid_t child = fork();
  if (child == 0) _exit(5);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
C
build_c limited
run penna record -f -k alloc -o room.penna -- ./limited
expect_eq 5 "$status" "status of a program that limits itself"
expect_match "$err" '^penna: a process \(pid [0-9]+\) was not recorded: its resource limits \(ulimit\) leave no memory'

# There is no waiting for processes that never connect: the recorder's thread that waits for others has no timeout, or
# only looks (0); but if the command has ended and others live, it waits one second before saying so.
for what in './still' 'bash -c "./still; ./still"' './starts system ./nothing' 'bash -c "(ulimit -f 100; exec ./killed)"'; do
  run strace -qq -e signal=none -e trace=poll,ppoll,select,pselect6,nanosleep,clock_nanosleep,epoll_wait -o waits.txt \
    "$PENNA" record -q -f -k alloc -o waits.penna -- bash -c "$what"
  grep -Ev ', (-1|0|1000)\) ' waits.txt >timed.txt || true
  [ ! -s timed.txt ] || fail "the recorder waits for $what: $(<timed.txt)"
done

# Where only the libraries of a program are listed, ours is not among them, and no program is missed.
names() { sed 's/ (0x.*//' <<<"$1"; }
run ldd /bin/true
want=$(names "$out")
for how in "ldd /bin/true" "env LD_TRACE_LOADED_OBJECTS=1 /bin/true" "env /lib64/ld-linux-x86-64.so.2 --list /bin/true"; do
  run penna record -f -k alloc -o list.penna -- $how
  expect_eq "$want" "$(names "$out")" "what $how lists"
  expect_missing "$err" 'never reached'
done
