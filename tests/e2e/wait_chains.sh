#!/bin/bash
# SPDX-License-Identifier: MIT
# penna report chains: three threads of 100 ms each: who waits for whom, for how long, and the critical path of the
# first.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# How much longer than 3 x 100 ms the program took since its barrier opened, and how late its threads left that: by what
# it measured itself, the times below may differ from 100 ms.
cat >disturbed.h <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static long opened_ns, late_ns;
static inline long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline __attribute__((always_inline)) int measured_wait(pthread_barrier_t *barrier) {
  const long now = now_ns();
  for (long old = opened_ns; old < now && !__sync_bool_compare_and_swap(&opened_ns, old, now);) old = opened_ns;
  const int result = pthread_barrier_wait(barrier);
  __sync_fetch_and_add(&late_ns, now_ns() - opened_ns);
  return result;
}
static __attribute__((destructor)) void report_disturbance(void) {
  fprintf(stderr, "%ld\n", late_ns + now_ns() - opened_ns - 300000000);
}
#define pthread_barrier_wait measured_wait
C
build_c lock_chain -include ./disturbed.h
for _ in {1..30}; do
  run penna record -q -f -k locks -o chain.penna -- ./lock_chain
  disturbed_ns=$err
  [ "$disturbed_ns" -ge 40000000 ] || break
done
[ "$disturbed_ns" -lt 40000000 ] || fail "the machine is too busy: threads were late by $disturbed_ns ns"
# value PYTHON: `chains` are the rows for locks, and `path` is that of the thread front.
value() {
  /usr/bin/python3 - "$1" <<'PYTHON'
import json, subprocess, sys, os
def table(key, *words):
    return json.loads(subprocess.check_output([os.environ['PENNA'], 'report', 'chains', 'chain.penna', '--json', *words]))[key]
chains, path = table('chains'), table('path', '--thread', 'front')
ms = lambda ns: round(ns / 1e6)
about = lambda ns, want: abs(ns - want * 1e6) <= 2e6 + int(os.environ['disturbed_ns'])
print(eval(sys.argv[1]))
PYTHON
}
export PENNA disturbed_ns
run penna report chains chain.penna
expect_eq 0 "$status" "status of report chains"
expect_match "$out" '^[0-9]+ waits of [0-9.]+ (m?s) in all, [0-9.]+ ms of it for locks$'
expect_match "$out" 'mutex `outer` \(held by middle \(tid [0-9]+\)\) <- mutex `inner` \(held by last \(tid [0-9]+\)\)$'
expect_match "$out" "wait is over when"
expect_missing "$out" "not ended"
expect_eq 3 "$(value 'sum(row["blocked_ns"] > 50e6 for row in chains)')" "chains that lost 100 ms"
expect_eq True "$(value 'all(about(row["blocked_ns"], 100) for row in chains if row["blocked_ns"] > 50e6)')" "$(value '[ms(row["blocked_ns"]) for row in chains]')"
expect_eq "run_front,run_middle,run_middle,run_last" "$(value '",".join(f for row in chains if row["length"] == 2 and row["blocked_ns"] > 50e6 for f in [line.split("(")[0].strip() for line in row["links"]] if f.startswith("run_"))')" "stacks of the chain"

# front: 100 ms of its own, 100 ms of middle, 100 ms of last; together all of its time.
run penna report chains chain.penna --thread front
expect_match "$out" '^Critical path of front \(tid [0-9]+\)'
part() { value "sum(row['time_ns'] for row in path if row['thread'].startswith('$1') and row['what'].startswith('$2'))"; }
expect_eq True "$(value "about($(part front ran), 100)")" "front ran $(part front ran)"
expect_eq True "$(value "about($(part middle 'ran, holding mutex `outer`'), 100)")" "middle ran $(part middle ran)"
expect_eq True "$(value "about($(part last ran), 100)")" "last ran $(part last ran)"
expect_eq 100 "$(value 'round(sum(row["share"] for row in path))')" "share of all parts"
run penna report chains chain.penna --thread nobody
expect_eq 125 "$status" "status of a thread that is not there"
run penna report locks chain.penna --span front
expect_eq 125 "$status" "status of --span elsewhere"
