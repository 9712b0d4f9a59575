// SPDX-License-Identifier: MIT
// What all hooks of allocation functions record, however they are reached.
//
// Why the order of timestamps: a block is recorded as allocated after the real allocation and as freed before the real
// free, so on one clock no other thread's use of the same address can come in between (design: "stacks"). rdtsc alone
// may execute ahead of the loads that gave this thread the address of a block which another thread has allocated or
// freed.
// Invariant: the fast path (every block is recorded, frees without stacks, no patched allocator) costs one test of a
// byte next to Process::armed; everything else is out of line.
#pragma once

#include <sys/single_threaded.h>

#include "agent/core/sampling.h"
#include "agent/core/writer.h"
#include "agent/stacks/stacks.h"

namespace penna::agent {

inline uint64_t tagged(const void* block, penna_alloc_family family) {
  return (reinterpret_cast<uintptr_t>(block) & PENNA_ADDRESS_MASK) | uint64_t{family} << 56;
}

// Whether this thread is inside an allocation function that is recorded already (entered_allocators.h).
inline bool inside_allocator() { return thread.in_allocator != 0; }

// Out of line, so that a hook saves few registers; returns the block, so that the hook need not keep it.
void* write_alloc(void* block, size_t size, penna_alloc_family family, const unwind::HookFrame* hook);
// With kAllocOptions: the same, or nothing.
void* write_chosen_alloc(void* block, size_t size, penna_alloc_family family, const unwind::HookFrame* hook);
// With kAllocOptions. False: nothing was written, so there is nothing to cancel.
bool write_chosen_free(void* block, penna_alloc_family family, const unwind::HookFrame* hook);

inline bool only_samples() { return process.alloc_options == kSampled; }
inline bool has_alloc_options() { return __builtin_expect(process.alloc_options != 0, 0); }

// Timestamps taken after this are later than those that another thread took before it passed on an address that this
// thread has now.
__attribute__((always_inline)) inline void await_address() {
  // A single thread got all its addresses from itself.
  if (__builtin_expect(__libc_single_threaded == 0, 1)) penna_arch_await_loads();
}

__attribute__((always_inline)) inline uint64_t free_time() {
  await_address();
  return penna_now();
}

// Must be inlined into the hook, like the next one: they use the hook's own frame.
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

// Cancels the FREE of family realloc that was recorded just before.
void cancel_free(void* block);

// Calls call(), the real function, which may be, or reach, a function of a patched allocator
// (hooks/entered_allocators.cc): what this thread allocates and frees meanwhile is part of this event. (An exception
// leaves it through penna_inside_personality().)
template <typename Call>
__attribute__((always_inline)) inline auto guarded(Call&& call) {
  struct Scope {
    uint32_t before = thread.in_allocator;
    Scope() { thread.in_allocator = 1; }
    ~Scope() { thread.in_allocator = before; }
  };
  // Nothing is patched, and nothing lies between the hook and libc: no nested call reaches a hook.
  if (!has_alloc_options() || only_samples()) return call();
  Scope scope;
  return call();
}

// Records what call(), a realloc, does. The block is recorded as freed first, because another thread may get its
// address while the real function still runs. If it returns null for size 0, it has freed the block.
template <typename Call>
__attribute__((always_inline)) inline void* record_realloc(void* block, size_t size, Call&& call) {
  const bool freed = block != nullptr && record_free(block, PENNA_FAMILY_REALLOC);
  void* result = guarded(call);
  if (result == nullptr && freed && size != 0) cancel_free(block);
  return record_alloc(result, size, PENNA_FAMILY_REALLOC);
}

}  // namespace penna::agent
