#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record -p PID of a process with a seccomp filter: recorded if the filter permits, else refused in one sentence
# that names the system call; and the process survives.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ "$(id -u)" = 0 ] || { echo "SKIP: only root may read a filter"; exit 0; }
build_c filters
memfd_create=319 futex=202 keyctl=250 membarrier=324

# filtered MODE [NUMBER]: starts a process with such a filter; sets $pid.
filtered() {
  mkfifo -m 600 stdin.$# 2>/dev/null || true
  : >output.txt
  ./filters "$@" >output.txt 2>&1 <>stdin.$# & pid=$!
  started+=("$pid")
  disown
  case $1 in strict) await "/proc/$pid/status" '^Seccomp:.1' ;; late) ;; *) await output.txt '^20$' ;; esac
}

# It still runs its loop.
expect_alive() {
  kill -0 "$pid" || fail "the program died: $*"
  await_progress output.txt
  kill -9 "$pid"
}

recorded() {
  filtered "$@"
  for round in 1 2; do
    run penna record -p "$pid" -f -o it.penna --duration 300ms
    expect_eq 0 "$status" "status, round $round of $*"
    expect_contains "$err" 'verified'
    expect_contains "$err" '0 lost'
    penna replay it.penna >events.txt
    expect_match "$(grep -m1 'malloc(1234)' events.txt || true)" 'work|filters'
    expect_match "$(grep -m1 'filters:round' events.txt || true)" 'round'
  done
  expect_alive "$@"
}

refused() { # SENTENCE MODE [NUMBER]
  local sentence=$1
  shift
  filtered "$@"
  run penna record -p "$pid"
  expect_eq 125 "$status" "status of $*"
  expect_eq 1 "$(wc -l <<<"$err")" "lines about $*"
  expect_contains "$err" "process $pid $sentence"
  if [ "$1" = strict ]; then kill -0 "$pid" || fail "the program died: $*"; else expect_alive "$@"; fi
}

recorded docker
recorded list
recorded kill $keyctl
recorded errno $keyctl
recorded tsync $keyctl
refused "has a seccomp filter that refuses memfd_create" kill $memfd_create
refused "has a seccomp filter that refuses memfd_create" errno $memfd_create
refused "has a seccomp filter that refuses memfd_create" tsync $memfd_create
refused "has a seccomp filter that refuses memfd_create" thread $memfd_create
refused "has a seccomp filter that refuses futex" thread $futex
refused "has a seccomp filter that refuses membarrier" kill $membarrier
refused "has a seccomp filter that refuses" only
refused "is in seccomp's strict mode, which allows only read, write and exit: start it with penna record" strict

# A filter installed during recording: from then on we make no call that it kills for.
filtered late $futex
await "/proc/$pid/maps" libc
(
  await "/proc/$pid/maps" penna-channel
  sleep 0.3
  touch now
) &
run penna record -p "$pid" -f -o it.penna --duration 1500ms -k alloc
expect_eq 0 "$status" "status of a late filter"
penna replay it.penna >events.txt
expect_match "$(grep -m1 'malloc(4321)' events.txt || true)" 'main|filters'
await output.txt '^20$'
expect_alive late

# One that is installed in the midst of attaching, or later; its children, which are not recorded, load libraries and
# start programs.
cat >midst.c <<'C'
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void* volatile kept;
static void forbid(int number) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) exit(2);
}
int main(int argc, char** argv) {
  puts("up"), fflush(stdout);
  usleep(argc > 1 ? atoi(argv[1]) * 1000 : 0);
  forbid(SYS_memfd_create), forbid(SYS_socket);
  for (int round = 0;; ++round) {
    free(kept = malloc(100)); /* so that there is a chunk of this thread's */
    const pid_t child = fork();
    if (child == 0) {
      free(kept = malloc(round));
      void* const library = dlopen("libm.so.6", RTLD_NOW);
      if (library != NULL) dlclose(library);
      execl("/bin/true", "true", NULL);
      _exit(1);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return printf("WRONG %x\n", status), 3;
    printf("%d\n", round), fflush(stdout);
  }
}
C
build_c midst
for after in 5 20 40 60 80 120 700; do
  start lines.txt ./midst $after
  await lines.txt '^up$'
  run penna record -p "$pid" -f -o it.penna --duration 1s --libcalls
  [ "$status" = 0 ] || expect_match "$err" "^penna: process $pid has (just installed a seccomp filter: try again|a seccomp filter)"
  await_progress lines.txt
  kill -9 "$pid" || fail "the program died with a filter after $after ms: $(tail -n 1 lines.txt)"
done

# Without permission to read the filter: by uprobes, if those are allowed; else refused.
filtered docker
without() { # CAPABILITIES
  run setpriv --bounding-set="$1" --inh-caps="$1" "$PENNA" record -p "$pid" -f -o it.penna -k alloc --duration 300ms
}
without -sys_admin,-bpf,-perfmon
expect_eq 125 "$status"
expect_contains "$err" "only root may read it: run penna as root (CAP_SYS_ADMIN)"
if [[ ! $(penna doctor) =~ uprobes\ +limited ]]; then
  without -sys_admin
  expect_eq 0 "$status"
  expect_contains "$err" "recording it by uprobes"
fi
expect_alive docker
