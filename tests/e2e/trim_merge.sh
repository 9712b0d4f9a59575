#!/bin/bash
# SPDX-License-Identifier: MIT
# penna trim: what reports say of a part is what they say of the whole with -r. penna merge: what they say of one is what they say of
# each, on one clock. Both leave their inputs alone, and refuse what cannot be.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
cat >long.c <<'PROGRAM'
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
APART void *make(int n) { return malloc((size_t)n); }
APART void step(int n) { free(make(n % 3000 + 16)); }
int main(void) {
  for (int i = 0; i < 200000; ++i) step(i);
}
PROGRAM
build_c long -finstrument-functions
penna record -q -o long.penna ./long
before=$(md5sum long.penna)
total=$(penna info long.penna --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["processes"][0]["duration_ns"])')
begin=$((total * 2 / 5))ns end=$((total * 3 / 5))ns

# ---- a part ------------------------------------------------------------------------------------------------------------------------
run penna trim -r "$begin-$end" long.penna
expect_eq 0 "$status" "penna trim"
expect_match "$err" '^penna: long.trimmed.penna: [0-9.]+ kB of [0-9.]+ [kM]B$'
(($(stat -c %s long.trimmed.penna) * 2 < $(stat -c %s long.penna))) || fail "a fifth is not smaller: $(ls -l ./*.penna)"
for report in "report calls" "report alloc --by function" "export folded" "export csv"; do
  # shellcheck disable=SC2086
  expect_eq "$(penna $report long.penna -r "$begin-$end" | grep -v 'memory that it did not allocate' | md5sum)" \
    "$(penna $report long.trimmed.penna | grep -v 'memory that it did not allocate' | md5sum)" "penna $report of the part"
done
run penna report health long.trimmed.penna
expect_missing "$out" "missing"
expect_match "$(penna info long.trimmed.penna)" 'lost +nothing'
# Part of a part; the beginning, which is open, and the end.
penna trim -r "-$end" long.penna -o begin.penna 2>/dev/null
penna trim -r "$begin-" begin.penna -o again.penna 2>/dev/null
expect_eq "$(penna export csv long.trimmed.penna | md5sum)" "$(penna export csv again.penna | md5sum)" "a part of a part"
expect_eq "$before" "$(md5sum long.penna)" "the whole one"
# Of one whose recorder was killed.
head -c 400000 long.penna >cut.penna
run penna trim -r "-$end" -o part.penna cut.penna
expect_eq 0 "$status" "penna trim of a recording that was cut"

# A hold that began long before it cannot be in it, and trim says so; one whose beginning is in the first chunk is in it.
cat >held.c <<'PROGRAM'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline, noclone)) void step(void) {}
int main(void) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 50000; ++i) step();
  pthread_mutex_unlock(&lock);
}
PROGRAM
build_c held -finstrument-functions -pthread
penna record -q -k calls,locks -o held.penna ./held
unlocked=$(penna replay held.penna --format csv 2>/dev/null | awk -F, '$6 == "unlock" && $8 == "lock" {print $1}')
run penna trim -r "${unlocked}ns-" held.penna -o late.penna
sentence="1 hold of a lock began before this part and is missing in it: 'penna report -r' of the whole recording has it"
expect_contains "$err" "$sentence"
expect_contains "$(penna report health late.penna)" "$sentence"
run penna trim -r 1ns- held.penna -o early.penna
expect_missing "$err" "missing"
expect_eq "$(penna report holds held.penna -r 1ns-)" "$(penna report holds early.penna)" "holds of a part from the beginning"

# ---- several as one ----------------------------------------------------------------------------------------------------------------
penna record -q -o one.penna ./orders 40 >/dev/null
penna record -q -o two.penna ./orders 60 >/dev/null
run penna merge one.penna two.penna
expect_eq 0 "$status" "penna merge"
expect_match "$err" '^penna: merged.penna: [0-9.]+ kB, 2 recordings$'
calls() { for each; do penna report calls "$each" --format csv -n 0 --fields function,calls; done | python3 -c '
import collections, csv, sys
sums = collections.Counter()
for row in csv.reader(sys.stdin):
    if row[1] != "calls": sums[row[0]] += int(row[1])
print(sorted(sums.items()))'; }
expect_eq "$(calls one.penna two.penna)" "$(calls merged.penna)" "calls of both"
events() { for each; do penna export csv "$each" | tail -n +2; done | wc -l; }
expect_eq "$(events one.penna two.penna)" "$(events merged.penna)" "events of both"
expect_eq 100 "$(penna report points merged.penna --json | python3 -c 'import json, sys; print(sum(row["hits"] for row in json.load(sys.stdin)["points"] if row["point"] == "shop:order"))')" "hits"
expect_contains "$(penna report leaks merged.penna)" copy_receipt
# On one clock: all that the first did comes before the second began.
penna export csv merged.penna | python3 -c '
import csv, sys
pids = [row["pid"] for row in csv.DictReader(sys.stdin)]
assert len(set(pids)) == 2 and pids == sorted(pids, key=pids.index), "not one behind the other"' || fail "the order of the events"
expect_match "$(penna info merged.penna)" 'lost +nothing'
penna merge -q 2>/dev/null && fail "penna merge -q" || true

# ---- what cannot be ----------------------------------------------------------------------------------------------------------------
# refused SENTENCE ARGS...: one line, and no file
refused() {
  run penna "${@:2}"
  [ "$status" != 0 ] || fail "penna ${*:2} works"
  expect_contains "$err" "$1"
  expect_eq 1 "$(wc -l <err.txt)" "lines of penna ${*:2}"
  [ ! -e new.penna ] || fail "penna ${*:2} left a file"
}
penna record -q -k alloc --sample-bytes 4k -o sampled.penna ./orders 40 >/dev/null
refused "were recorded with different options" merge one.penna sampled.penna -o new.penna
refused "merge the whole ones" merge long.trimmed.penna long.trimmed.penna -o new.penna
refused "name two recordings or more" merge one.penna -o new.penna
refused "is one of the recordings" merge one.penna two.penna -f -o two.penna
refused "is the recording itself" trim -r 1ms- one.penna -f -o one.penna
refused "-r is missing" trim one.penna -o new.penna
refused "a recording cannot go to standard output" trim -r 1ms- one.penna -o -
refused "merged.penna" merge one.penna two.penna
printf 'version=2.0, arch=x86_64, timestamp=16.6.2011 15:49:48, process=./prog, pid=1597, backtrace depth=10,\n0. malloc(8) = 0x1000\n' >far.rtrace
penna import rtrace far.rtrace -o far.penna 2>/dev/null
refused "have no clock in common" merge one.penna far.penna -o new.penna
head -c 100 /dev/urandom >junk.penna
refused "junk.penna" merge one.penna junk.penna -o new.penna
refused "junk.penna" trim -r 1ms- junk.penna -o new.penna
echo PASS
