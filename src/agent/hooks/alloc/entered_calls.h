// SPDX-License-Identifier: MIT
// Shared by the hooks of patched allocators (entered_allocators.h): which functions there are, the original of each,
// and how it is called such that its own calls count as part of it.
//
// Invariant: code that is inlined into a hook leaves the hook its own frame, by which its caller is found.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/hooks/alloc/alloc_record.h"

extern "C" {
// entered_x86_64.S: calls function(a, b, c), which may throw; then Thread::in_allocator is 0 again.
void* penna_call_inside(uintptr_t function, uintptr_t a, uintptr_t b, uintptr_t c);
}

namespace penna::agent {

inline constexpr uint32_t kMostAllocators = 4, kMostEntered = 216;

enum Entered : uint32_t {
#define PENNA_ENTERED(symbol, ...) k##symbol,
#include "agent/hooks/alloc/entered.inc"
#undef PENNA_ENTERED
  kEnteredCount
};
static_assert(kEnteredCount <= kMostEntered);
// Code that does what the function did; 0: it is not patched.
extern uintptr_t entered_originals[kMostAllocators][kEnteredCount];

// Inlined into the hooks: they use the hooks' frames.
template <typename Call>
__attribute__((always_inline)) inline void* allocated(size_t size, penna_alloc_family family, Call&& call) {
  return recording(PENNA_ALLOC) ? record_alloc(guarded(call), size, family) : call();
}

template <typename Call>
__attribute__((always_inline)) inline void freed(void* block, penna_alloc_family family, Call&& call) {
  if (block == nullptr || !recording(PENNA_ALLOC)) return call();
  record_free(block, family);
  guarded(call);
}

template <typename Call>
__attribute__((always_inline)) inline void* moved(void* block, size_t size, Call&& call) {
  return recording(PENNA_ALLOC) ? record_realloc(block, size, call) : call();
}

}  // namespace penna::agent
