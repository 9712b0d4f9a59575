// SPDX-License-Identifier: MIT
// The hooks of allocators that are patched in place (allocators.h), in several sets.
//
// Why sets: a hook continues in the original of its function, and a process may have more than one malloc.
// Invariant: a set belongs to one allocator, until its module is unmapped.
#pragma once

#include <stdint.h>

#include "agent/hooks/alloc/entered_calls.h"
#include "agent/patch/call_patches.h"

namespace penna::agent {

struct EnteredFunctions {
  Instead list[kMostEntered];
  uint32_t left_out;     // this many at the beginning are not to be patched,
  uint32_t count;        // this many after them are
  uintptr_t* originals;  // of these
  const Instead* first() const { return list + left_out; }
};
// `all`: also those that are interposed.
EnteredFunctions entered_functions(uint32_t set, bool all);

// Called by an allocator that has its own hooks (a sanitizer's): after each allocation, and before each free.
void sanitizer_allocated(const volatile void* block, size_t size);
void sanitizer_frees(const volatile void* block);

}  // namespace penna::agent
