/* SPDX-License-Identifier: MIT
 * Everything that the headers offer, once: what off.py builds where points are not supported. Says what was evaluated. */
#include <stdio.h>

#include "penna/folly.h"
#include "penna/trigger.h"

FOLLY_SDT_DECLARE_SEMAPHORE(off, declared);
PENNA_SDT_DEFINE_SEMAPHORE(off, defined);
#ifdef __cplusplus
struct Pair {
  int first, second;
};
PENNA_STRUCT(Pair, first, second);
#endif

static int called;
static void callback(int value, const char* text) { called += value + (text != 0); }
static int count_status(const penna_point_status* point, void* data) {
  (void)point;
  return ++*(int*)data;
}

static int all_of_them(int value) {
  int lazy = 0, triggered = 0, event = 0, span = 0, sdt = 0, listed = 0;
  double numbers[3] = {1, 2, 3};
  {
    PENNA_SPAN(off, span, ++span, "text");
    PENNA_EVENT(off, event, ++event, PENNA_ARG(named, value), numbers, 1.5f, "text");
    PENNA_EVENT(off, nothing);
    PENNA_EVENT_LAZY(off, lazy, ++lazy, PENNA_ARG(named, value));
    PENNA_SDT(off, sdt, ++sdt, numbers);
    if (PENNA_SDT_IS_ENABLED(off, defined)) PENNA_SDT_WITH_SEMAPHORE(off, defined, ++sdt);
    if (FOLLY_SDT_IS_ENABLED(off, declared)) FOLLY_SDT_WITH_SEMAPHORE(off, declared, ++sdt);
#ifdef __cplusplus
    Pair pair{1, 2};
    PENNA_EVENT(off, pair, pair);
#endif
  }
  if (value)
    PENNA_TRIGGER(off, trigger, callback, ++triggered, "text");
  else
    PENNA_TRIGGER_ID(25, callback, ++triggered, "text");
  printf("event %d span %d sdt %d lazy %d trigger %d called %d\n", event, span, sdt, lazy, triggered, called);
  printf("enabled %d %d on %d", penna_enable("*"), penna_enable_id(25), penna_is_enabled("*"));
  printf(" listed %d %d disabled %d\n", penna_list("*", count_status, &listed), listed, penna_disable_all());
  printf("have %d semaphores %d\n", PENNA_HAVE_SDT,
         FOLLY_SDT_IS_ENABLED(off, declared) + PENNA_SDT_IS_ENABLED(off, defined));
  return 0;
}

int main(int argc, char** argv) {
  (void)argv;
  return all_of_them(argc);
}
