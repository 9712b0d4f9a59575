// SPDX-License-Identifier: MIT
// What libraries.c loads and unloads: calls, allocations, locks and a point.
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
  int (*volatile again)(int) = sum;  // each a call of its own
  const int all = n > 0 ? *rest + again(n - 1) : 0;
  free(rest);
  return all;
}
