#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record --live: events are shown as they happen; readers that are slow, or leave, change nothing.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
wait_for() {  # PATTERN FILE: until a line of it matches
  for _ in $(seq 600); do ! grep -q -- "$1" "$2" || return 0; sleep 0.1; done
  fail "no '$1' in: $(<"$2")"
}

# Steps that each wait for a file: events of one are shown before the next begins.
cat >steps.c <<'PROGRAM'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "penna/point.h"
__attribute__((noipa)) void prepare(int value) { PENNA_EVENT(steps, prepared, value); }
__attribute__((noipa)) void step(const char* file) {
  while (access(file, F_OK) != 0) usleep(1000);
}
int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    prepare(7);
    void* volatile block = malloc(100 + i);
    free(block);
    step(argv[i]);
  }
  return 3;
}
PROGRAM
build_c steps -finstrument-functions
"$PENNA" record --live -q -k calls,alloc,points -f -o steps.penna -- ./steps one two >live.txt &
recorder=$!
wait_for 'step() {' live.txt  # and not yet left: the entry itself is shown
expect_match "$(<live.txt)" ' point steps:prepared value=7$'
expect_match "$(<live.txt)" ' malloc\(101\) = 0x'
expect_missing "$(<live.txt)" 'malloc(102)'
touch one
wait_for 'malloc(102)' live.txt
touch two
status=0; wait $recorder || status=$?
expect_eq 3 "$status" "status of the program"
# In the end it equals the output of replay, except for calls open at the time of viewing.
expect_eq 4 "$(grep -c "prepare() {\|step() {" live.txt)" "calls shown"

# The same as a tree, folded and in full: exactly that shown afterwards.
rm -f one two
"$PENNA" record --live --tree -q -k calls -f -o steps.penna -- ./steps one two >live.txt &
recorder=$!
wait_for '^|   step$' live.txt
touch one two
wait $recorder || true
expect_eq "$(penna replay --tree steps.penna)" "$(<live.txt)" "the tree"
penna record --live --tree --all -q -k calls -f -o steps.penna -- ./steps one two >live.txt || true
expect_eq "$(penna replay --tree --all steps.penna)" "$(<live.txt)" "the full tree"

# Threads and children are distinguished; a crash shows the open calls.
cat >ends.cc <<'PROGRAM'
#include <sys/wait.h>
#include <unistd.h>
#include <thread>
__attribute__((noipa)) void leaf() {}
__attribute__((noipa)) void crash() { leaf(); *(volatile int*)8 = 1; }
__attribute__((noipa)) void work() { leaf(); }
int main() {
  std::thread(work).join();
  if (fork() == 0) {
    work();
    _exit(0);
  }
  wait(nullptr);
  crash();
}
PROGRAM
build_c ends -finstrument-functions -finstrument-functions-exclude-file-list=/usr
run penna record --live --tree -q -k calls -f -o ends.penna -- ./ends
expect_eq 139 "$status" "status of a program that crashes"
expect_eq 1 "$(grep -c '^not left at the end: main > crash()$' <<<"$out")" "what was open"
expect_match "$out" '^# ends, pid [0-9]+, killed by SIGSEGV$'
expect_eq 2 "$(grep -c '^\(|   \)\?work()$' <<<"$out")" "trees of the thread and of the child, below what that was forked in"
((2 <= $(grep -c '^# ends, pid [0-9]*, ends (tid' <<<"$out"))) || fail "threads are not told apart: $out"
run penna record --live -q -k calls -f -o ends.penna -- ./ends
expect_eq 3 "$(grep -c '^# ends, pid [0-9]*, ends (tid' <<<"$out")" "titles of threads"
expect_eq 1 "$(grep -c '^not left at the end: main > crash()$' <<<"$out")" "what was open, below lines"

# Faster than it can be shown: omitted events are counted, and the recording has them all.
cat >fast.c <<'PROGRAM'
#include <stdlib.h>
__attribute__((noipa)) int leaf(int i) { return i; }
__attribute__((noipa)) int middle(int i) { return leaf(i) + leaf(i + 1); }
int main(int argc, char** argv) {
  for (long i = 0; i < atol(argv[argc - 1]); i++) middle((int)i);
  return 5;
}
PROGRAM
build_c fast -finstrument-functions
calls_of() { penna report "$1" calls --format csv | awk -F, 'NR > 1 { n += $1 } END { print n }'; }
told() { tr -d , <"$1" | awk '/ not shown/ { for (i = 2; i <= NF; i++) if ($i ~ /^calls?$/) n += $(i - 1) } END { print n + 0 }'; }
for form in '' '--tree --all'; do
  # shellcheck disable=SC2086
  run penna record --live $form -q -k calls -f -o fast.penna -- ./fast 2000000
  out='' err=''  # millions of lines
  expect_eq 5 "$status" "status of the fast program"
  expect_eq 6000001 "$(calls_of fast.penna)" "calls recorded"
  shown=$(grep -c '() {\|();\|\\-- ' out.txt) missing=$(told out.txt)
  ((missing > 0)) || fail "no function was throttled: the test needs a faster program"
  expect_eq 6000001 "$((shown + missing))" "calls shown ($shown) and not shown ($missing)"
done

# A reader that leaves, and one that does not read.
status=$( (penna record --live -q -k calls -f -o fast.penna -- ./fast 2000000; echo $? >left.txt) | head -n 3 | wc -l)
expect_eq "3 5" "$status $(<left.txt)" "lines for a reader that leaves, and the program's status"
expect_eq 6000001 "$(calls_of fast.penna)" "calls recorded when the reader has left"
mkfifo pipe
sleep 100 <pipe &
sleeper=$!
status=0
"$PENNA" record --live -q -k calls -f -o fast.penna -- ./fast 2000000 >pipe || status=$?
kill $sleeper
expect_eq 5 "$status" "status of the program when nobody reads"
expect_eq 6000001 "$(calls_of fast.penna)" "calls recorded when nobody reads"

# With filters: matching calls are shown immediately; those decided by length, once it is known.
cat >shop.c <<'PROGRAM'
#include <stdio.h>
#include <unistd.h>
#include "penna/point.h"
__attribute__((noipa)) void leaf(int i) { PENNA_EVENT(shop, leaf, PENNA_ARG(i, i)); }
__attribute__((noipa)) void serve(int i) { leaf(i); leaf(i + 1); }
__attribute__((noipa)) void tune(void) { leaf(9); }
__attribute__((noipa)) void step(const char* file) {
  while (access(file, F_OK) != 0) usleep(1000);
}
__attribute__((noipa)) void slow(const char* file) { step(file); leaf(7); }
int main(int argc, char** argv) {
  for (int i = 0; i < 3; i++) serve(i);
  tune();
  slow(argv[1]);
  for (int i = 0; i < 3; i++) serve(i);
  return 4;
}
PROGRAM
build_c shop -finstrument-functions
# live OPTIONS...: output in live.txt; continues once there is a line that matches $until.
live() {
  rm -f go
  "$PENNA" record --live -q -f -o shop.penna "$@" -- ./shop go >live.txt &
  recorder=$!
  [ -z "$until" ] || wait_for "$until" live.txt
  touch go
  status=0; wait $recorder || status=$?
  expect_eq 4 "$status" "status with $*"
}
until='main$'
for filter in '-F main -F leaf' '-N leaf' '--depth 1' '--module shop'; do
  # shellcheck disable=SC2086
  live --tree --all -k calls $filter
  expect_eq "$(penna replay --tree --all shop.penna)" "$(<live.txt)" "the tree with $filter"
done
until='step'
live --tree --all -k calls --caller slow
expect_eq "$(penna replay --tree --all shop.penna)" "$(<live.txt)" "the tree inside a caller"
until='leaf'
live --tree --all -k calls -T tune@on --source shop.c
expect_eq "$(penna replay --tree --all shop.penna)" "$(<live.txt)" "the tree behind a trigger"
until='tune'
live --tree --all -k calls -T slow@off
expect_eq "$(penna replay --tree --all shop.penna)" "$(<live.txt)" "the tree in front of a trigger"
until='step'  # while it goes on, but not before it is long enough
live --tree --all -k calls --min-time 150ms
expect_eq "$(penna replay --tree --all shop.penna)" "$(<live.txt)" "the long calls"
expect_missing "$(<live.txt)" leaf
until='leaf i=2$'
live -k calls,points --where 'i == 2' -F serve
expect_eq "4 6" "$(grep -c 'leaf i=2' live.txt) $(grep -c 'serve()' live.txt)" "points and calls"
expect_missing "$(<live.txt)" 'leaf i=1'
expect_missing "$(<live.txt)" 'leaf()'
until=''
live --tree --all -k calls -r 0ms-0.000001ms
expect_missing "$(<live.txt)" serve
run penna record --live --tree --all -q -k calls -f -o fast.penna -F middle -- ./fast 200000
expect_eq "200000 0" "$(grep -c '\\-- middle' out.txt) $(grep -c leaf out.txt)" "calls of a fast program that are kept"
out=''
run penna record --live --tree --all -q -k calls -f -o fast.penna --min-time 1h -- ./fast 2000000
expect_eq 5 "$status" "status of a fast program without long calls"
# Where records are dropped, the length of open calls is unknown: these few are shown.
shown=$(grep -c '\\-- ' out.txt || true)
((shown < 6000)) || fail "$shown calls of less than an hour are shown"
out=''

# Standard output that cannot be written is mentioned, and the recording goes on.
status=0
penna record --live -k calls -f -o full.penna -- ./fast 100 >/dev/full 2>err.txt || status=$?
expect_eq 5 "$status" "status of a program whose events cannot be shown"
expect_contains "$(<err.txt)" "events are missing on standard output: No space left on device; the recording has them"

run penna record --tree ./fast 1
expect_eq 125 "$status" "status of --tree without --live"
expect_contains "$err" '--tree is for --live'
