// SPDX-License-Identifier: MIT
// The C allocation functions, as far as the program calls them through the dynamic linker.
//
// C++'s operators are not replaced: libstdc++'s, and nearly all that programs define, call malloc and free, so each of
// their blocks is one event here, and its stack shows the operator. Interposing them as well would distinguish the two
// families, but change which operator a library gets that was loaded with its own (RTLD_LOCAL). Operators that do not
// use malloc are patched instead (entered_allocators.cc). So are free_sized and free_aligned_sized (C23) where a
// library defines them: libc does not (2.36), and a program that checks for them must get the same answer with the
// agent as without.
// Invariant: results and errno are those of the real function.
#include <errno.h>
#include <stdint.h>

#include "agent/hooks/alloc/alloc_record.h"
#include "agent/hooks/alloc/malloc_free.h"
#include "agent/modules/real.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

// Real functions are known from the first event on, except to dlsym itself while it looks them up.
__attribute__((always_inline)) inline bool have_real() {
  return __builtin_expect(real.malloc != nullptr, 1) || (resolve_real_functions() && real.malloc != nullptr);
}

// The part of realloc that moves a block out of early memory.
void* leave_early_memory(void* block, size_t size) {
  void* moved = have_real() ? real.malloc(size) : early_alloc(size, 16);
  size_t old = early_size(block);
  if (moved != nullptr) __builtin_memcpy(moved, block, old < size ? old : size);
  return moved;
}

__attribute__((always_inline)) inline void* trace_realloc(void* block, size_t size) {
  return record_realloc(block, size, [=] { return real.realloc(block, size); });
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

// In each hook: if allocations are recorded, the real functions are known. So the fast path needs only one test.

void* penna::agent::recorded_malloc(size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.malloc(size) : early_alloc(size, 16);
  return record_alloc(guarded([=] { return real.malloc(size); }), size, PENNA_FAMILY_MALLOC);
}

void penna::agent::recorded_free(void* block) {
  if (block == nullptr || is_early(block)) return;
  if (recording(PENNA_ALLOC))
    record_free(block, PENNA_FAMILY_MALLOC);
  else if (!have_real())
    return;
  guarded([=] { real.free(block); });
}

void* penna::agent::recorded_realloc(void* block, size_t size) {
  if (block != nullptr && is_early(block)) return leave_early_memory(block, size);
  if (!recording(PENNA_ALLOC)) return have_real() ? real.realloc(block, size) : early_alloc(size, 16);
  return trace_realloc(block, size);
}

// The product may overflow: then the function fails, and without a block its size does not matter.
PENNA_EXPORT void* calloc(size_t count, size_t size) {
  if (!recording(PENNA_ALLOC)) {
    if (have_real()) return real.calloc(count, size);
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : early_alloc(bytes, 16);
  }
  return record_alloc(guarded([=] { return real.calloc(count, size); }), count * size, PENNA_FAMILY_CALLOC);
}

// libc's version calls realloc, and so do we; that may be the program's own, which is patched if possible.
PENNA_EXPORT void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes;

  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (have_real() && programs_realloc != nullptr) return programs_realloc(block, bytes);
  if (block != nullptr && is_early(block)) return leave_early_memory(block, bytes);
  if (!recording(PENNA_ALLOC)) return have_real() ? real.realloc(block, bytes) : early_alloc(bytes, 16);
  return trace_realloc(block, bytes);
}

PENNA_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.aligned_alloc(alignment, size) : early_alloc(size, alignment);
  return record_alloc(guarded([=] { return real.aligned_alloc(alignment, size); }), size, PENNA_FAMILY_ALIGNED);
}

PENNA_EXPORT void* memalign(size_t alignment, size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.memalign(alignment, size) : early_alloc(size, alignment);
  return record_alloc(guarded([=] { return real.memalign(alignment, size); }), size, PENNA_FAMILY_ALIGNED);
}

// Fails by its result and leaves errno alone; *result is a block only if the result is 0.
PENNA_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  bool traced = recording(PENNA_ALLOC);
  if (!traced && !have_real()) return (*result = early_alloc(size, alignment)) != nullptr ? 0 : ENOMEM;
  int error = traced ? guarded([=] { return real.posix_memalign(result, alignment, size); })
                     : real.posix_memalign(result, alignment, size);
  if (traced && error == 0) record_alloc(*result, size, PENNA_FAMILY_ALIGNED);
  return error;
}

PENNA_EXPORT void* valloc(size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.valloc(size) : early_alloc(size, 4096);
  return record_alloc(guarded([=] { return real.valloc(size); }), size, PENNA_FAMILY_ALIGNED);
}

// Records what the function returns: whole pages.
PENNA_EXPORT void* pvalloc(size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.pvalloc(size) : early_alloc(size, 4096);
  return record_alloc(guarded([=] { return real.pvalloc(size); }), (size + 4095) & ~size_t{4095}, PENNA_FAMILY_ALIGNED);
}
