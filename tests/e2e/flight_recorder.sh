#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record --on: each condition makes a file of what led to it, complete in itself; too soon after one there is no other; there are never
# more than --keep-snapshots; neither the recorder nor the disk grows with what comes and goes.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >phases.cc <<'PROGRAM'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "penna/point.h"

#define APART __attribute__((noinline, noclone))
static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static void *volatile kept;
APART void before() { kept = malloc(111); }
APART void slow(int ms) { usleep(static_cast<unsigned>(ms) * 1000); }
APART void hold(pthread_mutex_t* lock, int ms) {
  pthread_mutex_lock(lock);
  std::thread waiter([lock] {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
  });
  usleep(static_cast<unsigned>(ms) * 1000);
  pthread_mutex_unlock(lock);
  waiter.join();
}
APART void checkout(int ms) {
  PENNA_SPAN(shop, checkout, ms);
  usleep(static_cast<unsigned>(ms) * 1000);
}
int main(int, char** words) {
  before();
  for (++words; *words != nullptr; ++words) {
    const std::string word = *words, name = word.substr(0, word.find('='));
    const int number = word.find('=') == std::string::npos ? 0 : std::atoi(word.c_str() + name.size() + 1);
    if (name == "slow") slow(number);
    if (name == "ledger") hold(&ledger, number);
    if (name == "other") hold(&other, number);
    if (name == "checkout") checkout(number);
    if (name == "order") PENNA_EVENT(shop, order, number);
    if (name == "orders") for (int i = 0; i < number; ++i) { PENNA_EVENT(shop, order, i); usleep(3000); }
    if (name == "touch") { kept = malloc(static_cast<size_t>(number) << 20); memset(kept, 1, static_cast<size_t>(number) << 20); }
    if (name == "threads") for (int i = 0; i < number; ++i) std::thread([] { kept = malloc(10); free(kept); }).join();
    if (name == "crash") abort();
  }
  puts("done");
}
PROGRAM
build_c phases -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
count_of() { penna report alloc "$1" --stack "$2" --json -n 0 | python3 -c 'import json, sys; print(sum(row["count"] for row in json.load(sys.stdin)["alloc"]))'; }

# record CONDITION PHASES...: as flight.N.penna.
record() {
  rm -f flight.*
  run penna record -o flight.penna --ring 30s --on "$1" ./phases "${@:2}"
}
# met REGEX: one snapshot, for this cause, with what led to it.
met() {
  expect_eq 'flight.1.penna' "$(echo flight.*)" "files"
  expect_match "$(penna info flight.1.penna)" "snapshot +2[0-9-]+ [0-9:]+ UTC, $1"
  expect_contains "$(penna info flight.1.penna)" complete
  expect_eq 1 "$(count_of flight.1.penna before)" "allocations that led to it"
}

record 'wait > 100ms' ledger=300 slow=100
expect_eq '0 done' "$status $out" "status and output"
met 'wait > 100ms: thread [0-9]+ of process [0-9]+ (has )?waited [0-9.]+ m?s for a lock'
expect_match "$err" '^penna: flight.1.penna: [0-9.]+ kB; wait > 100ms: thread'
expect_match "$err" '1 snapshot was taken'
expect_contains "$err" 'next: penna report flight.1.penna'
expect_match "$(penna report waits flight.1.penna 2>/dev/null || penna report locks flight.1.penna)" ledger
record 'wait(ledger) > 100ms' other=300
expect_eq 'flight.*' "$(echo flight.*)" "files for another lock"
expect_match "$err" 'no snapshot was taken: no condition of --on was met'
record 'wait(ledger) > 100ms || crash' other=300 ledger=300
met 'wait\(ledger\) > 100ms: '
record 'span(checkout) > 100ms' checkout=1 checkout=300
met 'span\(checkout\) > 100ms: thread [0-9]+ of process [0-9]+ (has been|was) in it for '
record 'call(slow) > 100ms' slow=1 slow=300
met 'call\(slow\) > 100ms: thread [0-9]+ of process [0-9]+ (has been|was) in it for '
record 'rss > +100MB' touch=10 slow=1200 touch=200 slow=1200
met 'rss > \+100MB: process [0-9]+ has [12][0-9]{2}\.[0-9] MB in memory'
record 'live > 50MB' touch=10 touch=60
met 'live > 50MB: thread [0-9]+ of process [0-9]+ has brought the live blocks to 7[0-9]\.[0-9] MB'
record 'point(shop:order, number > 100)' order=5 order=101
met 'point\(shop:order, number > 100\): thread [0-9]+ of process [0-9]+ passed shop:order'
record crash crash
expect_eq 134 "$status" "status of a program that aborts"
met 'crash: process [0-9]+ was ended by SIGABRT'
record 'end' slow=1
met 'the recording ended'
record 'crash' slow=1
expect_eq 'flight.*' "$(echo flight.*)" "files of a program that does not crash"

# What the others are: -T FUNC@snapshot and penna ctl, too, make files of their own.
rm -f flight.*
run penna record -o flight --on crash --on-again 1ms -T slow@snapshot ./phases slow=1
met 'a function of -T FUNC@snapshot was entered'
rm -f flight.*
start ctl.txt "$PENNA" record -q -o flight --on crash ./phases slow=20000
until_true "the command runs" pgrep -P "$pid" phases
phases=$(pgrep -P "$pid" phases)
until_true "penna ctl takes a snapshot" penna ctl "$phases" snapshot
until_true "there is a snapshot" test -e flight.1.penna
penna ctl "$phases" stop
wait "$pid" || fail "status $?"
met 'asked for by penna ctl'

# Too soon: counted, and told. With the shortest distance: never more files than asked for, and those are the newest.
rm -f flight.*
run penna record -o flight --on 'point(shop:order)' ./phases orders=50
expect_eq flight.1.penna "$(echo flight.*)" "files"
expect_match "$err" 'conditions were met [0-9]+ times more, too soon after a snapshot'
rm -f flight.*
run penna record -o flight --on 'point(shop:order)' --on-again 1ms --keep-snapshots 3 ./phases orders=400
expect_eq '0 done' "$status $out" "status and output"
expect_eq 3 "$(ls flight.*.penna | wc -l)" "files that are kept"
expect_match "$err" 'snapshots were taken, and [0-9]+ old ones deleted, as --keep-snapshots is 3'
last=$(sed -En 's/.*next: penna report (.*)/\1/p' <<<"$err")
expect_eq "$last" "$(ls flight.*.penna | sort -t. -k2n | tail -n 1)" "the newest"
for file in flight.*.penna; do expect_contains "$(penna info "$file")" complete; done

# Existing files stay, unless -f says otherwise.
rm -f flight.*
echo mine >flight.1.penna
run penna record -q -o flight --on end ./phases
expect_eq "mine flight.1.penna flight.2.penna" "$(<flight.1.penna) $(echo flight.*)" "files"

# Mistakes, before anything runs.
for wrong in "wait" "wait > 0s" "wait > fast" "span > 1s" "rss(x) > 1GB" "crash > 1s" "foo > 1s" "point()" "wait > 1s ||" "point(a:b, x >)"; do
  run penna record --on "$wrong" ./phases
  expect_eq "125 " "$status $out" "status and output of --on '$wrong'"
done
run penna record -k calls --on 'wait > 1s' ./phases
expect_contains "$err" "--on 'wait > 1s' is about locks: add locks to -k"
run penna record --keep-snapshots 3 ./phases
expect_contains "$err" '--on-again and --keep-snapshots are for --on'
run penna record -o /proc/none/x --on crash ./phases
expect_eq "125 " "$status $out" "status and output where no file can be"
echo PASS
