#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --point-stacks: each hit of a point with its stack, for points with and without strings, spans, in leaves with
# a red zone and with vector registers, in C and in C++, for foreign probes; in the replay, the report, folded and CSV.
# The program is not disturbed.
. "$(dirname "$0")/common.sh"

cat >prog.cc <<'C'
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
#include "penna/point.h"
#define PLACE __attribute__((noinline, noclone))
PLACE static double leaf(double a, double b, double c, double d, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) {
    PENNA_EVENT(shop, plain, PENNA_ARG(i, i));
    sum += a * static_cast<double>(i) + b;
    PENNA_EVENT(shop, text, PENNA_ARG(what, "words"), PENNA_ARG(sum, sum));
    sum += c - d;
  }
  return sum;
}
PLACE static double middle(long n) {
  PENNA_SPAN(shop, span, PENNA_ARG(n, n));
  return leaf(1.5, 2.5, 3.5, 4.5, n) + 1;
}
PLACE static double other(long n) { return leaf(0.5, 0.25, 2, 3, n) + 2; }
int main() {
  std::printf("%.3f\n", middle(30) + other(12));
  std::fflush(stdout);
  if (fork() == 0) { middle(3); _exit(0); }
  wait(nullptr);
}
C
for options in "-O0" "-O2" "-O3 -mavx2" "-O2 -fomit-frame-pointer -static-libgcc"; do
  # shellcheck disable=SC2086
  build_c prog $options
  truth=$(./prog)
  run penna record -f -k points --point-stacks -o a.penna ./prog
  expect_eq "$truth" "$out" "output with $options"
  expect_contains "$err" "0 lost"
  penna export folded a.penna --weight points >folded.txt
  # count STACK: there may be further outer frames.
  count() { awk -v want="$1" '{ line = $0; sub(/ [0-9]+$/, "", line) } substr(line, length(line) - length(want) + 1) == want { n += $NF } END { print n + 0 }' folded.txt; }
  for point in plain text; do
    expect_eq 33 "$(count "main;middle(long);leaf(double, double, double, double, long);shop:$point")" "$point in middle with $options: $(<folded.txt)"
    expect_eq 12 "$(count "main;other(long);leaf(double, double, double, double, long);shop:$point")" "$point in other with $options: $(<folded.txt)"
  done
  expect_eq 2 "$(count "main;middle(long);shop:span")" "spans with $options: $(<folded.txt)"
done

run penna report a.penna points -n 0
expect_contains "$out" 'Where points were passed'
expect_match "$out" '^ +30 +shop:plain +leaf\(double, double, double, double, long\) \(prog.cc:[0-9]+\)'
expect_match "$out" '^ +middle\(long\) \(prog.cc:[0-9]+\)'
expect_eq "12 leaf(double, double, double, double, long) True" "$(penna report a.penna points --json | python3 -c '
import json, sys
row = [row for row in json.load(sys.stdin)["stacks"] if row["point"] == "shop:text" and row["hits"] == 12][0]
print(row["hits"], row["function"], any(frame.startswith("other(long)") for frame in row["stack"]))')"
run penna replay a.penna --stacks
expect_match "$(grep -A1 'point shop:plain' <<<"$out")" 'leaf\(double'
expect_match "$(penna export csv a.penna | grep ',shop:plain,')" ';main;middle\(long\);leaf\(double'
expect_contains "$(penna info a.penna)" "point-stacks"
penna report a.penna flame --weight points >flame.txt || fail "wrong flame graph"

# Without it nothing changes, and requests for stacks are answered with a hint.
run penna record -f -k points -o b.penna ./prog
run penna export folded b.penna --weight points
expect_eq 125 "$status"
expect_contains "$err" "stacks of points were not recorded: penna record --point-stacks records them"
expect_missing "$(penna report b.penna points)" "Where points were passed"
run penna record -k alloc --point-stacks -o c.penna ./prog
expect_contains "$err" "--point-stacks and -T PROVIDER:NAME@stack are about points: add points to -k"

# Only for some points; the others are recorded without stacks, in the same modules.
run penna record -f -k points -T 'shop:t*@stack' -T 'shop:nothing@stack' -o d.penna ./prog
expect_eq "$truth" "$out"
expect_contains "$err" "-T 'shop:nothing@stack' matched no point"
penna export folded d.penna --weight points >folded.txt
expect_eq 33 "$(count 'main;middle(long);leaf(double, double, double, double, long);shop:text')" "text: $(<folded.txt)"
expect_eq 45 "$(count '[unknown];shop:plain')" "plain, without stacks: $(<folded.txt)"
run penna report d.penna points -n 0
expect_eq "" "$(sed '1,/Where points/d' <<<"$out" | grep -E 'shop:(plain|span)' || true)" "stacks of points that none was asked for"

# A stack that does not end within the limit is marked as cut.
run penna record -f -k points --point-stacks --stack-depth 1 -o depth.penna ./prog
run penna report depth.penna points -n 0
expect_match "$out" '^ +\(deeper than --stack-depth'

# Probes of other headers.
cat >foreign.c <<'C'
#include <stdio.h>
#include "penna/sdt.h"
__attribute__((noinline)) static long work(long n) { PENNA_SDT(other, probe, n); return n * 3; }
int main(void) { long sum = 0; for (long i = 0; i < 5; ++i) sum += work(i); printf("%ld\n", sum); return 0; }
C
build_c foreign -O2
run penna record -f -k points -e 'other:*' --point-stacks -o f.penna ./foreign
expect_eq 30 "$out"
penna export folded f.penna --weight points >folded.txt
expect_eq 5 "$(count "main;work;other:probe")" "foreign probes: $(<folded.txt)"

# With strings among its arguments; and if several processes read the same, there is one row.
need python3
run penna record -f -k points -e 'python:import*' --point-stacks -o py.penna /usr/bin/python3 -c 'import json'
penna export folded py.penna --weight points >folded.txt
! grep -q '^\[unknown\];python:import' folded.txt || fail "stacks of python's probes: $(<folded.txt)"
grep -q ';python:import__find__load__start [0-9]' folded.txt || fail "no probe of python: $(<folded.txt)"
expect_eq "" "$(grep -v '^_start;' folded.txt || true)" "all lead out of the program"
