/* SPDX-License-Identifier: MIT
 * A library that does not know which malloc it gets: bound at the first call, built so that no compiler sees through
 * it. It is the first to allocate, before any other constructor; and it would call a function that does not exist. */
#include <stdlib.h>

__attribute__((weak)) void nobody_has_this(void);
static volatile int never;

__attribute__((constructor)) static void begin(void) {
  void* volatile block = malloc(10);
  if (never) nobody_has_this();
  free(block);
}

__attribute__((visibility("default"))) void* user_take(size_t size) { return malloc(size); }
__attribute__((visibility("default"))) void* user_zeros(size_t size) { return calloc(1, size); }
__attribute__((visibility("default"))) void* user_resize(void* block, size_t size) { return realloc(block, size); }
__attribute__((visibility("default"))) void user_give(void* block) { free(block); }
