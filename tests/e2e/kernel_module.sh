#!/bin/bash
# SPDX-License-Identifier: MIT
# examples/kernel-module in a virtual machine: four processes and a timer interrupt write into one ring, on two
# processors; the device and penna import deliver all of it; for a ring that was too small, they report what is missing.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need linux-headers-amd64 busybox-static cpio make qemu-system-x86
copy_of_pages
cd copy
# Its kernel, with updated package lists if the local ones are too old to find it.
version=$(find /usr/src -maxdepth 1 -name 'linux-headers-*-amd64' ! -name '*-cloud-*' ! -name '*-rt-*' -printf '%f\n' | sort -V | tail -n 1)
version=${version#linux-headers-}
[ -r "/boot/vmlinuz-$version" ] || "$PENNA_SOURCE/tools/install-packages" --unpack "$PENNA_PACKAGES" "linux-image-$version"
run bash -ec "$(doc_block embedding.md examples/kernel-module/run)"
expect_eq 0 "$status" "status of the example in docs/embedding.md"
expect_contains "$err" "penna: kernel.penna: 500 points, written by 6 threads"
expect_match "$out" '^ +400 .* kernel:write '
run penna info kernel.penna
expect_match "$out" '^lost +nothing$'
expect_match "$out" '^kernel +Linux 6\.[0-9]+.*, penna_example$'

penna export csv kernel.penna >events.csv
/usr/bin/python3 - <<'CHECK' || fail "the events differ from those that were emitted"
import collections, csv
ticks, writes, last = [], collections.Counter(), 0
for event in csv.DictReader(open('events.csv')):
    arguments = dict(pair.split('=', 1) for pair in event['arguments'].split(';'))
    assert event['kind'] == 'point' and int(event['time_ns']) >= last, event
    last = int(event['time_ns'])
    if event['name'] == 'kernel:tick':
        assert int(event['tid']) >= 2**31 and arguments['hardirq'] == 'true', event
        ticks.append(int(arguments['number']))
    else:
        assert event['name'] == 'kernel:write' and arguments['bytes'] == '1' and arguments['process'] == 'dd', event
        writes[int(event['tid'])] += 1
assert ticks == list(range(100)), ticks
assert sorted(writes.values()) == [100] * 4, writes
CHECK
run penna report kernel.penna threads
expect_match "$out" ' irq cpu[01] .* 100 '

# 1,024 slots, 3,000 records.
run penna import full-ring.stream -o full.penna
expect_match "$err" '^penna: full.penna: 1,024 points'
expect_match "$err" '^penna: lost where it was recorded: 1,976 points'
run penna info full.penna
expect_match "$out" '^lost +1,976 points$'
run penna report full.penna health
expect_contains "$out$err" 'Lost: 1,976 points. A larger ring where they are recorded holds more.'

# The recording is not overwritten, nor is the stream overwritten by it.
run penna import kernel.stream
expect_eq 125 "$status" "status when the recording exists"
run penna import kernel.stream -f -o kernel.stream
expect_eq 125 "$status" "status when the recording is the stream"
run penna import kernel.penna -o other.penna
expect_match "$err" 'cannot import kernel.penna: it does not begin like a stream'
