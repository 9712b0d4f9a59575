/* SPDX-License-Identifier: MIT
 * Points with every type of argument, in leaf functions that use the red zone, in four threads. */
#include "torture.h"

enum colour { RED, BLUE };

NOINLINE static long leaf(long a, long b) {
  volatile long red_zone[14]; /* below the stack pointer: a point must not touch it */
  for (int i = 0; i < 14; i++) red_zone[i] = a + i;
  PENNA_EVENT(torture, leaf, a, b);
  long sum = 0;
  for (int i = 0; i < 14; i++) sum += red_zone[i];
  return sum;
}
NOINLINE static double floats(double x, float y) {
  double kept = x * y;
  PENNA_EVENT(torture, floats, x, y, kept);
  return kept + x;
}
static void* body(void* number) {
  long wrong = 0;
  char text[300];
  memset(text, 'a', 299);
  text[299] = 0;
  for (long i = 0; i < 5000; i++) {
    wrong += leaf(i, -i) != 14 * i + 91;
    wrong += floats((double)i, 0.5F) != 1.5 * (double)i;
    PENNA_EVENT(torture, many, (char)'c', (short)-3, (unsigned char)200, (enum colour)BLUE, i, (unsigned long)i, text,
                &wrong);
    PENNA_EVENT(torture, nothing);
  }
  *(long*)number = wrong;
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  long wrong[4], total = 0;
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, body, &wrong[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL), total += wrong[i];
  printf("wrong %ld\n", total);
}
