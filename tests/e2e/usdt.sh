#!/bin/bash
# SPDX-License-Identifier: MIT
# The names of libbpf's usdt.h, used as in its documentation: probes without a semaphore, with one of their own, and
# with one defined by the program; in inline functions, in namespaces, in two files and in a library. With both
# compilers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
include=(-Wall -Wextra -Werror -I"$PENNA_SOURCE/compat" -I"$PENNA_SOURCE/include")
cat >shared.h <<'SOURCE'
#include "usdt.h"
#include <stdio.h>
USDT_DECLARE_SEMA(common);
static inline __attribute__((always_inline)) void both(int x) {
  USDT(test, plain, x);
  USDT_WITH_SEMA(test, own, x, (unsigned char)x);
  USDT_WITH_EXPLICIT_SEMA(common, test, given, x, "text");
}
#define STATE(where) printf(where " own %d common %d\n", USDT_IS_ACTIVE(test, own), USDT_SEMA_IS_ACTIVE(common))
SOURCE
cat >main.c <<'SOURCE'
#include "shared.h"
#include <stdlib.h>
USDT_DEFINE_SEMA(common);
#ifdef __cplusplus
namespace outer {
USDT_DECLARE_SEMA(common);
namespace {
USDT_DEFINE_SEMA(inner);
void in_namespace(long x) {
  USDT_WITH_EXPLICIT_SEMA(inner, test, inner, x);
  if (USDT_IS_ACTIVE(test, own) || USDT_SEMA_IS_ACTIVE(inner)) printf("the namespace's are on\n");
}
}  // namespace
}  // namespace outer
extern "C"
#endif
void other_file(int x);
int main(int argc, char** argv) {
  USDT(test, nothing);
  USDT_WITH_SEMA(test, lonely);
  USDT(test, twelve, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  if (USDT_IS_ACTIVE(test, nowhere)) return 9;
  both(argc);
  other_file(argc);
#ifdef __cplusplus
  outer::in_namespace(1);
#endif
  STATE("before");
  for (int i = 1; i < argc; i++) *(volatile unsigned short*)strtoul(argv[i], 0, 16) = 1;  // as a tool does that has read the note
  STATE("after");
  USDT_SEMA(common).active = 0;
  other_file(argc);
  return 0;
}
SOURCE
cat >other.c <<'SOURCE'
#include "shared.h"
#ifdef SHARED
USDT_DEFINE_SEMA(common);
#endif
#ifdef __cplusplus
extern "C"
#endif
void other_file(int x) {
  both(x);
  both(x + 1);
  STATE("other");
}
SOURCE
# notes FILE: provider:name, the number with a semaphore, and its distinct addresses; sorted.
notes() {
  readelf -n "$1" | awk '/Provider:/ { p = $2 } /Name:/ { n = $2 } /Semaphore:/ { s = $NF } /Arguments:/ { $1 = ""; print p ":" n, s, $0 }' | sort
}
for way in 'gcc -std=gnu11' 'clang -std=c11' 'g++ -std=c++20 -x c++' 'clang++ -std=c++20 -x c++'; do
  for level in -O0 -O2; do
    # shellcheck disable=SC2086
    $way "${include[@]}" $level -fno-pie -no-pie main.c other.c -o program
    notes program >notes.txt
    expect_eq 3 "$(grep -c '^test:plain 0x0* ' notes.txt)" "$way $level: probes without a semaphore"
    own=$(awk '$1 == "test:own" { print $2 }' notes.txt | sort -u) given=$(awk '$1 == "test:given" { print $2 }' notes.txt | sort -u)
    expect_eq "1 1" "$(wc -l <<<"$own") $(wc -l <<<"$given")" "$way $level: one semaphore each"
    [ "$own" != "$given" ] || fail "$way $level: two semaphores share one address"
    expect_match "$(<notes.txt)" '^test:own 0x0*[1-9a-f][0-9a-f]* +-4@[^ ]+ 1@[^ ]+$'
    expect_match "$(<notes.txt)" '^test:given 0x0*[1-9a-f][0-9a-f]* +-4@[^ ]+ 8@[^ ]+$'
    expect_match "$(<notes.txt)" '^test:twelve 0x0* ( -4@[^ ]+){12}$'
    run ./program "$own" "$given"
    expected='other own 0 common 0
before own 0 common 0
after own 1 common 1
other own 1 common 0'
    expect_eq "0 $expected" "$status $out" "built by $way $level"
    # With a library that has semaphores of its own.
    # shellcheck disable=SC2086
    $way "${include[@]}" $level -DSHARED -fPIC -shared other.c -o libother.so
    # shellcheck disable=SC2086
    $way "${include[@]}" $level -fno-pie -no-pie main.c -x none ./libother.so -o program
    notes program >notes.txt
    run ./program "$(awk '$1 == "test:own" { print $2 }' notes.txt | sort -u)" "$(awk '$1 == "test:given" { print $2 }' notes.txt | sort -u)"
    expect_eq "0 ${expected//other own 1/other own 0}" "$status $out" "with a library, by $way $level"
    # shellcheck disable=SC2086
    $way "${include[@]}" $level -DPENNA_DISABLE_POINTS main.c other.c -o program
    run ./program
    expect_eq "0 ${expected//1/0}" "$status $out" "without probes, by $way $level"
  done
done
# penna records them like those of any other header.
gcc "${include[@]}" -O2 main.c other.c -o program
run penna record -q -o usdt.penna -k points -e 'test:*' -- ./program
expect_eq 0 "$status" "status of the recorded program"
hits=$(penna report usdt.penna points --format csv | awk -F, 'NR > 1 { n += $1 } END { print n + 0 }')
((hits > 0)) || fail "no hits of the probes"
