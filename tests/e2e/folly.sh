#!/bin/bash
# SPDX-License-Identifier: MIT
# folly's own interface to its static tracepoints: the include path, macros used without a semicolon, the note contents
# that its tests check, and semaphores of another module. With both compilers, as a library beside the program and
# linked into it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
include=(-std=c++17 -Wall -Wextra -Wpedantic -Werror -I"$PENNA_SOURCE/compat" -I"$PENNA_SOURCE/include")
cat >module.cc <<'SOURCE'
#include <folly/tracing/StaticTracepoint.h>
FOLLY_SDT_DEFINE_SEMAPHORE(folly, elsewhere)

unsigned square(unsigned v) {
  unsigned res = v * v;
  FOLLY_SDT_WITH_SEMAPHORE(folly, elsewhere, v, res);
  return res;
}
bool module_sees() { return FOLLY_SDT_IS_ENABLED(folly, elsewhere); }
volatile unsigned short* noted() { return &FOLLY_SDT_SEMAPHORE(folly, elsewhere); }
SOURCE
cat >program.cc <<'SOURCE'
#include <folly/tracing/StaticTracepoint.h>
#include <cstdio>
#include <string>
static const std::string kName = FOLLY_SDT_NOTE_NAME;
static const int kType = FOLLY_SDT_NOTE_TYPE;
unsigned square(unsigned v);
bool module_sees();
volatile unsigned short* noted();
FOLLY_SDT_DEFINE_SEMAPHORE(folly, here)
FOLLY_SDT_DECLARE_SEMAPHORE(folly, elsewhere);
FOLLY_SDT_DECLARE_SEMAPHORE(folly, nowhere);

int main(int argc, char**) {
  FOLLY_SDT_WITH_SEMAPHORE(folly, here, argc, 1L);
  std::printf("%s %d %u %d%d%d%d", kName.c_str(), kType, square(3), FOLLY_SDT_IS_ENABLED(folly, here),
              FOLLY_SDT_IS_ENABLED(folly, elsewhere), FOLLY_SDT_IS_ENABLED(folly, nowhere), module_sees());
  *noted() = 1;  // as a tool does that has read the note
  std::printf(" %d%d%d%d\n", FOLLY_SDT_IS_ENABLED(folly, here), FOLLY_SDT_IS_ENABLED(folly, elsewhere),
              FOLLY_SDT_IS_ENABLED(folly, nowhere), module_sees());
}
SOURCE
for compiler in g++ clang++; do
  "$compiler" "${include[@]}" -O2 -fPIC -shared module.cc -o libmodule.so
  for way in '-O0 -fno-pie -no-pie' '-O2 -fno-pie -no-pie' '-O2 -fPIE -pie'; do
    for other in ./libmodule.so module.cc; do
      # shellcheck disable=SC2086
      "$compiler" "${include[@]}" $way program.cc "$other" -o program
      run ./program
      expect_eq "0 stapsdt 3 9 0000 0101" "$status $out" "built by $compiler $way with $other"
    done
  done
  # The note names the variable that the library's code reads.
  at=$(nm libmodule.so | sed -n 's/^0*\([0-9a-f]*\) . folly_sdt_semaphore_folly_elsewhere$/\1/p')
  expect_match "$(readelf -n libmodule.so)" "Semaphore: 0x0*$at"
done

# FOLLY_DISABLE_SDT disables the probes unless it is 0.
for option in '' -DFOLLY_DISABLE_SDT=0; do
  # shellcheck disable=SC2086
  g++ "${include[@]}" $option -c module.cc -o module.o
  expect_contains "$(readelf -n module.o)" elsewhere "with '$option'"
done
for option in -DFOLLY_DISABLE_SDT -DFOLLY_DISABLE_SDT=1 -DFOLLY_DISABLE_SDT=; do
  sed 's/&FOLLY_SDT_SEMAPHORE(folly, elsewhere)/nullptr/' module.cc >off.cc
  g++ "${include[@]}" "$option" -c off.cc -o module.o
  expect_missing "$(readelf -n module.o)" elsewhere "with '$option'"
done
