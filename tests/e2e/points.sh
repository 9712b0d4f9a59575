#!/bin/bash
# SPDX-License-Identifier: MIT
# Points of every kind from the macro to the report: structs, arrays, names, truncated strings, lazy ones, spans, in C++
# and in C, among functions in the replay.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.cc <<'PROGRAM'
#include <stdexcept>
#include <string>
#include "penna/point.h"
struct Order { int id; std::string who; double price; };
PENNA_STRUCT(Order, id, who, price);
static void step(int i) {
  PENNA_SPAN(app, step, i);
  if (i == 2) throw std::runtime_error("two");
  PENNA_EVENT(app, stepped, PENNA_ARG(twice, 2 * i));
}
int main(int argc, char**) {
  PENNA_SPAN(app, main);
  Order order{7, std::string(300, 'x'), 1.5};
  int numbers[] = {1, -2, 3};
  PENNA_EVENT(app, order, order, numbers);
  try {
    for (int i = 0; i < 4; ++i) step(i);
  } catch (std::exception& e) {
    PENNA_EVENT_LAZY(app, failed, PENNA_ARG(why, e.what()));
  }
  return argc - 1;
}
PROGRAM
build_c app -finstrument-functions -finstrument-functions-exclude-file-list=/usr
penna record -q -k calls -k points -o app.penna -- ./app

# The tree, without times and thread: spans left by the exception are closed at that place.
tree() { penna replay "$1" | sed -n '/EVENT/,$p' | tail -n +2 | cut -c39- | sed 's/x\{255\}/255x/'; }
expect_eq 'main() {
  span app:main {
    point app:order order.id=7 order.who="255x"... order.price=1.5 numbers=[1, -2, 3]
    step(int) {
      span app:step i=0 {
        point app:stepped twice=0
      } /* app:step */
    } /* step(int) */
    step(int) {
      span app:step i=1 {
        point app:stepped twice=2
      } /* app:step */
    } /* step(int) */
    step(int) {
      span app:step i=2 {
      } /* app:step */
    } /* step(int) */
    point app:failed why="two"
    Order::~Order();
  } /* app:main */
} /* main */' "$(tree app.penna | grep -v 'thread is named')" "the replay"

run penna report app.penna points
expect_match "$out" '^5 points passed 8 times, 4 spans ended$'
expect_match "$out" '^ +3 .* app:step +app.cc:7$'
expect_match "$out" '^ +took .* on average, .* at most, .* together$'
expect_match "$out" '^ +i: 0 .. 2, average 1, sum 3$'
expect_match "$out" '^ +order.id: 7$'
expect_match "$out" '^ +order.who: "x{255}" 1, cut 1$'
expect_match "$out" '^ +numbers: \[1, -2, 3\] 1$'
expect_match "$out" '^ +why: "two" 1$'
run penna list ./app
expect_match "$out" '^app:order +event +order.id int, order.who string, order.price float, numbers array +1 '

# In C: the span's end is called by the compiler; longjmp leaves one open, which ends with the enclosing one.
cat >jump.c <<'PROGRAM'
#include <setjmp.h>
#include "penna/point.h"
static jmp_buf back;
__attribute__((noinline)) static void inner(int n) {
  PENNA_SPAN(jump, inner, n);
  if (n == 1) longjmp(back, 1);
}
int main(void) {
  PENNA_SPAN(jump, outer, PENNA_ARG(what, "C"));
  if (setjmp(back) == 0) inner(1);
  inner(2);
  return 0;
}
PROGRAM
for optimisation in -O0 -O2; do
  rm -f jump.penna
  build_c jump $optimisation
  penna record -q -k points -o jump.penna -- ./jump
  expect_eq 'span jump:outer what="C" {
  span jump:inner n=1 {
    span jump:inner n=2 {
    } /* jump:inner */
  } /* jump:inner, ended by its enclosing call */
} /* jump:outer */' "$(tree jump.penna | grep -v -e 'thread is named' -e "exit\.$")" "the replay of longjmp, $optimisation"
done
