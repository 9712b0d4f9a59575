// SPDX-License-Identifier: MIT
// malloc, realloc and free. With --sample-bytes, nearly all calls go straight to the real functions from here; without
// recording of allocations, all do.
//
// Why a separate file: it is compiled without frame pointers and with sibling calls, so each is a few instructions and
// a jump.
// Invariant: the stack is left as the caller had it. If sampling is on, the real functions are known.
#include "agent/hooks/alloc/malloc_free.h"

#include "agent/hooks/alloc/alloc_record.h"
#include "agent/modules/real.h"

using namespace penna::agent;

// A failed allocation is counted as well: the distance between samples need not be exact, only independent of what is
// allocated.
extern "C" __attribute__((visibility("default"))) void* malloc(size_t size) {
  if (only_samples() && passes_unsampled(size)) return real.malloc(size);
  if (only_others_recorded(PENNA_ALLOC)) return real.malloc(size);
  return recorded_malloc(size);
}

// Early blocks count as unsampled, too, but the real functions do not know them.
extern "C" __attribute__((visibility("default"))) void* realloc(void* block, size_t size) {
  if (only_samples() && is_unsampled(block) && !is_early(block) && passes_unsampled(size))
    return real.realloc(block, size);
  if (only_others_recorded(PENNA_ALLOC) && !is_early(block)) return real.realloc(block, size);
  return recorded_realloc(block, size);
}

extern "C" __attribute__((visibility("default"))) void free(void* block) {
  if (only_samples() && is_unsampled(block) && !is_early(block)) return real.free(block);
  if (only_others_recorded(PENNA_ALLOC) && !is_early(block)) return real.free(block);
  recorded_free(block);
}
