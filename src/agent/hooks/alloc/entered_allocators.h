// SPDX-License-Identifier: MIT
// The hooks of allocators that are entered where they lie (allocators.h), several sets of them.
//
// Why sets: a hook goes on to what its function was, and a process may have more than one malloc.
// Invariant: a set is that of one allocator, until its module is unmapped.
#pragma once

#include <stdint.h>

#include "agent/hooks/alloc/entered_calls.h"
#include "agent/patch/call_patches.h"

namespace penna::agent {

struct EnteredFunctions {
  Instead list[kMostEntered];
  uint32_t left_out;     // so many at the beginning are not to be entered,
  uint32_t count;        // so many behind them are
  uintptr_t* originals;  // of these
  const Instead* first() const { return list + left_out; }
};
// `all`: also those in front of which ours stand.
EnteredFunctions entered_functions(uint32_t set, bool all);

// What an allocator calls that tells others what it does (a sanitizer's): behind each allocation, and before each free.
void sanitizer_allocated(const volatile void* block, size_t size);
void sanitizer_frees(const volatile void* block);

}  // namespace penna::agent
