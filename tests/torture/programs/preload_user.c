/* SPDX-License-Identifier: MIT
 * Started with the two builds of preload_layer.c in LD_PRELOAD: prints their effects, and what they saw. */
#include "torture.h"

long __attribute__((weak)) preload_count(void) { return -1; }

int main(void) {
  work(50);
  free(calloc(3, 100));
  free(realloc(malloc(10), 1000));
  long seen = preload_count(); /* before stdio allocates: exact */
  printf("allocations seen %ld\n", seen);
  printf("getppid says %s\n", getppid() == -1 ? "layer" : "kernel");
  printf("LD_PRELOAD %s\n", getenv("LD_PRELOAD") ? "set" : "not set");
  const char* list = getenv("LD_PRELOAD");
  for (; list && *list; list++)
    if (strncmp(list, "preload_", 8) == 0) printf("lists %.9s\n", list);
}
