#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Enums among the arguments of points: shown by name if debug information has it, in C and C++, in structs, in spans;
# otherwise, in templates, in lazy C++ points, and if no enumerator matches, as a number. And the source of probes of
# other headers.
. "$(dirname "$0")/common.sh"
need clang systemtap-sdt-dev

cat >prog.cc <<'C'
#include "penna/point.h"
enum class State : unsigned char { kNew = 1, kPaid = 7 };
enum Flags { READ = 1, WRITE = 2 };
enum Low { BELOW = -5, ABOVE = 5 };
enum class Other { kNew = 7, kPaid = 1 };
struct Order { int number; State state; };
PENNA_STRUCT(Order, number, state);
template <class T> static inline void told(T value) { PENNA_EVENT(shop, told, value); }
__attribute__((noinline)) static void pass(State state, Flags flags, Low low, int number) {
  const State& again = state;
  PENNA_EVENT(shop, order, number, state, PENNA_ARG(how, flags), low);
  PENNA_EVENT(shop, other, PENNA_ARG(state, static_cast<Other>(number)), again);
  Order order{number, state};
  PENNA_EVENT(shop, fields, order, low);
  PENNA_EVENT_LAZY(shop, lazy, state);
  PENNA_SPAN(shop, span, low);
  told(state);
  told(flags);
  told(number);
}
int main() {
  pass(State::kPaid, static_cast<Flags>(READ | WRITE), BELOW, 7);
  pass(State::kNew, static_cast<Flags>(8), ABOVE, 1);
}
C
cat >in_c.c <<'C'
#include "penna/point.h"
enum state { NEW = 1, PAID = 7 };
struct order { enum state state; unsigned bits : 3; };
__attribute__((noinline)) static void pass(struct order* order, enum state state) {
  for (int i = 0; i < 2; i++) {
    PENNA_EVENT(shop, order, order->state, state, i, order->bits, NEW);
  }
  PENNA_EVENT_LAZY(shop, lazy, state);
  PENNA_SPAN(shop, span, state);
}
int main(void) { struct order order = {PAID, 7}; pass(&order, NEW); return 0; }
C
points() { penna replay "$1" | grep -oE '(point|span) shop.*' | sed 's/ {$//'; }

for compiler in 'g++ -O0' 'g++ -O2' 'clang++ -O0' 'clang++ -O2'; do
  $compiler -g -std=c++20 -I"$PENNA_SOURCE/include" prog.cc -o prog
  run penna record -q -f -k points -o a.penna ./prog
  expect_eq "point shop:order number=7 state=kPaid how=READ|WRITE low=BELOW
point shop:other state=kNew again=kPaid
point shop:fields order.number=7 order.state=kPaid low=BELOW
point shop:lazy state=7
span shop:span low=BELOW
point shop:told value=7
point shop:told value=3
point shop:told value=7
point shop:order number=1 state=kNew how=8 low=ABOVE
point shop:other state=kPaid again=kNew
point shop:fields order.number=1 order.state=kNew low=ABOVE
point shop:lazy state=1
span shop:span low=ABOVE
point shop:told value=1
point shop:told value=8
point shop:told value=1" "$(points a.penna)" "$compiler"
done
expect_contains "$(penna report a.penna points)" 'state: kNew .. kPaid'
expect_eq '["kPaid", 7]' "$(penna export chrome a.penna | python3 -c '
import json, sys
events = json.load(sys.stdin)
events = events["traceEvents"] if isinstance(events, dict) else events
print(json.dumps([[event["args"]["state"], event["args"]["number"]] for event in events if event["name"] == "shop:order"][0]))')"
strip prog
penna record -q -f -k points -o b.penna ./prog
expect_contains "$(points b.penna)" 'point shop:order number=7 state=7 how=3 low=-5'

for compiler in 'gcc -O0' 'gcc -O2' 'clang -O0' 'clang -O2'; do
  $compiler -g -std=c11 -I"$PENNA_SOURCE/include" in_c.c -o in_c
  run penna record -q -f -k points -o c.penna ./in_c
  expect_eq "point shop:order order->state=PAID state=NEW i=0 order->bits=7 NEW=1
point shop:order order->state=PAID state=NEW i=1 order->bits=7 NEW=1
point shop:lazy state=NEW
span shop:span state=NEW" "$(points c.penna)" "$compiler"
done

cat >foreign.c <<'C'
#include <sys/sdt.h>
__attribute__((noinline)) long work(long n) {
  DTRACE_PROBE1(other, probe, n);
  return n * 3 + 1;
}
int main(void) { return work(5) == 16 ? 0 : 1; }
C
gcc -O2 -g foreign.c -o foreign
penna record -q -f -k points -e 'other:*' -o d.penna ./foreign
expect_match "$(penna report d.penna points)" 'other:probe +(.*/)?foreign.c:3$'
