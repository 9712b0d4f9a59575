/* SPDX-License-Identifier: MIT
 * What the emitter tells about itself, in a file that outlives it: for each class how many events it has begun and done.
 * Invariant: done <= committed events <= begun, at every instruction. */
#ifndef EMITTER_H
#define EMITTER_H

#include <stdint.h>

enum { EMITTER_MAX_THREADS = 16, EMITTER_BLOCK = 12345 };

struct emitter_thread {
  uint64_t begun __attribute__((aligned(64)));
  uint64_t done;
};

struct emitter_page {
  uint32_t pid;
  uint32_t threads;
  uint64_t function; /* called once an iteration */
  uint64_t lock[EMITTER_MAX_THREADS];
  uint32_t finished;
  struct emitter_thread thread[EMITTER_MAX_THREADS];
};

#endif
