#!/bin/bash
# SPDX-License-Identifier: MIT
# record --max-overhead: a function that is called too often is silenced, in every kind of call tracing, and named;
# rarely called ones are recorded to the last call, and the program behaves as without Penna.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >busy.c <<'PROGRAM'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline))
// Long enough for a detour.
APART static long tiny(long x) { asm volatile("add $3, %0; sub $3, %0" : "+r"(x)); return x + 1; }
APART static long recursive(long depth) { return depth == 0 ? 0 : recursive(depth - 1) + 1; }
APART static long big(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; i++) sum = tiny(sum);
  return sum + recursive(3);
}
static void *work(void *rounds) { return (void *)(big((long)rounds) + abs(-1)); }
int main(int argc, char **argv) {
  const long rounds = atol(argv[1]);
  long sum = 0;
  pthread_t thread;
  for (int i = 0; i < 50; i++) {
    void *result;
    pthread_create(&thread, NULL, work, (void *)rounds);
    sum += big(rounds);
    pthread_join(thread, &result);
    sum += (long)result;
  }
  printf("%ld %d\n", sum, argc);
}
PROGRAM
readonly rounds=400000

# calls_of FUNCTION RECORDING
calls_of() { penna report calls "$2" --format csv | /usr/bin/python3 -c '
import csv, sys
print(sum(int(row["calls"]) for row in csv.DictReader(sys.stdin) if row["function"] == sys.argv[1]))' "$1"; }
# silenced NAME RECORD-OPTIONS...: tiny is, and nothing else
silenced() {
  local name=$1
  shift
  run ./"$name" $rounds
  local alone=$out
  run penna record -f -k calls --max-overhead 10% -o "$name.penna" "$@" -- ./"$name" $rounds
  expect_eq "0 $alone" "$status $out" "what $name prints"
  expect_match "$err" "^penna: --max-overhead 10%: calls of tiny \\[$name\\] are not recorded from some time on$"
  expect_match "$(penna info "$name.penna")" "calls of tiny \\[$name\\] in pid [0-9]+ are not recorded after [0-9.]+ s of processor time"
  expect_eq 100 "$(calls_of big "$name.penna")" "calls of big in $name"
  local seen
  seen=$(calls_of tiny "$name.penna")
  [ "$seen" -gt 100 ] && [ "$seen" -lt $((100 * rounds)) ] || fail "$seen calls of tiny in $name, of $((100 * rounds))"
  for counter in 'lost calls' 'stray exits' 'unwound calls' torn; do
    expect_eq 0 "$(penna report health "$name.penna" --format csv | awk -F, -v name="$counter" '$1 == name { print $2 }')" "$counter of $name"
  done
}

gcc -O2 -fpatchable-function-entry=5 busy.c -o patchable -pthread
gcc -O2 -pg -mfentry -c busy.c && gcc busy.o -o fentry -pthread  # linked without -pg: it does not count for gprof
gcc -O2 -pg -mfentry -mnop-mcount -fno-pie -no-pie busy.c -o nops -pthread
gcc -O2 -pg -c busy.c && gcc busy.o -o pg -pthread
clang -O2 -fxray-instrument -fxray-instruction-threshold=1 busy.c -o xray -pthread
gcc -O2 busy.c -o plain -pthread
for program in patchable fentry nops pg xray; do silenced $program; done
silenced plain -F big -F tiny -F recursive

# ---- functions that cannot be silenced are reported -----------------------------------------------------------------
gcc -O2 -finstrument-functions busy.c -o hooks -pthread
gcc -O2 -pg -mfentry busy.c -o counted -pthread
for program in hooks counted; do
  run penna record -k calls --max-overhead 10 -o $program.penna -- ./$program 20000
  expect_eq 0 "$status" "exit status"
  expect_match "$err" "^penna: --max-overhead 10%: tiny \\[$program\\] could not be silenced: -finstrument-functions, and -pg in a program that counts for gprof, leave no way$"
  expect_eq 2000000 "$(calls_of tiny $program.penna)" "calls of tiny, all recorded"
done

# ---- nothing to do --------------------------------------------------------------------------------------------------
run penna record -k calls --max-overhead 10 -o short.penna -- ./patchable 1
expect_match "$err" '^penna: --max-overhead 10%: all calls were recorded$'
for wrong in 0 -1 10x 2000; do
  run penna record -k calls --max-overhead "$wrong" -o wrong.penna -- true
  expect_eq 125 "$status" "status of --max-overhead $wrong"
  expect_match "$err" '^penna record: --max-overhead'
done
run penna record -k alloc --max-overhead 10% -o wrong.penna -- true
expect_match "$err" '^penna record: --max-overhead is about calls: add calls to -k'
