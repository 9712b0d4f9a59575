#!/bin/bash
# SPDX-License-Identifier: MIT
# Debian's own python3, unmodified: allocation stacks have the names of the interpreter's C functions, from its debug
# file.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need 'python3.11-dbg|python3.13-dbg'
run penna record -o a.penna -- /usr/bin/python3 -c 'x=[bytes(i) for i in range(20000)]; print(len(x))'
expect_eq 0 "$status" "exit status"
expect_eq 20000 "$out" "output"

for report in alloc 'leaks --no-suppressions'; do
  # shellcheck disable=SC2086
  run penna report a.penna $report --frames 0
  expect_eq 0 "$status" "status of penna report $report"
  expect_match "$out" '_PyEval_EvalFrameDefault'
done
run penna report a.penna alloc
# bytes(i): PyBytes_FromStringAndSize or what it inlines, called by the type's constructor; all but the smallest 512
# come from malloc. 19,488 blocks of 513..20,000 bytes and a header of 33.
expect_match "$out" 'bytes_new|_PyBytes_FromSize|PyBytes_FromStringAndSize'
penna report a.penna alloc --format json >alloc.json
/usr/bin/python3 - <<'PYTHON' || fail "the allocations of bytes() do not add up: $(head -c 2000 alloc.json)"
import json
rows = json.load(open('alloc.json'))['alloc']
made = [row for row in rows if 'Bytes' in str(row) or 'bytes_new' in str(row)]
due = sum(i + 33 for i in range(20000) if i + 33 > 512)
assert sum(row['bytes'] for row in made) >= due, (sum(row['bytes'] for row in made), due)
PYTHON
