// SPDX-License-Identifier: MIT
// The library loaded and unloaded by libraries.c: calls, allocations, locks and a point.
#include <pthread.h>
#include <stdlib.h>

#include "penna/point.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) int sum(int n) {
  PENNA_EVENT(library, sum, n);
  int* volatile rest = malloc(sizeof(int));
  pthread_mutex_lock(&mutex);
  *rest = n > 0 ? n : 0;
  pthread_mutex_unlock(&mutex);
  int (*volatile again)(int) = sum;  // each is a separate call
  const int all = n > 0 ? *rest + again(n - 1) : 0;
  free(rest);
  return all;
}
