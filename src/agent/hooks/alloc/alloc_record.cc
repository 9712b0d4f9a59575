// SPDX-License-Identifier: MIT
// See alloc_record.h.
#include "agent/hooks/alloc/alloc_record.h"

#include "agent/hooks/alloc/thread_cache.h"

namespace penna::agent {

void* write_alloc(void* block, size_t size, penna_alloc_family family, const unwind::HookFrame* hook) {
  await_address();  // before the walk: the two overlap in the pipeline
  const uint32_t stack = current_stack(hook->caller());
  const uint64_t now = penna_now();
  if (__builtin_expect(size <= UINT32_MAX, 1))
    write_record(PENNA_KIND_ALLOC, penna_alloc{tagged(block, family), stack, static_cast<uint32_t>(size)}, PENNA_ALLOC,
                 now);
  else
    write_record(PENNA_KIND_ALLOC_LARGE, penna_alloc_large{tagged(block, family), stack, 0, size}, PENNA_ALLOC, now);
  return block;
}

void* write_chosen_alloc(void* block, size_t size, penna_alloc_family family, const unwind::HookFrame* hook) {
  // Part of another call. Noted even so: if it is an exception that leaves the call, the block outlives the call
  // (penna_inside_personality()).
  if (inside_allocator()) {
    thread.inside_block = block;
    thread.inside_bytes = size;
    return block;
  }
  return sample_block(block, size) ? write_alloc(block, size, family, hook) : block;
}

bool write_chosen_free(void* block, penna_alloc_family family, const unwind::HookFrame* hook) {
  // Forgotten before the real free: right after it, another thread may get the same address, and it may be sampled.
  if (inside_allocator() || empties_thread_cache(hook->caller_pc) || !forget_sample(block)) return false;
  if ((process.alloc_options & kFreeStacks) == 0) {
    write_record(PENNA_KIND_FREE, penna_free{tagged(block, family)}, PENNA_ALLOC, free_time());
    return true;
  }
  const uint32_t stack = current_stack(hook->caller());
  write_record(PENNA_KIND_FREE_STACK, penna_free_stack{tagged(block, family), stack, 0}, PENNA_ALLOC, free_time());
  return true;
}

void cancel_free(void* block) {
  // Back into the set, or its free would not be recorded.
  if (process.sample_bytes != 0) keep_sample(block);
  write_record(PENNA_KIND_REALLOC_FAILED, penna_free{tagged(block, PENNA_FAMILY_REALLOC)}, PENNA_ALLOC, penna_now());
}

}  // namespace penna::agent
