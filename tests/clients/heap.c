/* SPDX-License-Identifier: MIT
 *
 * Allocations of every kind that formats of heap profilers must tell apart: heap THREADS. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept;
static int alone;
static inline __attribute__((always_inline)) void* inlined(size_t size) { return malloc(size); }
__attribute__((noipa)) static void* deep(int levels, size_t size) {
  void* block = levels == 0 ? inlined(size) : deep(levels - 1, size);
  __asm__ volatile("" ::: "memory"); /* no tail call */
  return block;
}
/* Each is freed at once; no stack and size is that of another. */
__attribute__((noipa)) static void temporary(int count) {
  for (int i = 0; i < count; i++) {
    kept = malloc(40);
    free(kept);
  }
}
/* A block is freed directly behind the allocation of another of the same stack and size: temporary it is not. */
__attribute__((noipa)) static void* take_50(void) { return malloc(50); }
__attribute__((noipa)) static void in_turn(int count) {
  void* before = take_50();
  for (int i = 0; i < count; i++) {
    void* next = take_50();
    free(before);
    before = next;
  }
  free(before);
}
/* Another is freed in between: temporary all the same. */
__attribute__((noipa)) static void crossed(int count) {
  for (int i = 0; i < count; i++) {
    void* volatile first = malloc(60);
    void* volatile second = malloc(70);
    free(first);
    free(second);
  }
}
__attribute__((noipa)) static void grow(int fails) {
  char* block = malloc(1000);
  for (size_t size = 2000; size <= 300000; size *= 2) block = realloc(block, size);
  void* volatile failed = fails ? realloc(block, PTRDIFF_MAX) : NULL;
  if (failed == NULL) free(block);
}
__attribute__((noipa)) static void leak(void) { kept = calloc(3, 111); }
__attribute__((noipa)) static void* aligned(void) { return aligned_alloc(64, 640); }

static void* work(void* rounds) {
  void* blocks[100];
  for (int round = 0; round < (int)(intptr_t)rounds; round++) {
    for (int i = 0; i < 100; i++) blocks[i] = deep(i % 5, 16u + 8u * (unsigned)(i % 9));
    for (int i = 0; i < 100; i++) free(blocks[(i * 7) % 100]);
    temporary(10);
    in_turn(10);
    crossed(10);
    grow(alone);
    leak();
    free(aligned());
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  alone = threads == 1;
  void* inherited = deep(2, 5000);
  if (argc > 2 && fork() == 0) {
    free(inherited);
    kept = deep(3, 77777);
    _exit(0);
  }
  wait(NULL);
  pthread_t more[64];
  for (int i = 1; i < threads; i++) pthread_create(&more[i], NULL, work, (void*)(intptr_t)20);
  work((void*)(intptr_t)20);
  for (int i = 1; i < threads; i++) pthread_join(more[i], NULL);
  free(inherited);
  return 0;
}
