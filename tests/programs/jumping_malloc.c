// SPDX-License-Identifier: MIT
// An allocator of the program's own, of which aligned_alloc is one short jump to memalign. Two blocks are never freed, one of them by way of
// that jump.
#include <stddef.h>
#include <stdio.h>
#include <string.h>
static _Alignas(64) char heap[8 << 20];
static size_t used;
#define APART __attribute__((noipa))
APART void* memalign(size_t alignment, size_t size) {
  used = (used + alignment - 1) & ~(alignment - 1);
  void* block = heap + used;
  used += (size + 15) & ~(size_t)15;
  return block;
}
APART void* malloc(size_t size) { return memalign(16, size); }
APART void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
APART void free(void* block) {
  if (block) *(volatile char*)block = 0;
}
APART void* calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
APART void* realloc(void* block, size_t size) {
  void* moved = malloc(size);
  if (block) memcpy(moved, block, size), free(block);
  return moved;
}
int main(void) {
  char *a = malloc(1234), *b = aligned_alloc(64, 2345);
  free(aligned_alloc(64, 640));
  return printf("%d\n", a != 0 && b != 0) < 0;
}
