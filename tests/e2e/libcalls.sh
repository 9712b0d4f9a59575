#!/bin/bash
# SPDX-License-Identifier: MIT
# record --libcalls: calls from one module into another, however they are bound, of programs that nobody has prepared.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >shop.c <<'PROGRAM'
int price(int n) { return n * 2; }
int pay(int n) { return n + 1; }
int total(int n) { return pay(n) + pay(n); }
double mean(double a, double b, double c, double d, double e, double f, double g, double h, double i, double j) {
  return (a + b + c + d + e + f + g + h + i + j) / 10;
}
PROGRAM
cat >app.c <<'PROGRAM'
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
int price(int), pay(int), total(int);
double mean(double, double, double, double, double, double, double, double, double, double);
static int (*volatile by_pointer)(int) = price;
int main(int argc, char** argv) {
  jmp_buf back;
  int sum = 0;
  if (setjmp(back) != 0) return 9;
  for (int i = 0; i < 5; ++i) sum += price(i);
  for (int i = 0; i < 3; ++i) sum += total(i);
  sum += by_pointer(1);
  printf("%d %d %.1f %d %zu\n", sum, by_pointer == price, mean(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), argc, strlen(argv[0]) > 0);
  return 3;
}
PROGRAM
for shop in '' '-fno-plt'; do
  gcc -O1 -fPIC -shared $shop shop.c -o libshop.so
  for way in '-Wl,-z,lazy' '-Wl,-z,now' '-fno-plt' '-fno-pie -no-pie' '-Wl,-z,now -Wl,-z,norelro' '-static-pie -Wl,-Bdynamic'; do
    case $way in -static-pie*) way='-s' ;; esac  # and one that is stripped
    gcc -O1 $way app.c -o app -L. -lshop -Wl,-rpath,"$PWD"
    run ./app
    plain=$out
    run "$PENNA" record -q -k calls --libcalls -o app.penna -f -- ./app
    expect_eq 3 "$status" "exit status ($way)"
    expect_eq "$plain" "$out" "output ($way)"
    penna report calls app.penna --format csv >calls.csv
    penna report health app.penna >health.txt
    /usr/bin/python3 - "$way $shop" <<'PYTHON' || fail "calls of a program built with $way $shop"
import csv, sys
calls = {row['function']: int(row['calls']) for row in csv.DictReader(open('calls.csv'))}
# by_pointer is the function itself, or in a program at a fixed address its entry of the linkage table.
health = open('health.txt').read()
seen = calls.get('price') in (5, 6) or 'calls of price [app] are not recorded: it is called through a pointer' in health
assert seen and calls['total'] == 3 and calls['mean'] == 1, (sys.argv, calls)
assert calls['pay'] == 6, (sys.argv, calls)  # from one function of the library to another: by its linkage table
assert calls['printf'] == 1 or calls.get('__printf_chk') == 1, (sys.argv, calls)
assert not {'setjmp', '_setjmp', '__libc_start_main'} & calls.keys(), calls
PYTHON
  done
done

# Debian's own: the same output, and what they call is there.
ls -l /etc >plain.txt
penna record -q -k calls --libcalls -o ls.penna -- ls -l /etc >traced.txt
cmp plain.txt traced.txt || fail "ls prints something else"
run penna report calls ls.penna -n 0
expect_match "$out" ' readdir .*\[libc.so.6\]'
expect_match "$out" ' lgetfilecon .*\[libselinux.so.1\]'
query='with recursive n(i) as (select 1 union all select i+1 from n where i < 2000) select count(*), sum(i*i % 97) from n;'
expect_eq "$(sqlite3 :memory: "$query")" "$(penna record -q -k calls --libcalls -o s.penna -- sqlite3 :memory: "$query")" "what sqlite3 prints"
run penna report calls s.penna -n 0
expect_match "$out" ' sqlite3_step .*\[libsqlite3'

# Together with -F: only these.
penna record -q -k calls --libcalls -F 'str*' -o str.penna -- ls -l /etc >/dev/null
penna report calls str.penna --format csv | cut -d, -f9 >names.txt || true
run penna report calls str.penna -n 0
expect_match "$out" ' strlen '
expect_missing "$out" ' readdir '
