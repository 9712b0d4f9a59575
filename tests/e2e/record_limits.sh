#!/bin/bash
# SPDX-License-Identifier: MIT
# What a recording is limited to: --delay (not its beginning), --max-size (of its file), --ring (its end alone), --no-follow (not what the
# program starts). The program is never the one that is limited.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >steps.c <<'PROGRAM'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static void *volatile kept;
APART void first(void) { kept = malloc(111); }
APART void last(void) { kept = malloc(333); }
APART void work(int n) {
  for (int i = 0; i < n; ++i) {
    kept = malloc((size_t)(i * 7919 % 5000 + 16));
    free(kept);
  }
}
int main(int count, char **words) {
  first();
  if (count > 1 && strcmp(words[1], "sleep") == 0) usleep(600000);
  if (count > 1 && strcmp(words[1], "work") == 0) work(atoi(words[2]));
  if (count > 1 && strcmp(words[1], "crash") == 0) abort();
  last();
  puts("done");
}
PROGRAM
build_c steps
count_of() { penna report alloc "$1" --stack "$2" --json -n 0 | python3 -c 'import json, sys; print(sum(row["count"] for row in json.load(sys.stdin)["alloc"]))'; }

# --delay: what came before is not there, and that is said; --duration counts from its end.
run penna record -k alloc --delay 300ms -o delayed.penna ./steps sleep
expect_eq "0 done" "$status $out" "status and output with --delay"
expect_match "$err" '^penna: -r 300ms- left out [0-9,]+ events? of other times'
expect_eq "0 1" "$(count_of delayed.penna first) $(count_of delayed.penna last)" "allocations before and after the delay"
run penna record -k alloc --delay 100ms --duration 100ms -o both.penna -- sh -c 'sleep 0.3; exit 7'
expect_eq 7 "$status" "status with --delay and --duration"
expect_match "$(penna info both.penna)" 'range=100ms-'

# --max-size: the recording ends, the program does not.
run penna record -k alloc --max-size 300kB -o small.penna ./steps work 3000000
expect_eq "0 done" "$status $out" "status and output with --max-size"
expect_contains "$err" "penna: the recording has ended at its --max-size; the program keeps running, unrecorded"
bytes=$(stat -c %s small.penna)
((bytes >= 300000 && bytes < 12000000)) || fail "a file of $bytes bytes, of 300 kB"
expect_eq "1 0" "$(count_of small.penna first) $(count_of small.penna last)" "allocations before and after the end"
expect_match "$(penna info small.penna)" 'lost +nothing'
run penna record -k alloc --max-size 100MB -o all.penna ./steps work 1000
expect_missing "$err" max-size
expect_eq 1 "$(count_of all.penna last)" "allocations in a recording below its limit"

# --ring: the end is there whatever came before it; also of a program that crashes, or whose recording is ended.
run penna record -k alloc --ring 10s --keep 1 -o ring.penna ./steps work 3000000
expect_eq "0 done" "$status $out" "status and output with --ring"
expect_match "$err" '^penna: 1 snapshot was taken; [0-9,]+ allocation events before, between and after them were thrown away'
expect_eq "0 1" "$(count_of ring.penna first) $(count_of ring.penna last)" "allocations at the beginning and at the end"
run penna record -k alloc --ring 200ms -o time.penna ./steps sleep
expect_eq 1 "$(count_of time.penna last)" "allocations at the end"
run penna record -q -k alloc --ring 30s -o crash.penna ./steps crash
expect_eq 134 "$status" "status of a program that aborts"
expect_eq 1 "$(count_of crash.penna first)" "allocations before a crash"
run penna record -q -k alloc --ring 30s --duration 200ms -o ended.penna ./steps sleep
expect_eq 1 "$(count_of ended.penna first)" "allocations before --duration"

# --no-follow: the process that is started, and what it becomes; none of its children, and how many that were.
cat >family.sh <<'SCRIPT'
./steps
./steps work 10
exec ./steps
SCRIPT
run penna record -k alloc --no-follow -o alone.penna -- bash family.sh
expect_eq "0 done done done" "$status $(paste -sd ' ' <<<"$out")" "status and output with --no-follow"
expect_contains "$err" "penna: --no-follow: 2 processes that were started are not recorded"
expect_missing "$err" "was not recorded"
expect_eq "bash steps" "$(penna info alone.penna --json | python3 -c 'import json, sys; print(*[p["command"].split()[0].split("/")[-1] for p in json.load(sys.stdin)["processes"]])')" "processes"
expect_eq 1 "$(count_of alone.penna last)" "allocations of the process that was started"
expect_contains "$(penna report health alone.penna)" "--no-follow: 2 processes"
run penna record -k alloc --no-follow -o one.penna ./steps
expect_contains "$err" "penna: --no-follow: nothing was started that is not recorded"
# A child that outlives it is not waited for.
run penna record -q -k alloc --no-follow -o left.penna -- bash -c 'sleep 30 >/dev/null 2>&1 & exit 3'
expect_eq 3 "$status" "status of a program that leaves a child"

# What contradicts itself.
for wrong in "--delay 1s -r 1s-" "--ring 1s --max-size 1MB"; do
  # shellcheck disable=SC2086
  run penna record $wrong ./steps
  expect_eq 125 "$status" "status of $wrong"
  expect_contains "$err" "contradict each other"
done
echo PASS
