/* SPDX-License-Identifier: MIT
 * Two functions that call each other 120,000 times deep, on a sufficiently large stack. */
#include "torture.h"

static long ping(long n);
NOINLINE static long pong(long n) { return n == 0 ? 0 : ping(n - 1) + 1; }
NOINLINE static long ping(long n) { return n == 0 ? 0 : pong(n - 1) * 3 % 1000003 + 2; }

static void* body(void* unused) {
  (void)unused;
  return (void*)ping(120000);
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  void* result = NULL;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 20);
  if (pthread_create(&thread, &attributes, body, NULL) != 0) DIE("pthread_create");
  pthread_join(thread, &result);
  printf("%ld\n", (long)result);
}
