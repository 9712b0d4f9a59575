#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals to the recorder, to its group and from its terminal reach the program as often as without us; the recording is
# complete.
. "$(dirname "$0")/common.sh"
need python3
build_c heard
run python3 "$PENNA_SOURCE/tests/e2e/signals.py" "$PENNA" ./heard
expect_eq 0 "$status" "signals.py"

# In a container whose processes belong to a group from outside, which has no valid group number there: we stay in it.
cat >in_container.sh <<'SCRIPT'
group_of() { cut -d ' ' -f 5 "/proc/$1/stat"; }
before=$(group_of $PPID)
for i in 1 2 3; do kill -WINCH $PPID; sleep 0.2; done
echo "$before $(group_of $PPID) $(group_of $$)"
SCRIPT
run as_root unshare --pid --fork --mount-proc "$PENNA" record -q -o "$work/container.penna" -- bash "$work/in_container.sh"
expect_eq "0 0 0" "$out" "groups of the recorder, before and after signals, and of the program"

# As process 1 of a container with a terminal, we lead group 1: at the end of the program its group gets SIGHUP, which
# must not become kill(-1), a signal to every process.
cat >first.sh <<'SCRIPT'
setsid bash -c 'trap "echo hung up >>heard" HUP; echo ready >heard; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done' &
while ! grep -qs ready heard; do sleep 0.05; done
SCRIPT
rm -f heard
run as_root script -qec "unshare --pid --fork --mount-proc setsid -c '$PENNA' record -q -f -o '$work/first.penna' -- bash first.sh" /dev/null
expect_eq 0 "$status" "status in a terminal's container"
expect_eq ready "$(cat heard)" "what another session of the container heard"

# However the program ends, the recorder's socket and its directory are removed, and so is an empty one left by a killed
# recorder.
mkdir -m 700 found found/penna-ABCDEF
touch -d '2 minutes ago' found/penna-ABCDEF
export XDG_RUNTIME_DIR=$work/found
for end in 'kill -KILL $$' 'kill -TERM $$' 'kill -SEGV $$' 'exit 3'; do
  run penna record -q -f -o end.penna -- sh -c "$end"
  expect_eq '' "$(ls found)" "what is left after $end"
done
