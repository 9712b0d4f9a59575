#!/bin/bash
# SPDX-License-Identifier: MIT
# examples/demo/orders.cc, recorded with all four kinds: its leak has function and line, the lock that a till waited for
# has its name and its holder, the points have their values, and one replay shows all four in place.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/

run ./orders 40
plain=$out
run penna record -o orders.penna -- ./orders 40
expect_eq 0 "$status" "exit status"
expect_eq "$plain" "$out" "output of the recorded program"
expect_contains "$err" "0 lost"

# value REPORT KEY PYTHON: a value from `penna report --format json`; `rows` is the table KEY.
value() {
  penna report orders.penna "$1" --format json >report.json || fail "penna report $1 --format json"
  /usr/bin/python3 -c 'import json, sys
report = json.load(open("report.json"))
rows = report[sys.argv[1]]
print(eval(sys.argv[2]))' "$2" "$3" || fail "no $3 in $2 of $1: $(<report.json)"
}

# The leak: 4 of 40 receipts, 1000 bytes each, from the malloc in copy_receipt.
line=$(grep -n 'the leak$' orders.cc | cut -d: -f1)
expect_eq "[(4000, 4)]" "$(value leaks leaks '[(r["leaked_bytes"], r["blocks"]) for r in rows if "copy_receipt" in r["function"]]')"
run penna report orders.penna leaks
expect_match "$out" "copy_receipt.*orders\\.cc:$line"
expect_contains "$out" "shop::serve"

# The lock: the bookkeeper sleeps 50 ms with it after a till has arrived; a late till waits less, but not zero.
waited=$(value locks locks 'max(r["max_wait_ns"] for r in rows if "ledger" in r["lock"])')
[ "$waited" -ge 10000000 ] || fail "waits for the ledger: only $waited ns"
expect_eq 41 "$(value locks locks 'sum(r["taken"] for r in rows if "ledger" in r["lock"])')" "times the ledger was taken"
run penna report orders.penna waits
expect_contains "$out" "shop::pay"

# The points: 40 orders, 40 payments, one audit in the way.
hits() { value points points "sum(r['hits'] for r in rows if 'shop:$1' in r['point'])"; }
expect_eq "40 40 1" "$(hits 'order') $(hits 'paid') $(hits 'audit_in_the_way')" "hits of the points"
run penna replay orders.penna
expect_match "$out" 'point shop:order order.number=11 order.items=4 order.price=12.5 order.customer="Barbara"'
for what in 'shop::serve\(int\) \{' '} /\* shop::pay' 'malloc\(1000\) = 0x' 'point shop:copied copy="10: 3 at 10.00 for Grace \(copy\)"' \
  'lock shop::ledger.mutex waited [0-9.]+ ms, held by orders' 'unlock shop::ledger.mutex'; do
  expect_match "$out" "$what"
done
expect_missing "$out" "penna::"
