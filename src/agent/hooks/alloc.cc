// SPDX-License-Identifier: MIT
// The allocation functions. C++'s operators reach them through libc's malloc.
//
// Why the order of stamps: a block is told alive after the real allocation and dead before the real free, so that on
// one clock no other thread's use of the same address can come in between (design: "stacks").
// Invariant: what the caller gets, and errno, are those of the real function.
#include <errno.h>
#include <stdint.h>

#include "agent/real.h"
#include "agent/stacks.h"
#include "agent/writer.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

uint64_t tagged(const void* block, penna_alloc_family family) {
  return (reinterpret_cast<uintptr_t>(block) & PENNA_ADDRESS_MASK) | uint64_t{family} << 56;
}

// Out of line, so that a hook keeps little; gives the block back, so that the hook need not.
__attribute__((noinline)) void* write_alloc(void* block, size_t size, penna_alloc_family family,
                                            const unwind::HookFrame* hook) {
  uint32_t stack = current_stack(hook->caller());
  uint64_t now = penna_now();
  if (__builtin_expect(size <= UINT32_MAX, 1))
    write_record(PENNA_KIND_ALLOC, penna_alloc{tagged(block, family), stack, static_cast<uint32_t>(size)}, PENNA_ALLOC,
                 now);
  else
    write_record(PENNA_KIND_ALLOC_LARGE, penna_alloc_large{tagged(block, family), stack, 0, size}, PENNA_ALLOC, now);
  return block;
}

__attribute__((always_inline)) inline void write_free(penna_kind kind, void* block, penna_alloc_family family) {
  write_record(kind, penna_free{tagged(block, family)}, PENNA_ALLOC, penna_now());
}

// Real functions are there from the first event on, but for what dlsym itself asks for while they are looked up.
__attribute__((always_inline)) inline bool have_real() {
  return __builtin_expect(real.malloc != nullptr, 1) || (resolve_real_functions() && real.malloc != nullptr);
}

// Must be inlined into the hook: it looks at the hook's own frame.
__attribute__((always_inline)) inline void* told(void* block, size_t size, penna_alloc_family family) {
  if (__builtin_expect(block == nullptr, 0)) return nullptr;
  return write_alloc(block, size, family, unwind::HookFrame::here());
}

// The part of realloc that moves a block out of early memory.
void* leave_early_memory(void* block, size_t size) {
  void* moved = have_real() ? real.malloc(size) : early_alloc(size, 16);
  size_t old = early_size(block);
  if (moved != nullptr) __builtin_memcpy(moved, block, old < size ? old : size);
  return moved;
}

// The block is told dead before, because another thread may get its address while the real function still runs.
__attribute__((always_inline)) inline void* trace_realloc(void* block, size_t size) {
  if (block != nullptr) write_free(PENNA_KIND_FREE, block, PENNA_FAMILY_REALLOC);
  void* result = real.realloc(block, size);
  if (result != nullptr)
    write_alloc(result, size, PENNA_FAMILY_REALLOC, unwind::HookFrame::here());
  else if (block != nullptr && size != 0)
    write_free(PENNA_KIND_REALLOC_FAILED, block, PENNA_FAMILY_REALLOC);
  return result;
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

// In each hook, that allocations are recorded implies that there are real functions: one test on the usual way.

PENNA_EXPORT void* malloc(size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.malloc(size) : early_alloc(size, 16);
  return told(real.malloc(size), size, PENNA_FAMILY_MALLOC);
}

PENNA_EXPORT void free(void* block) {
  if (block == nullptr || is_early(block)) return;
  if (recording(PENNA_ALLOC))
    write_free(PENNA_KIND_FREE, block, PENNA_FAMILY_MALLOC);
  else if (!have_real())
    return;
  real.free(block);
}

PENNA_EXPORT void* calloc(size_t count, size_t size) {
  if (!recording(PENNA_ALLOC)) {
    if (have_real()) return real.calloc(count, size);
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : early_alloc(bytes, 16);
  }
  return told(real.calloc(count, size), count * size, PENNA_FAMILY_CALLOC);
}

PENNA_EXPORT void* realloc(void* block, size_t size) {
  if (block != nullptr && is_early(block)) return leave_early_memory(block, size);
  if (!recording(PENNA_ALLOC)) return have_real() ? real.realloc(block, size) : early_alloc(size, 16);
  return trace_realloc(block, size);
}

PENNA_EXPORT void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (block != nullptr && is_early(block)) return leave_early_memory(block, bytes);
  if (!recording(PENNA_ALLOC)) return have_real() ? real.realloc(block, bytes) : early_alloc(bytes, 16);
  return trace_realloc(block, bytes);
}

PENNA_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.aligned_alloc(alignment, size) : early_alloc(size, alignment);
  return told(real.aligned_alloc(alignment, size), size, PENNA_FAMILY_ALIGNED);
}

PENNA_EXPORT void* memalign(size_t alignment, size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.memalign(alignment, size) : early_alloc(size, alignment);
  return told(real.memalign(alignment, size), size, PENNA_FAMILY_ALIGNED);
}

PENNA_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  bool traced = recording(PENNA_ALLOC);
  if (!traced && !have_real()) return (*result = early_alloc(size, alignment)) != nullptr ? 0 : ENOMEM;
  int error = real.posix_memalign(result, alignment, size);
  if (traced && error == 0) told(*result, size, PENNA_FAMILY_ALIGNED);
  return error;
}

PENNA_EXPORT void* valloc(size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.valloc(size) : early_alloc(size, 4096);
  return told(real.valloc(size), size, PENNA_FAMILY_ALIGNED);
}

PENNA_EXPORT void* pvalloc(size_t size) {
  if (!recording(PENNA_ALLOC)) return have_real() ? real.pvalloc(size) : early_alloc(size, 4096);
  return told(real.pvalloc(size), (size + 4095) & ~size_t{4095}, PENNA_FAMILY_ALIGNED);
}
