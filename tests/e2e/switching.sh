#!/bin/bash
# SPDX-License-Identifier: MIT
# Sites switched on and off thousands of times under 32 threads, signal handlers and a library that comes and goes: by the
# program itself, and by the agent while it records, where no event may be torn.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c switching_plugin -O2 -fPIC -shared
build_c switching -O2
expect_clean() {
  expect_eq "wrong 0
all sites met in $1 of $1 requests
on 0
changed code 0, writable 0
called, handled" "$out" "what $2 says"
}
run ./switching 32 1500 ./switching_plugin
expect_clean 3000 "the program alone"

run penna record -k points -o switching.penna -- ./switching 32 1000 ./switching_plugin sparing
expect_clean 2000 "the program under penna record"
expect_match "$err" 'points; 0 lost$'
run penna report health switching.penna -n 0
expect_match "$out" '^torn +0 '
# Each value is stored with its complement; the library's names have an event and a span.
penna export csv switching.penna -o events.csv
/usr/bin/python3 - <<'CHECK'
import collections, csv
bits = {'many:event': 64, 'many:plugin_event': 32}
counts = collections.Counter()
for row in csv.DictReader(open('events.csv')):
    counts[row['kind'], row['name']] += 1
    if row['name'] in bits:
        value, mirrored = (int(part.split('=')[1]) for part in row['arguments'].split(';'))
        assert value ^ mirrored == 2 ** bits[row['name']] - 1, row
for what in (('point', 'many:event'), ('point', 'many:plugin_event'), ('span_begin', 'many:plugin_span')):
    assert counts[what] > 100, counts
CHECK
