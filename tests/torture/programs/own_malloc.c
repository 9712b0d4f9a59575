/* SPDX-License-Identifier: MIT
 * Has its own allocator in the executable: a bump allocator that checks that it only gets its own blocks back. */
#include "torture.h"

static _Alignas(64) char heap[64 << 20];
static size_t used;
static long foreign, taken, given;

void* memalign(size_t align, size_t size) {
  size_t header = align < 16 ? 16 : align, start, end;
  size_t seen = __atomic_load_n(&used, __ATOMIC_RELAXED);
  do {
    start = (seen + header + align - 1) / align * align;
    end = (start + size + 15) / 16 * 16;
    if (end > sizeof heap) return errno = ENOMEM, NULL;
  } while (!__atomic_compare_exchange_n(&used, &seen, end, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  memcpy(heap + start - 8, &size, 8);
  __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
  return heap + start;
}
void* malloc(size_t size) { return memalign(16, size); }
void* aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void** block, size_t align, size_t size) { return (*block = memalign(align, size)) ? 0 : ENOMEM; }
void* calloc(size_t count, size_t size) { return memalign(16, count * size); } /* never reused: zero */
void free(void* block) {
  if (block == NULL) return;
  __atomic_add_fetch((char*)block < heap || (char*)block >= heap + sizeof heap ? &foreign : &given, 1,
                     __ATOMIC_RELAXED);
}
void* realloc(void* block, size_t size) {
  void* fresh = malloc(size);
  size_t old = 0;
  if (block) memcpy(&old, (char*)block - 8, 8);
  if (fresh && block) memcpy(fresh, block, old < size ? old : size);
  free(block);
  return fresh;
}

static void* body(void* unused) {
  for (int i = 0; i < 200; i++) work(30);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, body, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  char* text = realloc(strdup("kept"), 1000);
  long before = taken;
  free(malloc(10));
  printf("%s, foreign blocks %ld, one more %ld, all from here %d\n", text, foreign, taken - before, taken > 24000);
}
