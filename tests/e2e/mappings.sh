#!/bin/bash
# SPDX-License-Identifier: MIT
# mmap, munmap, mremap, brk and sbrk are recorded as called; failing calls are not, nor what libc maps internally.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c mappings
run ./mappings
expect_eq "1 1" "$out" "without us"
run penna record -o m.penna -k alloc -- ./mappings
expect_eq 0 "$status" "status"
expect_eq "1 1" "$out" "output"
penna export csv m.penna >m.csv
python3 - <<'PYTHON' || fail "wrong mappings: $(cat m.csv)"
import csv
rows = [row for row in csv.DictReader(open('m.csv')) if row['kind'] in ('map', 'unmap')]
seen = [(row['name'], int(row['size'])) for row in rows]
page = 4096
due = [('mmap', 14 * page), ('munmap', 4 * page), ('munmap', 2 * page), ('mmap', 4 * page), ('mmap', page), ('munmap', page),
       ('mremap', 16 * page), ('brk', 2 * page), ('munmap', page), ('munmap', page), ('munmap', 16 * page)]
assert seen == due, seen
assert all('main' in row['stack'] for row in rows), rows
pages = set()
for row in rows:
    first = int(row['address'], 16) // page
    part = set(range(first, first + int(row['size']) // page))
    pages = pages | part if row['kind'] == 'map' else pages - part
assert len(pages) == 10, len(pages)
PYTHON
