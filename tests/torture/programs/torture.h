/* SPDX-License-Identifier: MIT
 * Shared by the torture programs: something of every kind to record. Programs print only what is the same in each run. */
#ifndef TORTURE_H
#define TORTURE_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WITHOUT_POINTS /* the code model does not support them */
#define PENNA_EVENT(provider, name, depth) ((void)(depth))
#else
#include "penna/point.h"
#endif

#define NOINLINE __attribute__((noinline))

static pthread_mutex_t torture_lock = PTHREAD_MUTEX_INITIALIZER;

/* `depth` calls, each with an allocation, a lock and a point inside. */
__attribute__((unused)) NOINLINE static long work(int depth) {
  char* block = (char*)malloc((size_t)depth + 1);
  if (block == NULL) return -1;
  block[depth] = (char)depth;
  pthread_mutex_lock(&torture_lock);
  PENNA_EVENT(torture, work, depth);
  pthread_mutex_unlock(&torture_lock);
  long sum = block[depth] + (depth > 0 ? work(depth - 1) : 0);
  free(block);
  return sum;
}

#define DIE(text) (perror(text), exit(99))

#endif
