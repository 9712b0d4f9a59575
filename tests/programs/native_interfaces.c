// SPDX-License-Identifier: MIT
// The native interfaces of an allocator, which the program links or opens (-DOPENED): each function that gives blocks, with sizes of their
// own, and as often a way to give them back. argv[1] says whose: jemalloc, mimalloc, tcmalloc; argv[2] is the library to open.
// Prints what is to be recorded: how many blocks main and its functions got, and the sum of their sizes.
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* library;
static unsigned long blocks, bytes;
static void* volatile kept;

static void* find(const char* name) {
  void* function = dlsym(library, name);
  if (function == NULL) printf("no %s\n", name), exit(9);
  return function;
}
// FIND(name, result, arguments): a pointer called `name` to the function.
#define FIND(name, result, ...) result (*name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))find(#name)

static void* given(void* block, size_t size) {
  if (block == NULL) printf("no block of %zu\n", size), exit(8);
  memset(block, 1, size);
  blocks++;
  bytes += size;
  return kept = block;
}
#define GIVEN(size, ...) given((void*)(__VA_ARGS__), size)

static void use_jemalloc(void) {
  FIND(mallocx, void*, size_t, int);
  FIND(rallocx, void*, void*, size_t, int);
  FIND(xallocx, size_t, void*, size_t, size_t, int);
  FIND(dallocx, void, void*, int);
  FIND(sdallocx, void, void*, size_t, int);
  FIND(free, void, void*);
  FIND(malloc, void*, size_t);
  FIND(aligned_alloc, void*, size_t, size_t);
  dallocx(GIVEN(101, mallocx(101, 0)), 0);
  sdallocx(GIVEN(64, mallocx(64, 6 /* MALLOCX_LG_ALIGN(6) */)), 64, 6);
  free(GIVEN(102, mallocx(102, 0x40 /* MALLOCX_ZERO */)));
  sdallocx(GIVEN(103, malloc(103)), 103, 0);
  dallocx(GIVEN(128, aligned_alloc(64, 128)), 0);
  void* block = GIVEN(104, mallocx(104, 0));
  block = GIVEN(5000, rallocx(block, 5000, 0));
  if (xallocx(block, 1 << 30, 0, 0) >= 1 << 30) exit(7);  // it cannot grow so far: nothing changes
  if (xallocx(block, 4990, 0, 0) >= 4990) blocks++, bytes += 4990;
  dallocx(block, 0);
}

static void use_heap(void* heap) {
  FIND(mi_free, void, void*);
  FIND(mi_heap_malloc, void*, void*, size_t);
  FIND(mi_heap_malloc_small, void*, void*, size_t);
  FIND(mi_heap_zalloc, void*, void*, size_t);
  FIND(mi_heap_calloc, void*, void*, size_t, size_t);
  FIND(mi_heap_mallocn, void*, void*, size_t, size_t);
  FIND(mi_heap_realloc, void*, void*, void*, size_t);
  FIND(mi_heap_reallocn, void*, void*, void*, size_t, size_t);
  FIND(mi_heap_reallocf, void*, void*, void*, size_t);
  FIND(mi_heap_rezalloc, void*, void*, void*, size_t);
  FIND(mi_heap_recalloc, void*, void*, void*, size_t, size_t);
  FIND(mi_heap_strdup, char*, void*, const char*);
  FIND(mi_heap_strndup, char*, void*, const char*, size_t);
  FIND(mi_heap_malloc_aligned, void*, void*, size_t, size_t);
  FIND(mi_heap_malloc_aligned_at, void*, void*, size_t, size_t, size_t);
  FIND(mi_heap_zalloc_aligned, void*, void*, size_t, size_t);
  FIND(mi_heap_calloc_aligned, void*, void*, size_t, size_t, size_t);
  FIND(mi_heap_calloc_aligned_at, void*, void*, size_t, size_t, size_t, size_t);
  FIND(mi_heap_realloc_aligned, void*, void*, void*, size_t, size_t);
  FIND(mi_heap_recalloc_aligned_at, void*, void*, void*, size_t, size_t, size_t, size_t);
  FIND(mi_heap_alloc_new, void*, void*, size_t);
  FIND(mi_heap_alloc_new_n, void*, void*, size_t, size_t);
  mi_free(GIVEN(201, mi_heap_malloc(heap, 201)));
  mi_free(GIVEN(22, mi_heap_malloc_small(heap, 22)));
  mi_free(GIVEN(203, mi_heap_zalloc(heap, 203)));
  mi_free(GIVEN(3 * 68, mi_heap_calloc(heap, 3, 68)));
  mi_free(GIVEN(5 * 41, mi_heap_mallocn(heap, 5, 41)));
  mi_free(GIVEN(4, mi_heap_strdup(heap, "abc")));
  mi_free(GIVEN(3, mi_heap_strndup(heap, "abc", 2)));
  mi_free(GIVEN(206, mi_heap_malloc_aligned(heap, 206, 64)));
  mi_free(GIVEN(207, mi_heap_malloc_aligned_at(heap, 207, 64, 8)));
  mi_free(GIVEN(208, mi_heap_zalloc_aligned(heap, 208, 64)));
  mi_free(GIVEN(2 * 105, mi_heap_calloc_aligned(heap, 2, 105, 64)));
  mi_free(GIVEN(2 * 106, mi_heap_calloc_aligned_at(heap, 2, 106, 64, 8)));
  mi_free(GIVEN(209, mi_heap_alloc_new(heap, 209)));
  mi_free(GIVEN(2 * 107, mi_heap_alloc_new_n(heap, 2, 107)));
  void* block = GIVEN(210, mi_heap_realloc(heap, NULL, 210));
  block = GIVEN(2 * 1000, mi_heap_reallocn(heap, block, 2, 1000));
  block = GIVEN(3000, mi_heap_reallocf(heap, block, 3000));
  block = GIVEN(5000, mi_heap_rezalloc(heap, block, 5000));
  block = GIVEN(7 * 1000, mi_heap_recalloc(heap, block, 7, 1000));
  block = GIVEN(9000, mi_heap_realloc_aligned(heap, block, 9000, 64));
  block = GIVEN(11 * 1000, mi_heap_recalloc_aligned_at(heap, block, 11, 1000, 64, 0));
  if (mi_heap_realloc(heap, block, PTRDIFF_MAX) != NULL) exit(6);  // the block stays
  mi_free(block);
  block = GIVEN(211, mi_heap_malloc(heap, 211));
  if (mi_heap_reallocf(heap, block, PTRDIFF_MAX) != NULL) exit(6);  // it does not
}

static void use_mimalloc(void) {
  FIND(free, void, void*);
  FIND(mi_free, void, void*);
  FIND(mi_cfree, void, void*);
  FIND(mi_free_size, void, void*, size_t);
  FIND(mi_free_size_aligned, void, void*, size_t, size_t);
  FIND(mi_free_aligned, void, void*, size_t);
  FIND(mi_malloc, void*, size_t);
  FIND(mi_malloc_small, void*, size_t);
  FIND(mi_zalloc, void*, size_t);
  FIND(mi_zalloc_small, void*, size_t);
  FIND(mi_calloc, void*, size_t, size_t);
  FIND(mi_mallocn, void*, size_t, size_t);
  FIND(mi_realloc, void*, void*, size_t);
  FIND(mi_reallocn, void*, void*, size_t, size_t);
  FIND(mi_reallocf, void*, void*, size_t);
  FIND(mi_rezalloc, void*, void*, size_t);
  FIND(mi_recalloc, void*, void*, size_t, size_t);
  FIND(mi_expand, void*, void*, size_t);
  FIND(mi_reallocarray, void*, void*, size_t, size_t);
  FIND(mi_reallocarr, int, void*, size_t, size_t);
  FIND(mi_strdup, char*, const char*);
  FIND(mi_strndup, char*, const char*, size_t);
  FIND(mi_mbsdup, unsigned char*, const unsigned char*);
  FIND(mi_wcsdup, unsigned short*, const unsigned short*);
  FIND(mi_realpath, char*, const char*, char*);
  FIND(mi_dupenv_s, int, char**, size_t*, const char*);
  FIND(mi_malloc_aligned, void*, size_t, size_t);
  FIND(mi_malloc_aligned_at, void*, size_t, size_t, size_t);
  FIND(mi_zalloc_aligned, void*, size_t, size_t);
  FIND(mi_calloc_aligned, void*, size_t, size_t, size_t);
  FIND(mi_realloc_aligned, void*, void*, size_t, size_t);
  FIND(mi_recalloc_aligned, void*, void*, size_t, size_t, size_t);
  FIND(mi_aligned_recalloc, void*, void*, size_t, size_t, size_t);
  FIND(mi_memalign, void*, size_t, size_t);
  FIND(mi_aligned_alloc, void*, size_t, size_t);
  FIND(mi_posix_memalign, int, void**, size_t, size_t);
  FIND(mi_valloc, void*, size_t);
  FIND(mi_new, void*, size_t);
  FIND(mi_new_n, void*, size_t, size_t);
  FIND(mi_new_nothrow, void*, size_t);
  FIND(mi_new_aligned, void*, size_t, size_t);
  FIND(mi_new_aligned_nothrow, void*, size_t, size_t);
  FIND(mi_new_realloc, void*, void*, size_t);
  FIND(mi_new_reallocn, void*, void*, size_t, size_t);
  FIND(mi_heap_new, void*, void);
  FIND(mi_heap_get_default, void*, void);
  FIND(mi_heap_delete, void, void*);
  mi_free(GIVEN(301, mi_malloc(301)));
  free(GIVEN(302, mi_malloc(302)));
  mi_cfree(GIVEN(33, mi_malloc_small(33)));
  mi_free_size(GIVEN(304, mi_zalloc(304)), 304);
  mi_free_size(GIVEN(35, mi_zalloc_small(35)), 35);
  mi_free(GIVEN(2 * 151, mi_calloc(2, 151)));
  mi_free(GIVEN(2 * 152, mi_mallocn(2, 152)));
  mi_free(GIVEN(4, mi_strdup("abc")));
  mi_free(GIVEN(3, mi_strndup("abc", 2)));
  mi_free(GIVEN(5, mi_mbsdup((const unsigned char*)"abcd")));
  static const unsigned short wide[] = {1, 2, 0};
  mi_free(GIVEN(6, mi_wcsdup(wide)));
  mi_free(GIVEN(2, mi_realpath("/", NULL)));
  char path[4096], *text = NULL;
  size_t size;
  if (mi_realpath("/", path) != path) exit(5);  // no block of its own
  setenv("PENNA_TEST_WORD", "word", 1);
  if (mi_dupenv_s(&text, &size, "PENNA_TEST_WORD") == 0) mi_free(GIVEN(5, text));
  mi_free_aligned(GIVEN(306, mi_malloc_aligned(306, 128)), 128);
  mi_free_size_aligned(GIVEN(307, mi_zalloc_aligned(307, 128)), 307, 128);
  mi_free(GIVEN(308, mi_malloc_aligned_at(308, 128, 8)));
  mi_free(GIVEN(2 * 153, mi_calloc_aligned(2, 153, 128)));
  mi_free(GIVEN(309, mi_memalign(128, 309)));
  mi_free(GIVEN(384, mi_aligned_alloc(128, 384)));
  void* block = NULL;
  if (mi_posix_memalign(&block, 128, 310) == 0) mi_free(GIVEN(310, block));
  mi_free(GIVEN(311, mi_valloc(311)));
  mi_free(GIVEN(312, mi_new(312)));
  mi_free(GIVEN(2 * 154, mi_new_n(2, 154)));
  mi_free(GIVEN(313, mi_new_nothrow(313)));
  mi_free(GIVEN(314, mi_new_aligned(314, 128)));
  mi_free(GIVEN(315, mi_new_aligned_nothrow(315, 128)));
  block = GIVEN(316, mi_realloc(NULL, 316));
  if (mi_expand(block, 1 << 20) != NULL) exit(4);
  if (mi_expand(block, 315) == block) blocks++, bytes += 315;
  block = GIVEN(2 * 1000, mi_reallocn(block, 2, 1000));
  block = GIVEN(3000, mi_reallocf(block, 3000));
  block = GIVEN(5000, mi_rezalloc(block, 5000));
  block = GIVEN(7 * 1000, mi_recalloc(block, 7, 1000));
  block = GIVEN(9 * 1000, mi_reallocarray(block, 9, 1000));
  if (mi_reallocarr(&block, 11, 1000) == 0) GIVEN(11 * 1000, block);
  block = GIVEN(13000, mi_realloc_aligned(block, 13000, 64));
  block = GIVEN(15 * 1000, mi_recalloc_aligned(block, 15, 1000, 64));
  block = GIVEN(17 * 1000, mi_aligned_recalloc(block, 17, 1000, 64));
  block = GIVEN(19000, mi_new_realloc(block, 19000));
  block = GIVEN(21 * 1000, mi_new_reallocn(block, 21, 1000));
  mi_free(block);
  void* heap = mi_heap_new();
  use_heap(heap);
  mi_heap_delete(heap);
  use_heap(mi_heap_get_default());
}

static void destroy_a_heap(void) {
  FIND(mi_heap_new, void*, void);
  FIND(mi_heap_malloc, void*, void*, size_t);
  FIND(mi_heap_destroy, void, void*);
  void* heap = mi_heap_new();
  GIVEN(1000, mi_heap_malloc(heap, 1000));
  mi_heap_destroy(heap);
}

static void use_tcmalloc(void) {
  FIND(tc_malloc, void*, size_t);
  FIND(tc_malloc_skip_new_handler, void*, size_t);
  FIND(tc_calloc, void*, size_t, size_t);
  FIND(tc_realloc, void*, void*, size_t);
  FIND(tc_memalign, void*, size_t, size_t);
  FIND(tc_posix_memalign, int, void**, size_t, size_t);
  FIND(tc_valloc, void*, size_t);
  FIND(tc_free, void, void*);
  FIND(tc_free_sized, void, void*, size_t);
  FIND(tc_cfree, void, void*);
  FIND(tc_new, void*, size_t);
  FIND(tc_newarray, void*, size_t);
  FIND(tc_new_nothrow, void*, size_t, void*);
  FIND(tc_new_aligned, void*, size_t, size_t);
  FIND(tc_newarray_aligned, void*, size_t, size_t);
  FIND(tc_delete, void, void*);
  FIND(tc_delete_sized, void, void*, size_t);
  FIND(tc_deletearray, void, void*);
  FIND(tc_delete_nothrow, void, void*, void*);
  FIND(tc_delete_aligned, void, void*, size_t);
  FIND(tc_deletearray_sized_aligned, void, void*, size_t, size_t);
  FIND(malloc, void*, size_t);
  tc_free(GIVEN(401, tc_malloc(401)));
  tc_free(GIVEN(402, tc_malloc_skip_new_handler(402)));
  tc_free_sized(GIVEN(2 * 201, tc_calloc(2, 201)), 402);
  tc_cfree(GIVEN(403, tc_realloc(GIVEN(10, tc_malloc(10)), 403)));
  tc_free(GIVEN(404, tc_memalign(64, 404)));
  void* block = NULL;
  if (tc_posix_memalign(&block, 64, 405) == 0) tc_free(GIVEN(405, block));
  tc_free(GIVEN(406, tc_valloc(406)));
  tc_free_sized(GIVEN(407, malloc(407)), 407);
  tc_delete(GIVEN(408, tc_new(408)));
  tc_delete_sized(GIVEN(409, tc_new(409)), 409);
  tc_deletearray(GIVEN(410, tc_newarray(410)));
  tc_delete_nothrow(GIVEN(411, tc_new_nothrow(411, "")), "");
  tc_delete_aligned(GIVEN(412, tc_new_aligned(412, 64)), 64);
  tc_deletearray_sized_aligned(GIVEN(413, tc_newarray_aligned(413, 64)), 413, 64);
}

int main(int argc, char** argv) {
  library = argc > 2 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : RTLD_DEFAULT;
  if (argc > 2 && library == NULL) return puts(dlerror()), 1;
  if (strcmp(argv[1], "jemalloc") == 0) use_jemalloc();
  if (strcmp(argv[1], "mimalloc") == 0) use_mimalloc();
  if (strcmp(argv[1], "tcmalloc") == 0) use_tcmalloc();
  if (strcmp(argv[1], "destroy") == 0) destroy_a_heap();
  printf("%lu %lu\n", blocks, bytes);
  return 0;
}
