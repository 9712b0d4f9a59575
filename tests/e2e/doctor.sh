#!/bin/bash
# SPDX-License-Identifier: MIT
# penna doctor for this system, for processes and for programs: its findings, its exit status, and that it changes
# nothing. And penna_allow_attach(), which it recommends.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need musl-tools

# expect_finding CHECK VERDICT [PART OF THE LINE]
expect_finding() { expect_match "$out" "^$1 +$2 .*${3:-}"; }

run penna doctor
expect_eq 0 "$status" "status of this system: $out"
for check in agent sockets disk clock memory descriptors ptrace uprobes seccomp memfd membarrier container debuginfod; do
  expect_match "$out" "^$check +(ok|limited|no) "
done
expect_finding agent ok libpenna-agent.so
out=$(DEBUGINFOD_URLS=http://localhost:1 penna doctor)
expect_finding debuginfod ok http://localhost:1
out=$(ulimit -v 3000000; penna doctor)
expect_finding memory limited
out=$(ulimit -Sn 100; ulimit -Hn 100; penna doctor)
expect_finding descriptors limited 'about 100 processes'
out=$(container=oci penna doctor)
expect_finding container limited
penna doctor --format json >it.json
/usr/bin/python3 - <<'PY'
import json
checks = {one['check']: one for one in json.load(open('it.json'))['checks']}
assert len(checks) == 13 and all(one['verdict'] in ('ok', 'limited', 'no') for one in checks.values()), checks
assert all(one['remedy'] for one in checks.values() if one['verdict'] != 'ok'), checks
PY
expect_contains "$(penna doctor --format csv | head -n 1)" 'check,verdict,what,remedy'
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$work"
  out=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$PENNA" doctor)
  expect_finding seccomp limited 'without CAP_SYS_ADMIN'
  expect_finding disk limited 'cannot be written'
fi

# Programs.
echo 'int pause(void); int main(void) { for (;;) pause(); }' >waits.c
build_c waits
run penna doctor ./waits
expect_eq 0 "$status"
expect_finding linking ok dynamically
expect_finding symbols ok
expect_finding calls limited
build_c waits -fpatchable-function-entry=5 -s
run penna doctor ./waits
expect_finding calls ok patchable
expect_finding symbols limited
build_c waits -static
run penna doctor ./waits
expect_eq 0 "$status"
expect_finding linking ok 'statically linked: the agent comes alone'
expect_finding allocations ok
build_c waits -static -s
run penna doctor ./waits
expect_finding linking limited 'no symbols'
expect_finding allocations no 'not found without symbols'
expect_finding calls no
musl-gcc waits.c -o waits_musl
run penna doctor ./waits_musl
expect_eq 0 "$status"
expect_finding linking limited musl
run penna doctor ./nowhere
[ "$status" != 0 ] || fail "penna doctor of nothing: exit status 0"
run penna doctor waits.c
expect_eq 125 "$status"

# Processes.
build_c waits
start /dev/null ./waits
await "/proc/$pid/status" '^State:.S'
state=$(grep -E '^(State|TracerPid|SigBlk|SigPnd)' "/proc/$pid/status")
run penna doctor "$pid"
expect_eq 0 "$status"
expect_finding attach ok "penna record -p $pid can attach"
expect_eq "$state" "$(grep -E '^(State|TracerPid|SigBlk|SigPnd)' "/proc/$pid/status")" "state afterwards"
kill -STOP "$pid"
await "/proc/$pid/status" '^State:.T'
run penna doctor "$pid"
expect_eq 2 "$status"
expect_finding attach no "kill -CONT $pid"
build_c filters
start /dev/null ./filters docker
await "/proc/$pid/status" '^Seccomp:.2'
run penna doctor "$pid"
expect_match "$out" '^seccomp +(ok|no) .*filters its system calls'
run penna doctor 4194305
expect_eq 125 "$status"
expect_contains "$err" 'there is no process 4194305'

# The call that permits attaching is made, and is harmless without Yama.
cat >allows.c <<'C'
#include <errno.h>
#include <stdio.h>
#include "penna/allow_attach.h"
int main(void) {
  errno = 77;
  printf("%d ", penna_allow_attach());
  return printf("%d\n", errno) < 0;
}
C
build_c allows
run ./allows
want=0
[ ! -e /proc/sys/kernel/yama/ptrace_scope ] || want=1
expect_eq "$want 77" "$out"
