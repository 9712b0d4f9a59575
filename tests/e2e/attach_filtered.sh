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
