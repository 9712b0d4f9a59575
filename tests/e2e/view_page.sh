#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of penna view in a browser, for a program with calls, allocations and locks: every tab, and the report's
# numbers.
. "$(dirname "$0")/common.sh"

need chromium
command -v node >/dev/null || need nodejs
npm_packages playwright-core@1.65.1
build_c crew -O1 -g -finstrument-functions -pthread
run penna record -o crew.penna ./crew
expect_eq 0 "$status" "exit status of record"
penna report calls crew.penna --format csv --top 0 >calls.csv

start view.log "$PENNA" view crew.penna --no-open
await view.log 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/'
address=$(grep -Eo 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/' view.log | head -n 1)
run env NODE_MODULES="$modules" node "$PENNA_SOURCE/tests/view/served.mjs" "$address" "$PWD/calls.csv"
expect_eq 0 "$status" "exit status of the page's test"

# For a program with points, too: requests about parts of it.
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O1 -g -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
run penna record -o orders.penna ./orders 200
expect_eq 0 "$status" "exit status of record"
start orders.log "$PENNA" view orders.penna --no-open
await orders.log 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/'
run env NODE_MODULES="$modules" node "$PENNA_SOURCE/tests/view/served_parts.mjs" "$(head -n 1 orders.log)"
expect_eq 0 "$status" "exit status of the page's test of parts: $err"
