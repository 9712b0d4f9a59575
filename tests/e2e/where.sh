#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record --where: exactly the points that meet the condition, from many threads; spans with their ends; points to
# which the condition does not apply stay.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >rows.cc <<'PROGRAM'
#include <sys/wait.h>
#include <unistd.h>
#include <string>
#include <thread>
#include <vector>
#include "penna/point.h"
static void query(long rows, const char* table) {
  PENNA_SPAN(db, query, PENNA_ARG(rows, rows), PENNA_ARG(table, table));
  PENNA_EVENT(db, read, PENNA_ARG(rows, rows), PENNA_ARG(cost, rows / 2.0));
}
int main() {
  // The main thread has described the points, in a chunk that it keeps until the end.
  PENNA_EVENT(net, send, PENNA_ARG(bytes, 1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([] {
      for (long i = 0; i < 50000; i++) query(i, i % 2 ? "orders" : "users");
    });
  for (auto& thread : threads) thread.join();
  if (fork() == 0) {
    query(49999, "orders");
    query(1, "orders");
    _exit(0);
  }
  wait(nullptr);
  PENNA_EVENT(net, send, PENNA_ARG(bytes, 2));
}
PROGRAM
build_c rows -O2
# count REC KIND NAME
count() { penna export csv "$1" 2>/dev/null | awk -F, -v kind="$2" -v name="$3" '$4 == kind && $5 == name { n++ } END { print n + 0 }'; }

run penna record -k points --where 'rows >= 49990' -o some.penna -- ./rows
expect_eq 0 "$status" "status"
expect_contains "$err" "--where 'rows >= 49990' left out 599,883 points"  # 4 x 49,990 and one of the child, three points each
for name in read:point query:span_begin query:span_end; do
  expect_eq 41 "$(count some.penna "${name#*:}" "db:${name%:*}")" "$name"
done
expect_eq 2 "$(count some.penna point net:send)" "points without such an argument"
run penna info some.penna
expect_match "$out" '^left out +599,883 points by --where$'
expect_match "$out" '^lost +nothing$'
expect_match "$out" '^options .*where=rows >= 49990'
run penna report some.penna health -n 0
expect_eq "" "$(grep -E '^(stray exits|unwound calls|torn|holes|damaged chunks) ' <<<"$out" | grep -v ' 0  ')" "counts of what went wrong"

# Several conditions, each applied where possible: spans have a table, reads a cost.
penna record -q -k points -e 'db:*' --where 'table ~ "ord*" && rows < 100' --where 'cost == 24999.5' -o both.penna -- ./rows
expect_eq $((4 * 50 + 1)) "$(count both.penna span_begin db:query)" "spans"
expect_eq $((4 * 50 + 1)) "$(count both.penna span_end db:query)" "ends of spans"
expect_eq 5 "$(count both.penna point db:read)" "reads"

# Applied when reading, the same points, except for their times.
penna record -q -k points -e 'db:*' -o all.penna -- ./rows
rows() { penna export csv "$@" 2>/dev/null | cut -d, -f4,5,10- | sort; }
condition='table ~ "ord*" && rows < 100'
cmp <(rows all.penna --where "$condition" --where 'cost == 24999.5') <(rows both.penna) || fail "--where gives other points when applied to a report"
run penna report points all.penna --where 'rows < 100'
expect_match "$out" '^ +401 .* db:read '
expect_match "$out" '^ +401 .* db:query '
expect_eq 401 "$(penna replay all.penna --where 'rows < 100' | grep -c '} /\* db:query \*/$')" "spans in the replay"
run penna report points all.penna --where 'rows <'
expect_eq "125 " "$status $out" "a condition that cannot be read"

# Impossible requests are reported.
run penna record -k points --where 'rows >' -o bad.penna -- ./rows
expect_eq 125 "$status" "status of a condition that cannot be read"
expect_contains "$err" "the condition 'rows >' cannot be read: after 'rows >' a number or a quoted string is expected here"
[ ! -e bad.penna ] || fail "a recording was left"
run penna record -k points --where 'rwos > 5' -o none.penna -- ./rows
expect_contains "$err" "--where 'rwos > 5' filtered out nothing: no point has such arguments"
expect_contains "$err" "such arguments, rwos (did you mean 'rows'?) (see: penna list)"
run penna record -f -k points --where 'rwos > 5' --where 'rows >= 49990' -o one.penna -- ./rows
expect_contains "$err" "--where 'rwos > 5' filtered out nothing: no point has such arguments, rwos (did you mean 'rows'?)"
expect_contains "$err" "left out 599,883 points"
expect_eq 200002 "$(count none.penna point db:read)" "points that the condition does not apply to"

# Every verb that reads reports this, too, with the nearest name; CSV, which has no place for sentences, on stderr.
penna record -q -k points,alloc -e 'net:*' -o few.penna -- ./rows
for view in "report few.penna" "report few.penna points" "report few.penna points --json" "report few.penna points --format csv" \
  "report few.penna flame" "replay few.penna" "check few.penna --max-leak 1G" "export csv few.penna" "export folded few.penna" \
  "export chrome few.penna"; do
  # shellcheck disable=SC2086
  run penna $view --where 'byts > 1'
  expect_contains "$out$err" "--where 'byts > 1' filtered out nothing: no point has such arguments, byts (did you mean 'bytes'?)"
done
