#!/bin/bash
# SPDX-License-Identifier: MIT
# mutex_trace and mutex_ft2csv, as users of Feather-Trace expect them (FT10): on recordings and on Feather-Trace's own
# files.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
unset FT_STAY_SILENT FT_USE_CYCLE_COUNTER
bin=$(dirname "$PENNA")
trace() { "$bin/mutex_trace" "$@"; }
csv() { "$bin/mutex_ft2csv" "$@"; }
the_recording() { echo mutex-*.penna; }
counts() { grep '^# [CIF]' <<<"$err" | sed 's/.*: //' | paste -sd' '; }  # complete, incomplete and filtered
halves() { counts | cut -d' ' -f1-2; }                                     # complete and incomplete
build_c sections

# ---- The program behaves as usual -----------------------------------------------------------------------------------
run env FT_STAY_SILENT=1 "$bin/mutex_trace" ./sections status 7
expect_eq "7 to stdout to stderr" "$status $out $err" "status, output and what it says on stderr"
expect_eq 600 "$(stat -c %a "$(the_recording)")" "who may read the recording"
rm mutex-*
run trace ./sections status 7
expect_eq "7 to stdout" "$status $out" "status and output"
expect_match "$err" '^penna: mutex-[0-9]+\.penna: '
run trace ./sections killed
expect_eq 143 "$status" "status of a program that was killed"
echo input | trace cat >cat.txt 2>/dev/null
expect_eq input "$(<cat.txt)" "what it read"
run trace ./nowhere
expect_eq 127 "$status" "status of a program that is not there"
run trace
expect_eq "125 mutex_trace: a command to run is missing; 'mutex_trace --help' shows what is possible" "$status $err" "without a command"
expect_contains "$(trace --help)" 'mutex-PID.penna'
rm mutex-*

# Existing files are not replaced. The next pid is unknown: create a file for each candidate.
for _ in 1 2 3; do  # once more if they began anew with small ones
  last=$(sh -c 'echo $$')
  for ((pid = last; pid < last + 3000; pid++)); do echo mine >"mutex-$pid.penna"; done
  run trace ./sections
  there=$(echo mutex-*.1.penna)
  [ ! -e "$there" ] || break
  find . -name 'mutex-*' -delete
done
expect_eq 0 "$status" "status where a file lies"
expect_eq mine "$(<"${there%.1.penna}.penna")" "what lay there"
run penna info "$there"
expect_eq 0 "$status" "status of penna info of what was recorded"
find . -name 'mutex-*' -delete

# ---- FT10: one line per critical section ----------------------------------------------------------------------------
# expect_sections WHAT: the printed sections are those reported by ./sections; their lengths are the same, or longer
# by what a busy machine may sleep longer, but not by what another thread or a condition wait would add.
expect_sections() {
  run trace ./sections "$1"
  expect_eq 0 "$status" "status of sections $1"
  cp out.txt said.txt
  run csv "$(the_recording)"
  expect_eq 0 "$status" "status of mutex_ft2csv"
  /usr/bin/python3 - said.txt out.txt <<'SCRIPT' || fail "wrong sections in $1"
import re, sys, time
said = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
lines = open(sys.argv[2]).read().splitlines()
assert len(said) == len(lines) > 0, (said, lines)
for (tid, ms, nesting), line in zip(said, lines):
    assert re.fullmatch(r'\d{16}, \d{16}, \d+, \d+, \d+', line), line
    start, stop, length, depth, thread = map(int, line.split(', '))
    assert (thread, depth) == (tid, nesting), (said, lines)
    assert stop - start == length and 1000 * ms <= length <= 1000 * (ms + 90), (ms, line)
    assert abs(start / 1e6 - time.time()) < 60, line
SCRIPT
  rm mutex-*.penna
}
expect_sections two
expect_sections nested
expect_eq "3 0 0" "$(counts)" "complete, incomplete and filtered"
expect_contains "$err" '# Complete  : 3
# Incomplete: 0
# Filtered  : 0'
expect_match "$err" '^# Extracting from mutex-[0-9]+\.penna\.\.\.$'
expect_sections waiting
[ "$(cut -d, -f5 out.txt | sort | uniq -c | sort -rn | awk 'NR == 1 {print $1}')" = 2 ] || fail "the wait does not split the hold"

# The events themselves.
trace ./sections nested >/dev/null 2>&1
run csv -d "$(the_recording)"
expect_eq "1000 1000 1001 1000 1001 1001" "$(awk '{print $1 + 0}' out.txt | paste -sd' ')" "events"
expect_eq "0 1 1 1 1 0" "$(awk '{print $4 + 0}' out.txt | paste -sd' ')" "their nesting"
expect_eq 0 "$(grep -Evc '^  100[01], 0x[0-9a-f]+, 0x[0-9a-f]+, [0-9]+, [0-9]{16}$' out.txt)" "lines of another form"
expect_missing "$err" Complete
run csv -d --cycles "$(the_recording)"
expect_eq 6 "$(wc -l <out.txt)" "events in cycles"
rm mutex-*

trace ./sections held 2>/dev/null
run csv "$(the_recording)"
expect_eq "0 0 1" "$status $(halves)" "a lock that is never given back"
expect_match "$err" '^ 2nd missing: 0x[0-9a-f]+ locked by 0x[0-9a-f]+ at [0-9]{16}$'
rm mutex-*
trace true 2>/dev/null
run csv "$(the_recording)"
expect_eq "0 0 0" "$status $(halves)" "a program without locks"
expect_match "$err" '^mutex_ft2csv: mutex-[0-9]+\.penna has no critical section: no lock was taken$'
penna record -q -k alloc -o alloc.penna -- true
run csv alloc.penna
expect_contains "$err" 'locks were not recorded: use mutex_trace, or penna record -k locks'

penna record -q -k locks --sample-locks 4 -o sample.penna -- ./sections nested >/dev/null
run csv sample.penna
expect_eq 0 "$status" "status with a sample"
expect_contains "$err" 'this is a sample: of 4 sections that began without waiting, one is here'

# ---- A program's exit is not delayed: less than 50 ms of idle time, in at least one run -----------------------------
/usr/bin/python3 - "$bin/mutex_trace" <<'SCRIPT' || fail "the exit of the program was delayed"
import resource, subprocess, sys, time
def busy():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
def idle_seconds(*command):
    start = time.monotonic() - busy()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - busy() - start
extra = 1
for attempt in range(50):  # on a busy machine most runs wait for a processor
    extra = min(extra, idle_seconds(sys.argv[1], 'sleep', '0.1') - 0.1)
    if extra < 0.05:
        break
print(f'{1000 * extra:.1f} ms more, {attempt + 1} runs')
assert extra < 0.05
SCRIPT
rm mutex-*

# ---- Feather-Trace's own files: 40 bytes a record, nothing else -----------------------------------------------------
/usr/bin/python3 - <<'SCRIPT'
import random, struct
THREAD, LOCK, TIME = 140003109168832, 0x556afcf9f080, 1795188664859531
def record(event, lock, thread, time):
    return struct.pack('=qQqiIQ', event, lock, thread, 12345, 99, time)  # nesting was never written
two = [record(1000, LOCK, THREAD, TIME), record(1000, LOCK + 64, THREAD, TIME + 100), record(1001, LOCK + 64, THREAD, TIME + 300),
       record(1001, LOCK, THREAD, TIME + 1000101)]
def write(name, content):
    open(name, 'wb').write(content)
write('mutex-1234567.ft', b''.join(two))  # seven digits, too
write('open.ft', b''.join(two[:1]))
write('cut.ft', b''.join(two)[:-1])
write('short.ft', b'abc')
write('empty.ft', b'')
write('garbage.ft', b''.join(two) + random.Random(1).randbytes(400))
many = []  # a million records, half of them open at once
for i in range(500000):
    many.append(record(1000, i % 1000, i % 7, i))
for i in reversed(range(500000)):
    many.append(record(1001, i % 1000, i % 7, 1000000 - i))
write('many.ft', b''.join(many))
SCRIPT
run csv mutex-1234567.ft
expect_eq "0 2 0 0" "$status $(counts)" "of the file"
expect_eq '1795188664859531, 1795188665859632, 1000101, 0, 140003109168832
1795188664859631, 1795188664859831, 200, 1, 140003109168832' "$out" "its sections"
expect_eq '# Extracting from mutex-1234567.ft...' "$(head -n 1 <<<"$err")" "what is said first"
run csv -d mutex-1234567.ft
expect_eq '  1000, 0x556afcf9f080, 0x7f550396e6c0, 0, 1795188664859531
  1000, 0x556afcf9f0c0, 0x7f550396e6c0, 1, 1795188664859631
  1001, 0x556afcf9f0c0, 0x7f550396e6c0, 1, 1795188664859831
  1001, 0x556afcf9f080, 0x7f550396e6c0, 0, 1795188665859632' "$out" "its events"
run csv open.ft
expect_eq "0 0 1 0" "$status $(counts)" "a lock that is the last record"
expect_contains "$err" ' 2nd missing: 0x556afcf9f080 locked by 0x7f550396e6c0 at 1795188664859531'
run csv cut.ft
expect_eq "1 1 1 0" "$status $(counts)" "of a file that was cut"
expect_contains "$err" 'mutex_ft2csv: cut.ft: it ends within a record, 39 bytes of 40 at byte 120; 3 records before it are shown'
run csv short.ft
expect_eq "1 " "$status $out" "of three bytes"
run csv garbage.ft
expect_eq "1 2 0 0" "$status $(counts)" "of a file with garbage at its end"
expect_match "$err" '^mutex_ft2csv: garbage.ft: no record of a mutex at byte 160: .*; 4 records before it are shown$'
run csv empty.ft
expect_eq "0 0 0 0" "$status $(counts)" "of an empty file"
expect_contains "$err" 'mutex_ft2csv: empty.ft has no critical section: no lock was taken'
run csv /bin/ls
expect_eq "1 " "$status $out" "of a program"
run csv .
expect_eq "1 " "$status $out" "of a directory"
run csv nowhere.ft
expect_eq "1 mutex_ft2csv: cannot open nowhere.ft: No such file or directory" "$status $(tail -n 1 <<<"$err")" "of no file"
run csv
expect_eq 1 "$status" "without a file"
run timeout 60 "$bin/mutex_ft2csv" many.ft
expect_eq "0 500000 0 0" "$status $(counts)" "of a million records"

# A truncated recording: its readable part, and a sentence.
trace ./sections nested >/dev/null 2>&1
head -c -700 "$(the_recording)" >cut.penna
run csv cut.penna
[ "$status" = 1 ] || [ -n "$out" ] || fail "a truncated recording: no sections, or exit status other than 1"
expect_match "$err" '^mutex_ft2csv: '
head -c 100 "$(the_recording)" >cut.penna
run csv cut.penna
expect_eq "1 " "$status $out" "of the first bytes of a recording"
expect_match "$err" '^mutex_ft2csv: cut.penna has 100 bytes, too few for a recording'
