/* SPDX-License-Identifier: MIT
 * Two functions that tail-call each other, a million times on one frame; and tail calls through a pointer. */
#include "torture.h"

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

static long even(long n, long sum);
APART static long odd(long n, long sum) { return even(n - 1, sum + 1); }
APART static long even(long n, long sum) { return n == 0 ? sum : odd(n - 1, sum + 2); }
APART static long by_pointer(long (*next)(long, long), long n) { return next(n, 7); }

static void* body(void* unused) {
  long sum = even(1000000, 0);
  for (int i = 0; i < 1000; i++) sum += by_pointer(i % 2 ? odd : even, i);
  printf("%ld %ld\n", sum, work(3));
  return unused;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 20); /* with an exit hook at the end they become ordinary calls */
  if (pthread_create(&thread, &attributes, body, NULL) != 0) DIE("pthread_create");
  pthread_join(thread, NULL);
}
