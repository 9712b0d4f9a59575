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

void write_alloc(void* block, size_t size, penna_alloc_family family, const unwind::Registers& caller) {
  uint32_t stack = current_stack(caller);
  uint64_t now = penna_now();
  if (__builtin_expect(size <= UINT32_MAX, 1))
    write_record(PENNA_KIND_ALLOC, penna_alloc{tagged(block, family), stack, static_cast<uint32_t>(size)}, PENNA_ALLOC, now);
  else
    write_record(PENNA_KIND_ALLOC_LARGE, penna_alloc_large{tagged(block, family), stack, 0, size}, PENNA_ALLOC, now);
}

void write_free(penna_kind kind, void* block, penna_alloc_family family) {
  write_record(kind, penna_free{tagged(block, family)}, PENNA_ALLOC, penna_now());
}

// Real functions are there from the first event on, but for what dlsym itself asks for while they are looked up.
__attribute__((always_inline)) inline bool have_real() {
  return __builtin_expect(real.malloc != nullptr, 1) || (resolve_real_functions() && real.malloc != nullptr);
}

// Must be inlined into the hook: it looks at the hook's own frame.
#define PENNA_TOLD(block, size, family)                                     \
  do {                                                                      \
    void* told = (block);                                                   \
    if (__builtin_expect(recording(PENNA_ALLOC), 0) && told != nullptr)      \
      write_alloc(told, size, family, penna::unwind::caller_registers());   \
  } while (0)

// The part of realloc that moves a block out of early memory.
void* leave_early_memory(void* block, size_t size) {
  void* moved = have_real() ? real.malloc(size) : early_alloc(size, 16);
  size_t old = early_size(block);
  if (moved != nullptr) __builtin_memcpy(moved, block, old < size ? old : size);
  return moved;
}

// The block is told dead before, because another thread may get its address while the real function still runs.
__attribute__((always_inline)) inline void* trace_realloc(void* block, size_t size, const unwind::Registers& caller) {
  if (block != nullptr) write_free(PENNA_KIND_FREE, block, PENNA_FAMILY_REALLOC);
  void* result = real.realloc(block, size);
  if (result != nullptr)
    write_alloc(result, size, PENNA_FAMILY_REALLOC, caller);
  else if (block != nullptr && size != 0)
    write_free(PENNA_KIND_REALLOC_FAILED, block, PENNA_FAMILY_REALLOC);
  return result;
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

PENNA_EXPORT void* malloc(size_t size) {
  if (!have_real()) return early_alloc(size, 16);
  void* block = real.malloc(size);
  PENNA_TOLD(block, size, PENNA_FAMILY_MALLOC);
  return block;
}

PENNA_EXPORT void free(void* block) {
  if (block == nullptr || is_early(block)) return;
  if (!have_real()) return;
  if (recording(PENNA_ALLOC)) write_free(PENNA_KIND_FREE, block, PENNA_FAMILY_MALLOC);
  real.free(block);
}

PENNA_EXPORT void* calloc(size_t count, size_t size) {
  if (!have_real()) {
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : early_alloc(bytes, 16);
  }
  void* block = real.calloc(count, size);
  PENNA_TOLD(block, count * size, PENNA_FAMILY_CALLOC);
  return block;
}

PENNA_EXPORT void* realloc(void* block, size_t size) {
  if (block != nullptr && is_early(block)) return leave_early_memory(block, size);
  if (!have_real()) return early_alloc(size, 16);
  if (!recording(PENNA_ALLOC)) return real.realloc(block, size);
  return trace_realloc(block, size, penna::unwind::caller_registers());
}

PENNA_EXPORT void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (block != nullptr && is_early(block)) return leave_early_memory(block, bytes);
  if (!have_real()) return early_alloc(bytes, 16);
  if (!recording(PENNA_ALLOC)) return real.realloc(block, bytes);
  return trace_realloc(block, bytes, penna::unwind::caller_registers());
}

PENNA_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  if (!have_real()) return early_alloc(size, alignment);
  void* block = real.aligned_alloc(alignment, size);
  PENNA_TOLD(block, size, PENNA_FAMILY_ALIGNED);
  return block;
}

PENNA_EXPORT void* memalign(size_t alignment, size_t size) {
  if (!have_real()) return early_alloc(size, alignment);
  void* block = real.memalign(alignment, size);
  PENNA_TOLD(block, size, PENNA_FAMILY_ALIGNED);
  return block;
}

PENNA_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  if (!have_real()) return (*result = early_alloc(size, alignment)) != nullptr ? 0 : ENOMEM;
  int error = real.posix_memalign(result, alignment, size);
  if (error == 0) PENNA_TOLD(*result, size, PENNA_FAMILY_ALIGNED);
  return error;
}

PENNA_EXPORT void* valloc(size_t size) {
  if (!have_real()) return early_alloc(size, 4096);
  void* block = real.valloc(size);
  PENNA_TOLD(block, size, PENNA_FAMILY_ALIGNED);
  return block;
}

PENNA_EXPORT void* pvalloc(size_t size) {
  if (!have_real()) return early_alloc(size, 4096);
  void* block = real.pvalloc(size);
  PENNA_TOLD(block, (size + 4095) & ~size_t{4095}, PENNA_FAMILY_ALIGNED);
  return block;
}
