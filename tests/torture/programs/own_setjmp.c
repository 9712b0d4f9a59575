/* SPDX-License-Identifier: MIT
 * Functions that call setjmp themselves, and later return like others: several buffers open at once, jumps over some of
 * them, repeatedly into one, and out of a thread's functions. */
#include <setjmp.h>

#include "torture.h"

static jmp_buf places[8];

NOINLINE static void jump_to(int place, int value) { longjmp(places[place], value); }

NOINLINE static int nested(int level) {
  volatile int tries = 0;
  const int came = setjmp(places[level]);
  if (came != 0) return came + tries;
  tries = 10;
  return level == 7 ? (jump_to(3, 5), 0) : nested(level + 1) + 1;
}
NOINLINE static int again(int times) {
  volatile int left = times;
  if (setjmp(places[0]) < times) jump_to(0, times - --left);
  return times - left;
}
NOINLINE static int no_jump(int value) { return setjmp(places[1]) + value + (int)work(1); }

static void* in_thread(void* unused) {
  jmp_buf own;
  volatile long sum = 0;
  for (volatile int i = 0; i < 200; i++) {
    if (setjmp(own) == 0) {
      work(2);
      longjmp(own, 1);
    }
    sum += work(1);
  }
  (void)unused;
  return (void*)sum;
}

int main(void) {
  volatile long sum = 0;
  for (volatile int i = 0; i < 300; i++) sum += nested(0) + again(i % 6 + 1) + no_jump(i);
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, &result);
  printf("%ld %ld\n", sum, (long)result);
}
