/* SPDX-License-Identifier: MIT
 * A program that runs while tools come and go. For each line of its input, a number: passes its points so many times, then
 * says "SEMAPHORE EVALUATED": whether anybody listens to `counted`, and how often the argument of `lazy` was evaluated.
 *   -DPROVIDER=p   the provider of all points */
#include <stdio.h>

#include "penna/point.h"

PENNA_SDT_DECLARE_SEMAPHORE(PROVIDER, counted);

static long evaluated;
static long evaluate(long i) {
  evaluated++;
  return i;
}

__attribute__((noinline)) static void pass_points(long i) {
  PENNA_EVENT(PROVIDER, first);
  PENNA_EVENT(PROVIDER, hit, i);
  PENNA_EVENT_LAZY(PROVIDER, lazy, evaluate(i));
  if (PENNA_SDT_IS_ENABLED(PROVIDER, counted)) PENNA_SDT_WITH_SEMAPHORE(PROVIDER, counted, i);
  PENNA_EVENT(PROVIDER, second);
  PENNA_EVENT(PROVIDER, third);
}

int main(void) {
  for (long times; scanf("%ld", &times) == 1;) {
    for (long i = 0; i < times; i++) pass_points(i);
    printf("%d %ld\n", PENNA_SDT_IS_ENABLED(PROVIDER, counted), evaluated);
    fflush(stdout);
  }
  return 0;
}
