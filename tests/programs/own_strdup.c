// SPDX-License-Identifier: MIT
// A program with an allocator of its own, of which strdup, strndup and functions of arenas are a part, as in firefox: none of them calls
// its malloc. 100 blocks of each, freed by free; 10 are left of strdup, of 6 bytes.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static char* room;
static size_t used;
__attribute__((always_inline)) static inline void* take(size_t bytes) {
  if (room == NULL) room = mmap(NULL, 1 << 26, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const size_t needed = 16 + ((bytes + 15) & ~(size_t)15);
  char* block = room + used + 16;
  *(size_t*)(block - 16) = bytes;
  used += needed;
  return block;
}
__attribute__((noipa)) void* malloc(size_t bytes) { return take(bytes); }
__attribute__((noipa)) void free(void* block) {
  if (block != NULL) memset(block, 0xee, *(size_t*)((char*)block - 16));
}
__attribute__((noipa)) void* calloc(size_t count, size_t size) { return take(count * size); }
__attribute__((noipa)) void* realloc(void* old, size_t bytes) {
  void* block = take(bytes);
  if (old != NULL) memcpy(block, old, *(size_t*)((char*)old - 16) < bytes ? *(size_t*)((char*)old - 16) : bytes);
  return block;
}
__attribute__((noipa)) char* strdup(const char* text) {
  const size_t bytes = strlen(text) + 1;
  return memcpy(take(bytes), text, bytes);
}
__attribute__((noipa)) char* strndup(const char* text, size_t most) {
  const size_t length = strnlen(text, most);
  char* copy = memcpy(take(length + 1), text, length);
  copy[length] = 0;
  return copy;
}
__attribute__((noipa)) void* moz_arena_malloc(int arena, size_t bytes) { return take(bytes + (size_t)arena); }
__attribute__((noipa)) void* moz_arena_calloc(int arena, size_t count, size_t size) {
  return take(count * size + (size_t)arena);
}
__attribute__((noipa)) void* moz_arena_realloc(int arena, void* old, size_t bytes) {
  void* block = take(bytes + (size_t)arena);
  if (old != NULL) memcpy(block, old, *(size_t*)((char*)old - 16));
  return block;
}
__attribute__((noipa)) void moz_arena_free(int arena, void* block) {
  if (block != NULL) memset(block, 0xdd + arena, *(size_t*)((char*)block - 16));
}
__attribute__((noipa)) void* moz_arena_memalign(int arena, size_t alignment, size_t size) {
  used = ((used + alignment - 1) & ~(alignment - 1)) + alignment - 16;
  return take(size + (size_t)arena);
}

__attribute__((noipa)) static int use(void) {
  for (int i = 0; i < 100; ++i) {
    char* a = strdup("hello");
    char* b = strndup("hello", 2);
    if (strcmp(a, "hello") != 0 || strcmp(b, "he") != 0) return 1;
    void* c = moz_arena_malloc(0, 100);
    c = moz_arena_realloc(0, c, 200);
    void* d = moz_arena_calloc(0, 3, 10);
    void* e = moz_arena_memalign(0, 64, 640);
    if (i >= 10) free(a);
    free(b);
    free(c);
    free(d);
    moz_arena_free(0, e);
  }
  return 0;
}
int main(void) { return use(); }
