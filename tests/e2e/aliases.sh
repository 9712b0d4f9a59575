#!/bin/bash
# SPDX-License-Identifier: MIT
# A function with several names is found by each of them, and shown under the requested one.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >aliased.c <<'PROGRAM'
#define _FILE_OFFSET_BITS 64
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
#define FUNCTION __attribute__((noipa)) int
#define ADD(x, n) \
  volatile int sum = x; \
  for (int i = 0; i < n; ++i) sum += i; \
  return sum
FUNCTION pay(int cents) { ADD(cents, 1); }
int checkout(int cents) __attribute__((alias("pay")));
FUNCTION old_rate(int x) { ADD(x, 2); }
FUNCTION new_rate(int x) { ADD(x, 3); }
__asm__(".symver old_rate,rate@RATES_1");
__asm__(".symver new_rate,rate@@RATES_2");
int main(void) {
  FILE* file = fopen("/dev/null", "r");
  if (file == NULL || lseek(fileno(file), 0, SEEK_SET) != 0) return 1;
  fclose(file);
  return checkout(41) + old_rate(1) + new_rate(1) == 0;
}
PROGRAM
printf 'RATES_1 { global: rate; };\nRATES_2 { global: rate; } RATES_1;\n' >rates.map
gcc -O1 -g -D_GNU_SOURCE aliased.c -o aliased -rdynamic -Wl,--version-script=rates.map || fail "aliased.c does not compile"

# called FILE: the names of the called functions.
called() { penna report calls "$@" --json 2>err.txt | python3 -c 'import json, sys; print(*sorted(row["function"] for row in json.load(sys.stdin).get("calls", [])))'; }
# asked PATTERN OPTION...: what -F PATTERN records, as displayed.
asked() {
  local pattern=$1
  shift
  run penna record -f -o asked.penna -k calls -F "$pattern" "$@" -- ./aliased
  expect_eq 0 "$status" "status with -F $pattern"
  expect_missing "$err" ' matches '
  called asked.penna
}
for name in pay checkout lseek lseek64 fopen fopen64 old_rate; do
  expect_eq "$name" "$(asked "$name")" "what -F $name shows"
done
expect_eq 'old_rate rate' "$(asked rate | sed 's/rate@RATES_1/old_rate/; s/^rate rate$/old_rate rate/; s/new_rate/rate/')" "both versions of a function"
expect_eq 'rate@RATES_1' "$(asked 'rate@RATES_1' | sed 's/^\(rate\|old_rate\)$/rate@RATES_1/')" "one version of it"
expect_eq 1 "$(penna report calls asked.penna --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["calls"]))')" "functions of one version"

# A call into a library has the caller's name for the function; here the other name is requested.
run penna record -f -o libcalls.penna -k calls --libcalls -- ./aliased
out=$(called libcalls.penna)
expect_contains " $out " ' lseek64 '
expect_contains " $out " ' fopen64 '
expect_eq lseek "$(called libcalls.penna -F lseek)" "read with another name"
expect_eq lseek64 "$(called libcalls.penna -F lseek64)" "read with its name"
expect_missing " $(called libcalls.penna -N lseek) " ' lseek'
run penna graph lseek libcalls.penna
expect_contains "$out" 'lseek: 1 call'
run penna record -f -o both.penna -k calls --libcalls -F lseek -- ./aliased
expect_eq lseek "$(called both.penna)" "-F with --libcalls"

# Values and stacks.
run penna record -q -f -o values.penna -k calls -A checkout -- ./aliased
run penna replay values.penna
expect_contains "$out" 'checkout(cents=41)'
run penna record -q -f -o spelled.penna -k calls -A lseek64@arg1,arg2 -- ./aliased
run penna replay spelled.penna
expect_match "$out" ' lseek64\(arg1=[0-9]+, arg2=0\)'
run penna record -q -f -o stack.penna -k calls -T checkout@stack -- ./aliased
run penna replay --stacks stack.penna
expect_match "$out" ' (checkout|pay)'
expect_contains "$out" 'main'
run penna record -f -o on.penna -k calls -F '*' --module aliased -T checkout@on -- ./aliased
expect_missing "$err" ' matches '
expect_contains " $(called on.penna) " ' checkout '
