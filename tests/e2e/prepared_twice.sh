#!/bin/bash
# SPDX-License-Identifier: MIT
# A function prepared by the compiler in two ways, or seen by --libcalls and having a hook of its own: each call is
# recorded once, with the calls inside it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >twice.c <<'C'
#include <stdio.h>
#define KEEP __attribute__((noipa))
KEEP int leaf(int n) { return n + 1; }
KEEP int ends_in_a_jump(int n) { return leaf(n); }
KEEP int recurses(int n) { return n == 0 ? 0 : leaf(recurses(n - 1)); }
KEEP double ten(double a, double b, int c, int d, int e, int f, int g, int h, int i, int j) { return a * b + c + d + e + f + g + h + i + j; }
int main(void) {
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += ends_in_a_jump(i) + recurses(3);
  printf("%d %.1f\n", sum, ten(1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  return 3;
}
C
want='1 main
1 ten
20 leaf
20 recurses
5 ends_in_a_jump'
rows() { penna report calls "$1" --format csv | cut -d, -f1,12 | tr -d '"' | tr ',' ' ' | grep -E ' (leaf|recurses|main|ten|ends_in_a_jump)$' | sort; }
for ways in '-pg -fpatchable-function-entry=5' '-pg -mfentry -fpatchable-function-entry=8' \
            '-finstrument-functions -fpatchable-function-entry=8,2' '-finstrument-functions -fpatchable-function-entry=6 -fcf-protection' \
            '-finstrument-functions -pg' '-pg -finstrument-functions -fpatchable-function-entry=5'; do
  for level in -O0 -O2; do
    # shellcheck disable=SC2086
    gcc $level -g $ways twice.c -o twice || fail "twice.c does not compile with $ways"
    run ./twice
    plain=$out
    run "$PENNA" record -q -k calls -o twice.penna -f -- ./twice
    expect_eq "3 $plain" "$status $out" "status and output ($ways $level)"
    expect_eq "$want" "$(rows twice.penna)" "calls ($ways $level)"
    expect_missing "$(penna report health twice.penna)" 'without a matching entry'
    expect_match "$(penna export folded twice.penna)" '^main;recurses;recurses;leaf '
  done
done

cat >shop.c <<'C'
__attribute__((noipa)) int pay(int n) { return n + 1; }
int price(int n) { return pay(n) * 2; }
C
cat >app.c <<'C'
int price(int), pay(int);
int main(void) {
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += price(i) + pay(i);
  return sum != 45;
}
C
for ways in -finstrument-functions -pg '-pg -mfentry' -fpatchable-function-entry=8 '-finstrument-functions -fpatchable-function-entry=8'; do
  # shellcheck disable=SC2086
  gcc -O1 -g -fPIC -shared $ways shop.c -o libshop.so && gcc -O1 -g app.c -o app -L. -lshop -Wl,-rpath,"$PWD"
  run "$PENNA" record -q -k calls --libcalls -o app.penna -f -- ./app
  expect_eq 0 "$status" "status ($ways)"
  expect_eq '10 pay
5 price' "$(penna report calls app.penna --format csv | cut -d, -f1,12 | tr -d '"' | tr ',' ' ' | grep -E ' (pay|price)$' | sort)" "calls of the library ($ways)"
  expect_match "$(penna export folded app.penna)" '^price;pay '
  expect_missing "$(penna report health app.penna)" 'without a matching entry'
done
