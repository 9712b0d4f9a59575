// SPDX-License-Identifier: MIT
// What all hooks of allocation functions write, whichever way they are reached.
//
// Why the order of stamps: a block is told alive after the real allocation and dead before the real free, so that on
// one clock no other thread's use of the same address can come in between (design: "stacks"). rdtsc alone may be
// executed ahead of the loads by which this thread has the address: of a block that another thread has allocated or
// freed.
// Invariant: the usual way (every block is recorded, frees without stacks, no allocator is entered) costs one test of a
// byte that lies beside Process::armed; all else is out of line.
#pragma once

#include <sys/single_threaded.h>

#include "agent/core/sampling.h"
#include "agent/core/writer.h"
#include "agent/stacks/stacks.h"

namespace penna::agent {

inline uint64_t tagged(const void* block, penna_alloc_family family) {
  return (reinterpret_cast<uintptr_t>(block) & PENNA_ADDRESS_MASK) | uint64_t{family} << 56;
}

// Is what follows in this thread the inside of an allocation function that is recorded already (entered_allocators.h)?
inline bool inside_allocator() { return thread.in_allocator != 0; }

// Out of line, so that a hook keeps little; gives the block back, so that the hook need not.
void* write_alloc(void* block, size_t size, penna_alloc_family family, const unwind::HookFrame* hook);
// With kAllocOptions: the same, or nothing.
void* write_chosen_alloc(void* block, size_t size, penna_alloc_family family, const unwind::HookFrame* hook);
// With kAllocOptions. False: nothing was written, and nothing is to be taken back.
bool write_chosen_free(void* block, penna_alloc_family family, const unwind::HookFrame* hook);

inline bool only_samples() { return process.alloc_options == kSampled; }
inline bool has_alloc_options() { return __builtin_expect(process.alloc_options != 0, 0); }

// What is stamped from here on is later than what another thread has stamped before it let go of an address that this
// one has now.
__attribute__((always_inline)) inline void await_address() {
  if (__builtin_expect(__libc_single_threaded == 0, 1)) penna_arch_await_loads();
}

__attribute__((always_inline)) inline uint64_t free_time() {
  await_address();
  return penna_now();
}

// Must be inlined into the hook, as the next one: they look at the hook's own frame.
__attribute__((always_inline)) inline void* record_alloc(void* block, size_t size, penna_alloc_family family) {
  if (__builtin_expect(block == nullptr, 0)) return nullptr;
  if (has_alloc_options()) {
    if (only_samples() && passes_unsampled(size)) return block;
    return write_chosen_alloc(block, size, family, unwind::HookFrame::here());
  }
  return write_alloc(block, size, family, unwind::HookFrame::here());
}

__attribute__((always_inline)) inline bool record_free(void* block, penna_alloc_family family) {
  if (has_alloc_options()) {
    if (only_samples() && is_unsampled(block)) return false;
    return write_chosen_free(block, family, unwind::HookFrame::here());
  }
  write_record(PENNA_KIND_FREE, penna_free{tagged(block, family)}, PENNA_ALLOC, free_time());
  return true;
}

// The FREE of family realloc just before did not happen.
void take_back_free(void* block);

// Calls call(), the real function, which may be, or reach, one of an allocator that is entered
// (hooks/entered_allocators.cc): what this thread allocates and frees meanwhile is part of what is told here. (An
// exception leaves it by penna_inside_personality().)
template <typename Call>
__attribute__((always_inline)) inline auto guarded(Call&& call) {
  struct Scope {
    uint32_t before = thread.in_allocator;
    Scope() { thread.in_allocator = 1; }
    ~Scope() { thread.in_allocator = before; }
  };
  if (!has_alloc_options() || only_samples()) return call();
  Scope scope;
  return call();
}

// Tells what call(), a realloc, does. The block is told dead before, because another thread may get its address while
// the real function still runs. One that gives nothing for a size of 0 has freed the block.
template <typename Call>
__attribute__((always_inline)) inline void* record_realloc(void* block, size_t size, Call&& call) {
  const bool freed = block != nullptr && record_free(block, PENNA_FAMILY_REALLOC);
  void* result = guarded(call);
  if (result == nullptr && freed && size != 0) take_back_free(block);
  return record_alloc(result, size, PENNA_FAMILY_REALLOC);
}

}  // namespace penna::agent
