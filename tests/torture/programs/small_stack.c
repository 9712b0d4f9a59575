/* SPDX-License-Identifier: MIT
 * Threads with the smallest stack that pthreads allow, with calls, allocations, locks and points on it. */
#include <limits.h>

#include "torture.h"

NOINLINE static long little(int depth) {
  free(malloc(40));
  PENNA_EVENT(torture, little, depth);
  return depth == 0 ? 1 : little(depth - 1) + 1;
}
static void* body(void* sum) {
  long total = 0;
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&torture_lock);
    total += little(8);
    pthread_mutex_unlock(&torture_lock);
  }
  *(long*)sum = total;
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) != 0) DIE("stack size");
  long sums[8], total = 0;
  for (int round = 0; round < 20; round++) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
      if (pthread_create(&threads[i], &attributes, body, &sums[i]) != 0) DIE("pthread_create");
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL), total += sums[i];
  }
  printf("total %ld\n", total);
}
