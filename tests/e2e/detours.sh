#!/bin/bash
# SPDX-License-Identifier: MIT
# record -F: functions of unprepared programs are hooked by detours; those that cannot be are refused, with the reason.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.c <<'PROGRAM'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __clang__
#define KEEP __attribute__((noinline, optnone))
#else
#define KEEP __attribute__((noipa))
#endif
static int table[64];
KEEP static int hidden(int n) { return n * table[n & 63] + 3; }
KEEP int uses_rip(int n) { table[n & 63] += n; return table[(n + 1) & 63]; }
KEEP int branches_early(int n) { return n == 0 ? 7 : n * uses_rip(n); }
KEEP int loops(const char* text) { int n = 0; while (*text++) ++n; return n; }
KEEP int many(int a, int b, int c, int d, int e, int f, int g, int h) { return a + b * c + d * e + f * g + h; }
KEEP double mixed(double a, int n, long double x) { return a * n + (double)x; }
KEEP struct { long a, b, c; } large(long n);
KEEP int switched(int n) {
  switch (n) {
    case 0: return 10;
    case 1: return uses_rip(n);
    case 2: return 5 * n;
    case 3: return hidden(n);
    case 4: return loops("abc");
    case 5: return 99;
    default: return -1;
  }
}
KEEP int tail(int n) { return switched(n + 1); }
KEEP int recurses(int n) { return n == 0 ? 0 : 1 + recurses(n - 1); }
__attribute__((naked)) int tiny(void) { __asm__("ret"); }
__attribute__((naked)) int backward(int n) { __asm__("xor %eax, %eax\n1: inc %eax\ndec %edi\njnz 1b\nret"); }
int main(void) {
  long sum = 0;
  for (int i = 0; i < 10; ++i)
    sum += hidden(i) + uses_rip(i) + branches_early(i) + loops("hello") + many(i, 2, 3, 4, 5, 6, 7, 8) + (long)mixed(i, i, 2.5L) +
           switched(i) + tail(i) + backward(i + 1);
  tiny();
  printf("%ld %d\n", sum, recurses(20));
  return 5;
}
PROGRAM
sed -i '/large(long n)/d' app.c
names='hidden uses_rip branches_early loops many mixed switched tail recurses tiny backward'
filters=$(for name in $names main; do echo -F "$name"; done)
expected='hidden=12 uses_rip=21 loops=12 many=10 mixed=10 switched=20 tail=10 recurses=21 main=1 branches_early=10'
for way in 'gcc -O0' 'gcc -O1' 'gcc -O2' 'gcc -O3 -fcf-protection' 'gcc -Os' 'gcc -O2 -fno-pie -no-pie' 'clang -O0' 'clang -O2' 'clang -O3'; do
  $way -g -w app.c -o app
  run ./app
  plain=$out
  run "$PENNA" record -k calls $filters -o app.penna -f -- ./app
  expect_eq 5 "$status" "exit status ($way)"
  expect_eq "$plain" "$out" "output ($way)"
  penna report calls app.penna --format csv >calls.csv
  penna report health app.penna >health.txt
  /usr/bin/python3 - "$expected" "$way" <<'PYTHON' || fail "functions of a program built with $way"
import csv, re, sys
calls = {row['function']: int(row['calls']) for row in csv.DictReader(open('calls.csv'))}
refused = dict(re.findall(r'calls of (\S+) \[app\] are not recorded: it (.*)', open('health.txt').read()))
for wanted in sys.argv[1].split():
    name, count = wanted.split('=')
    # Every function is recorded, completely, or named with the reason why not.
    assert calls.get(name) == int(count) or (name not in calls and name in refused), (sys.argv[2], name, count, calls, refused)
assert 'tiny' in refused and 'backward' in refused, refused
assert len(calls) >= 7, (sys.argv[2], calls, refused)
PYTHON
done

# A stripped program whose names are in a separate debug file.
gcc -O2 -g -w app.c -o app
objcopy --only-keep-debug app app.debug
strip app
objcopy --add-gnu-debuglink=app.debug app
penna record -q -k calls -F hidden -F many -o stripped.penna -- ./app >/dev/null || true
run penna report calls stripped.penna -n 0
expect_match "$out" ' +12 .* hidden'
expect_match "$out" ' +10 .* many'

# Debian's own interpreter: the same output, and named functions with their counts.
program='d = {}
for i in range(1000): d[str(i)] = i
import json; print(len(json.dumps(d)), sorted(d)[:3])
try: d[None]
except KeyError as error: print(repr(error))'
expect_eq "$(/usr/bin/python3 -c "$program")" "$(penna record -q -k calls -F 'PyDict_*' -F 'PyList_*' -F 'PyErr_*' -o py.penna -- /usr/bin/python3 -c "$program")" "what python3 prints"
run penna report calls py.penna -n 0
expect_match "$out" 'PyDict_SetItem .*\[python3'
expect_match "$out" 'PyErr_SetObject .*\[python3'
run penna report health py.penna -n 0
expect_match "$out" '^stray exits +0 '

# Functions that the hooks themselves need, and those that return twice, are refused.
run "$PENNA" record -k calls -F pthread_getspecific -F _setjmp -F vfork -o none.penna -- /bin/true
expect_eq 0 "$status" "status of true"
expect_contains "$err" "are not recorded: it"
