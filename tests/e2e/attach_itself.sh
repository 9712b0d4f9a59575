#!/bin/bash
# SPDX-License-Identifier: MIT
# A process whose threads are named as ours are can be recorded, too: penna view, while it answers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
penna record -q -k alloc -o ls.penna -- ls / >/dev/null
start view.txt "$PENNA" view --no-open ls.penna
viewer=$pid
await view.txt '^http'
url=$(grep -m 1 '^http' view.txt)
/usr/bin/python3 - "$url" <<'PYTHON' &
import sys, time, urllib.request
while True:
    urllib.request.urlopen(sys.argv[1]).read()
    time.sleep(0.01)
PYTHON
started+=($!)
run penna record -f -p "$viewer" -k alloc -o itself.penna --duration 500ms
expect_eq 0 "$status" "status: $err"
expect_match "$err" '^penna: restored [0-9]+ places in [0-9]+ modules?, verified'
run penna report alloc itself.penna --format csv
[ "$(wc -l <<<"$out")" -gt 5 ] || fail "nothing was recorded"
kill -0 "$viewer" || fail "the viewer has ended"
