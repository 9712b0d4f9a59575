#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls seconds apart by a thread that records nothing else: too far for the short form of a call. Each lasts as long as
# the program itself measured, in every kind of call tracing.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >far.c <<'PROGRAM'
#include <stdio.h>
#include <time.h>
#define APART __attribute__((noipa))
#define UNTRACED __attribute__((no_instrument_function))
UNTRACED static inline long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
static volatile long inside;
APART void pass(void) {
  const long began = now();
  nanosleep(&(struct timespec){0, 700000000}, 0);
  inside = now() - began;
}
APART void quick(void) { __asm__ volatile(""); }
int main(void) {
  quick();
  for (int i = 0; i < 2; i++) {
    const long began = now();
    pass();
    printf("%ld %ld\n", inside, now() - began);
    quick();
  }
}
PROGRAM
cat >check.py <<'CHECK'
import csv, sys
seen = [tuple(map(int, line.split())) for line in open('out.txt')]
begun, lengths = {}, []
for row in csv.DictReader(open('far.csv')):
    name = row['name'].split('(')[0]
    if row['kind'] == 'enter':
        begun[name] = int(row['time_ns'])
    if row['kind'] == 'exit' and name == 'pass':
        lengths.append(int(row['time_ns']) - begun[name])
assert len(seen) == len(lengths) == 2, (seen, lengths)
for (least, most), length in zip(seen, lengths):
    # Both clocks tick alike, but for what the kernel slews one of them.
    assert least * 0.998 - 1000 <= length <= most * 1.002 + 1000, (least, length, most)
CHECK
for way in -finstrument-functions '-pg -mfentry' -fpatchable-function-entry=5 -pg ''; do
  # shellcheck disable=SC2086
  build_c far -O2 $way
  run penna record -q -f -k calls -F pass -F quick -F main -o far.penna -- ./far
  expect_eq "0 " "$status $err" "record, $way"
  penna export csv -o far.csv far.penna
  /usr/bin/python3 check.py || fail "durations differ from those that the program measured, $way: $(<far.csv)"
done
