#!/bin/bash
# SPDX-License-Identifier: MIT
# Processes that connect to the recorder and lie: their cost to it is bounded, honest ones beside them are recorded, it
# ends when asked to, and its output makes sense.
. "$(dirname "$0")/common.sh"
need python3
# They outlive whoever started them, ignore SIGTERM, and are busy.
end_liars() { find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$work/liar*" -printf '%h\n' 2>/dev/null | xargs -r -n 1 basename | xargs -r kill -KILL 2>/dev/null || true; }
trap 'status=$?; end_liars; kill -9 "${started[@]}" 2>/dev/null || true; cd /; rm -rf "$work"; exit $status' EXIT
build_c liar -static -s # so that no agent comes to it: it says what it says by itself

# peak CMD...: like run; also sets $peak, its peak memory in MB, without that of its children.
peak() {
  cat >peak.py <<'END'
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:])
most = 0
while child.poll() is None:
    with open("/proc/%d/status" % child.pid) as status:
        most = max([most] + [int(line.split()[1]) for line in status if line.startswith("VmHWM")])
    time.sleep(0.005)
open("peak.txt", "w").write(str(most // 1024))
sys.exit(child.returncode)
END
  run python3 peak.py "$@"
  peak=$(<peak.txt)
}

# ---- Many honest processes, one after the other and at the same time: all are recorded ------------------------------
run penna record -f -o short.penna --via inject ./liar short 1000
expect_contains "$err" "1000 processes"
run penna record -f -o wide.penna bash -c 'for ((i = 0; i < 200; ++i)); do sleep 2 & done; wait'
expect_eq 200 "$(penna info wide.penna | grep -c 'exited with 0 *sleep 2$')" "programs that ran at the same time"

# ---- Stack nodes that are claimed and missing; more of them than requested; few on each page ------------------------
for lie in nodes many-nodes; do
  peak "$PENNA" record -f -o "$lie.penna" --via inject ./liar "$lie"
  expect_eq 0 "$status" "the program's status"
  [ "$peak" -lt 200 ] || fail "$lie cost the recorder $peak MB"
done
expect_contains "$(penna info nodes.penna)" "larger than requested"
expect_contains "$(penna report many-nodes.penna)" "recorded"

# ---- One channel offered by two processes: it belongs to the first --------------------------------------------------
run penna record -f -o twice.penna --via inject ./liar twice
expect_eq 0 "$status" "whether the second was refused"
expect_contains "$(penna info twice.penna)" "offered a channel that another one has; it is not recorded"
expect_contains "$(penna report twice.penna)" "recorded"
expect_eq 1 "$(penna info twice.penna | grep -c "exited .* ./liar twice$")" "processes with that channel"

# ---- Memory of a TiB each: it does not use up the recorder's address space, and the next program is recorded --------
run penna record -f -o huge.penna bash -c './liar huge 200; /bin/echo beside'
expect_contains "$(penna info huge.penna)" "200 processes were not recorded"
expect_contains "$(penna info huge.penna)" "larger than requested"
expect_contains "$(penna info huge.penna)" "/bin/echo beside"

# ---- Rings that are always full, and chunks passed on untouched: bounded, and the recorder ends when asked to -------
declare -A most=([chunks]=1500 [rings]=1500 [unopened]=300)  # MB: what targets wrote counts, what they only claim does not
for lie in chunks rings unopened; do
  options=()
  [ "$lie" != unopened ] || options=(--pool 4096)  # which allows 65,536 chunks
  "$PENNA" record -f -o "$lie.penna" ${options[@]+"${options[@]}"} --via inject ./liar "$lie" 200 2>"$lie.err" &
  recorder=$!
  for ((i = 0; i < 1200; ++i)); do
    ! grep -q "still run and are recorded" "$lie.err" || break
    kill -0 "$recorder" 2>/dev/null || break
    sleep 0.1
  done
  sleep 2 # in which they may do what they can
  # It may have ended already, if all were refused.
  held=$(awk '/VmHWM/ {print int($2 / 1024)}' "/proc/$recorder/status" 2>/dev/null) || held=0
  [ "${held:-0}" -lt "${most[$lie]}" ] || fail "$lie cost the recorder $held MB"
  kill -TERM "$recorder" 2>/dev/null || true
  for ((i = 0; i < 1200; ++i)); do
    kill -0 "$recorder" 2>/dev/null || break
    sleep 0.1
  done
  ! kill -KILL "$recorder" 2>/dev/null || fail "the recorder did not end: $(<"$lie.err")"
  wait "$recorder" || true
  penna info "$lie.penna" | awk '/was running when/ {print $1}' | xargs -r kill -KILL 2>/dev/null || true # some have ended
  expect_contains "$(penna info "$lie.penna")" complete
done
expect_contains "$(penna info chunks.penna)" "200 processes were not recorded"
for lie in rings unopened; do
  expect_eq 200 "$(penna info "$lie.penna" | grep -c 'was running when')" "$lie: processes that still ran"
done

# ---- Silent connections do not take the place of others, even if descriptors are scarce -----------------------------
cat >beside.sh <<'END'
./liar silent 400 4 & ./liar silent 400 4 &
sleep 1
/bin/echo one; /bin/echo two
wait
END
recorders=()
for files in {60..64}; do  # with one of them, the last descriptor is that of a process
  (ulimit -n "$files" && exec "$PENNA" record -q -f -o "silent.$files.penna" bash beside.sh >"silent.$files.out") &
  recorders+=($!)
done
wait "${recorders[@]}"
for files in {60..64}; do
  expect_eq $'one\ntwo' "$(<"silent.$files.out")" "the program's output"
  expect_contains "$(penna info "silent.$files.penna")" "/bin/echo one"
  expect_contains "$(penna info "silent.$files.penna")" "/bin/echo two"
done

# ---- Counters at their maximum, of one process and of many: bounded, reported as such, and never negative -----------
for lie in 'counters 1' 'counters 300'; do
  run penna record -f -o counters.penna bash -c "for ((i = 0; i < ${lie#* }; ++i)); do ./liar counters; done"
  all=$err$(penna info counters.penna)$(penna report health counters.penna)$(penna report threads counters.penna)$(penna report counters.penna)
  expect_contains "$err" "at least 9,007,199,254,740,992 LOST"
  expect_contains "$all" "at least 9,007,199,254,740,992 stacks"
  expect_contains "$err" "at least 9,007,199,254,740,992 of which nothing else is known"
  expect_missing "$all" 4294967
  expect_match "$all" "waited at least [0-9.]+ ms"
  ! grep -E '(^|[ (])-[0-9]|[0-9]{20}|9[0-9]{3},[0-9]{3},[0-9]{3},[0-9]{3},[0-9]{3},[0-9]{3}' <<<"$all" || fail "a count is out of range"
done
