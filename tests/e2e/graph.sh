#!/bin/bash
# SPDX-License-Identifier: MIT
# penna graph: callers and callees of a function of a real program, with the same numbers as the recorded calls.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.cc <<'PROGRAM'
#include <thread>
struct Shop {
  __attribute__((noipa)) static int pay(int n) { return n; }
  __attribute__((noipa)) static int pay(long n) { return pay(static_cast<int>(n)); }
};
__attribute__((noipa)) int fib(int n) { return n < 2 ? Shop::pay(n) : fib(n - 1) + fib(n - 2); }
__attribute__((noipa)) void work() { Shop::pay(7L); fib(4); }
int main() {
  fib(6);
  work();
  std::thread(work).join();
}
PROGRAM
build_c app -finstrument-functions -finstrument-functions-exclude-file-list=/usr
penna record -q -k calls -o app.penna -- ./app
run penna graph fib app.penna
expect_contains "$out" 'fib: 43 calls'
expect_match "$out" '^ +1 .* main \(app.cc:8\) \[app\]$'
expect_match "$out" '^ +2 .* work\(\)'
expect_match "$out" '^ +40 .* fib\(int\)'
expect_match "$out" '^ +23 .* Shop::pay\(int\)'
run penna graph app.penna main --format json
/usr/bin/python3 -c '
import json, sys
graph = json.load(open("out.txt"))
assert [row["function"] for row in graph["callers"]] == ["[nothing that was recorded]"], graph
assert {row["function"]: row["calls"] for row in graph["callees"]} == {"fib(int)": 1, "work()": 1}, graph' || fail "the graph of main"
penna graph -i app.penna pay --format csv >pay.csv
penna report calls app.penna --format csv >calls.csv
/usr/bin/python3 - <<'PYTHON' || fail "the graph of both overloads"
import csv
rows = list(csv.DictReader(open('pay.csv')))
calls = {row['function']: row for row in csv.DictReader(open('calls.csv'))}
by_role = lambda role: {row['function']: int(row['calls']) for row in rows if row['role'] == role}
assert by_role('caller') == {'fib(int)': 23, 'work()': 2, 'Shop::pay(long)': 2}, rows
assert by_role('function') == {'pay': 27} and by_role('callee') == {'Shop::pay(int)': 2}, rows
both = [calls['Shop::pay(int)'], calls['Shop::pay(long)']]
mine = next(row for row in rows if row['role'] == 'function')
assert abs(int(mine['self_ns']) - sum(int(row['self_ns']) for row in both)) <= 2, (mine, both)
assert abs(int(mine['self_ns']) - sum(int(row['self_ns']) for row in rows if row['role'] == 'caller')) <= 3
assert int(mine['total_ns']) <= sum(int(row['total_ns']) for row in both)   # one is in the other: counted once
PYTHON

run penna graph 'fi*' app.penna
expect_contains "$out" 'fi*: 43 calls'
run penna graph fi app.penna
expect_eq 125 "$status" "status without such a function"
expect_contains "$err" "there is fib(int): 'penna report calls -n 0' lists them all"
run penna graph
expect_contains "$err" "a function is missing"
run penna graph a b c
expect_contains "$err" "unexpected argument 'c'"
penna record -q -k alloc -o none.penna -- ./app
run penna graph fib none.penna
expect_contains "$err" "holds no calls"
