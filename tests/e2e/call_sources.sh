#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls of programs instrumented in each way that compilers support: exact counts by name, from the symbol table or by
# address if stripped; several ways in one process; libraries opened later; and the output of penna list and health.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >known.c <<'PROGRAM'
#include <stdio.h>
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif
static volatile long sum;
APART long leaf(long n) { return sum += n; }
APART long middle(long n) { long all = 0; for (long i = 0; i < n; i++) all += leaf(i); return all + 1; }
APART static long recursive(long n) {
  const long below = n == 0 ? leaf(1) : recursive(n - 1);
  sum += 1; /* or a compiler makes a loop of it */
  return below + 2;
}
APART static double with_double(double a, long b) { return a * 2 + leaf(b); }
int main(void) {
  long all = 0;
  double real = 0;
  for (int i = 0; i < 10; i++) all += middle(7) + recursive(4);
  for (int i = 0; i < 3; i++) real += with_double(0.5, i);
  printf("%ld %.1f\n", all, real);
}
PROGRAM
counts='leaf 83
main 1
middle 10
recursive 50
with_double 3'

# calls_of RECORDING: "function calls" lines, by name.
calls_of() { penna report calls "$1" --format csv | /usr/bin/python3 -c '
import csv, sys
print("\n".join(sorted(row["function"] + " " + row["calls"] for row in csv.DictReader(sys.stdin))))'; }
# health_of RECORDING COUNTER
health_of() { penna report health "$1" --format csv | awk -F, -v name="$2" '$1 == name { print $2 }'; }
# expect_counts NAME: records ./NAME, whose calls are those of known.c.
expect_counts() {
  run ./"$1"
  local alone=$out
  run penna record -q -k calls -o "$1.penna" -- ./"$1"
  expect_eq "0 $alone" "$status $out" "what $1 does"
  expect_eq "$counts" "$(calls_of "$1.penna")" "calls of $1"
  local counter
  for counter in 'lost calls' 'stray exits' 'unwound calls' 'functions refused'; do
    expect_eq 0 "$(health_of "$1.penna" "$counter")" "$counter of $1"
  done
}

# source NAME OPTION-TOLD PATCHED COMPILER OPTIONS...
source_of_calls() {
  local name=$1 told=$2 patched=$3
  shift 3
  "$@" -O2 known.c -o "$name" || fail "$name does not compile"
  expect_counts "$name"
  run penna list "$name"
  expect_match "$out" "^calls +yes, built with $told\$"
  expect_eq "$patched" "$(health_of "$name.penna" 'functions patched')" "functions patched of $name"
}
source_of_calls hooks -finstrument-functions 0 gcc -finstrument-functions
source_of_calls hooks_clang -finstrument-functions 0 clang -finstrument-functions
source_of_calls pg -pg 0 gcc -pg
source_of_calls pg_clang -pg 0 clang -pg
source_of_calls fentry '-pg -mfentry' 0 gcc -pg -mfentry
source_of_calls nops '-pg -mfentry -mnop-mcount' 5 gcc -pg -mfentry -mnop-mcount -fno-pie -no-pie
source_of_calls nops_listed '-pg -mfentry -mrecord-mcount' 5 gcc -pg -mfentry -mnop-mcount -mrecord-mcount -fno-pie -no-pie
source_of_calls patchable -fpatchable-function-entry 5 gcc -fpatchable-function-entry=5
source_of_calls patchable_behind -fpatchable-function-entry 5 gcc -fpatchable-function-entry=8,3 -fcf-protection
source_of_calls patchable_clang -fpatchable-function-entry 5 clang -fpatchable-function-entry=5
source_of_calls xray -fxray-instrument 5 clang -fxray-instrument -fxray-instruction-threshold=1

# Stripped: the same counts, for functions without names.
for name in pg fentry patchable patchable_clang; do
  strip -o "$name.bare" "$name"
  run penna record -q -k calls -o "$name.bare.penna" -- ./"$name.bare"
  expect_eq "$(awk '{print $2}' <<<"$counts" | sort)" "$(calls_of "$name.bare.penna" | awk '{print $NF}' | sort)" "calls of stripped $name"
done

# Too little room: nothing is patched, and penna list explains why.
gcc -O2 -fpatchable-function-entry=3 known.c -o short
run penna list short
expect_match "$out" '^calls +yes, built with -fpatchable-function-entry; not of 5 functions whose nops have no room'
run penna record -q -k calls -o short.penna -- ./short
expect_eq 0 "$(health_of short.penna 'functions patched')" "functions patched with three bytes"
run penna report calls short.penna
expect_contains "$out" "No calls were recorded: 'penna record --all-functions ./short' records those of any program."

# A program whose objects and libraries were built in different ways has one tree.
cat >mixed.c <<'PROGRAM'
long by_pg(long n);
long by_fentry(long n);
long by_nops(long n);
long by_hooks(long n);
__attribute__((noinline)) long in_main(long n) { return by_pg(n) + 1; }
__attribute__((noinline)) long last(long n) { return n * 2; }
int main(void) { return in_main(1) + by_hooks(2) == 0; }
PROGRAM
part() { printf 'long %s(long n);\n__attribute__((noinline)) long %s(long n) { return %s(n) + 1; }\n' "$2" "$1" "$2" >"$1.c"; }
part by_pg by_fentry
part by_fentry by_nops
part by_nops by_hooks
part by_hooks last
gcc -O2 -pg -c by_pg.c
gcc -O2 -pg -mfentry -fPIC -shared by_fentry.c -o libby_fentry.so
gcc -O2 -fpatchable-function-entry=5 -fPIC -shared by_nops.c -o libby_nops.so
gcc -O2 -finstrument-functions -c by_hooks.c
clang -O2 -fxray-instrument -fxray-instruction-threshold=1 -c mixed.c
clang -fxray-instrument -rdynamic mixed.o by_pg.o by_hooks.o -L. -lby_fentry -lby_nops -Wl,-rpath,"$PWD" -o mixed
penna record -q -k calls -o mixed.penna -- ./mixed
run penna replay --tree mixed.penna
expect_eq 'main
|   in_main
|   |   by_pg
|   |   |   by_fentry
|   |   |   |   by_nops
|   |   |   |   |   by_hooks
|   |   |   |   |   |   last
|   by_hooks
|   |   last' "$out" "the tree of a mixed program"

# Libraries opened while the program runs, named in various ways.
cat >plugin.c <<'PROGRAM'
__attribute__((noinline)) long plugin_leaf(long n) { return n + 1; }
long plugin_call(long n) { long sum = 0; for (long i = 0; i < n; i++) sum += plugin_leaf(i) * 3; return sum; }
PROGRAM
cat >host.c <<'PROGRAM'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], argc > 2 ? RTLD_LAZY : RTLD_NOW);
  if (library == NULL) return puts(dlerror()), 1;
  printf("%ld\n", ((long (*)(long))dlsym(library, "plugin_call"))(12));
}
PROGRAM
gcc -O2 host.c -o host
mkdir libraries
for way in -pg '-pg -mfentry' -fpatchable-function-entry=5 -finstrument-functions; do
  # shellcheck disable=SC2086
  gcc -O2 $way -fPIC -shared plugin.c -o libraries/libplugin.so
  for name in "$PWD/libraries/libplugin.so" ./libraries/libplugin.so libplugin.so libplugin.so:relative; do
    folder=$PWD/libraries
    [ "${name#*:}" != relative ] || folder=libraries name=libplugin.so
    run env LD_LIBRARY_PATH="$folder" "$PENNA" record -q -f -k calls -o opened.penna -- ./host "$name"
    expect_eq "0 234" "$status $out" "host with $name"
    expect_eq 'plugin_call 1
plugin_leaf 12' "$(calls_of opened.penna)" "calls of $name, built with $way"
  done
done
