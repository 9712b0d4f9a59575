// SPDX-License-Identifier: MIT
// See allocators.h. A hook takes the place of each function, and calls what it was (call_patches.h: enter_instead()).
//
// What an allocator calls of its own functions, or of libc's, while it does one of these, is part of that one: Thread::in_allocator.
// Invariant: results, errno and exceptions are those of the function.
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "agent/alloc_record.h"
#include "agent/allocators.h"
#include "agent/call_patches.h"
#include "agent/dynamic_symbols.h"
#include "agent/modules.h"
#include "penna/patch_plan.h"

namespace penna::agent {

extern "C" {
// entered_x86_64.S: calls function(a, b, c), which may throw; then Thread::in_allocator is 0 again.
void* penna_call_inside(uintptr_t function, uintptr_t a, uintptr_t b, uintptr_t c);
}

namespace {

enum Entered : uint32_t {
#define PENNA_ENTERED(symbol, hook) k##symbol,
#include "agent/entered.inc"
#undef PENNA_ENTERED
  kEnteredCount
};
uintptr_t originals[kEnteredCount];  // code that does what the function did; 0: it is not entered
bool any_entered;

template <typename Function>
Function* original(Entered which) {
  return reinterpret_cast<Function*>(originals[which]);
}

// These are inlined into the hooks: they look at their frames.
template <typename Call>
__attribute__((always_inline)) inline void* allocated(size_t size, penna_alloc_family family, Call&& call) {
  return recording(PENNA_ALLOC) ? told(inside(call), size, family) : call();
}

template <typename Call>
__attribute__((always_inline)) inline void freed(void* block, penna_alloc_family family, Call&& call) {
  if (block == nullptr || !recording(PENNA_ALLOC)) return call();
  tell_free(block, family);
  inside(call);
}

template <typename Call>
__attribute__((always_inline)) inline void* moved(void* block, size_t size, Call&& call) {
  return recording(PENNA_ALLOC) ? told_realloc(block, size, call) : call();
}

void* entered_malloc(size_t size) {
  return allocated(size, PENNA_FAMILY_MALLOC, [=] { return original<void*(size_t)>(kmalloc)(size); });
}
void* entered_calloc(size_t count, size_t size) {
  return allocated(count * size, PENNA_FAMILY_CALLOC,
                   [=] { return original<void*(size_t, size_t)>(kcalloc)(count, size); });
}
void* entered_realloc(void* block, size_t size) {
  return moved(block, size, [=] { return original<void*(void*, size_t)>(krealloc)(block, size); });
}
void* entered_reallocarray(void* block, size_t count, size_t size) {
  return moved(block, count * size,
               [=] { return original<void*(void*, size_t, size_t)>(kreallocarray)(block, count, size); });
}
void entered_free(void* block) {
  freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(void*)>(kfree)(block); });
}
void entered_cfree(void* block) {
  freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(void*)>(kcfree)(block); });
}
void entered_free_sized(void* block, size_t size) {
  freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(void*, size_t)>(kfree_sized)(block, size); });
}
void entered_free_aligned_sized(void* block, size_t alignment, size_t size) {
  freed(block, PENNA_FAMILY_ALIGNED,
        [=] { original<void(void*, size_t, size_t)>(kfree_aligned_sized)(block, alignment, size); });
}
void* entered_aligned_alloc(size_t alignment, size_t size) {
  return allocated(size, PENNA_FAMILY_ALIGNED,
                   [=] { return original<void*(size_t, size_t)>(kaligned_alloc)(alignment, size); });
}
void* entered_memalign(size_t alignment, size_t size) {
  return allocated(size, PENNA_FAMILY_ALIGNED,
                   [=] { return original<void*(size_t, size_t)>(kmemalign)(alignment, size); });
}
void* entered_valloc(size_t size) {
  return allocated(size, PENNA_FAMILY_ALIGNED, [=] { return original<void*(size_t)>(kvalloc)(size); });
}
void* entered_pvalloc(size_t size) {
  return allocated((size + 4095) & ~size_t{4095}, PENNA_FAMILY_ALIGNED,
                   [=] { return original<void*(size_t)>(kpvalloc)(size); });
}
int entered_posix_memalign(void** result, size_t alignment, size_t size) {
  const auto call = [=] { return original<int(void**, size_t, size_t)>(kposix_memalign)(result, alignment, size); };
  if (!recording(PENNA_ALLOC)) return call();
  const int error = inside(call);
  if (error == 0) told(*result, size, PENNA_FAMILY_ALIGNED);
  return error;
}

// Of all forms: `b` and `c` are an alignment, a std::nothrow, or nothing.
template <Entered kWhich>
void* entered_new(size_t size, uintptr_t b, uintptr_t c) {
  return allocated(size, PENNA_FAMILY_MALLOC, [=] { return penna_call_inside(originals[kWhich], size, b, c); });
}
template <Entered kWhich>
void* entered_new_aligned(size_t size, uintptr_t b, uintptr_t c) {
  return allocated(size, PENNA_FAMILY_ALIGNED, [=] { return penna_call_inside(originals[kWhich], size, b, c); });
}
template <Entered kWhich>
void entered_delete(void* block, uintptr_t b, uintptr_t c) {
  freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(void*, uintptr_t, uintptr_t)>(kWhich)(block, b, c); });
}

// Of the program everything, whether it shows it or not: the recorder knows its symbols. Of a library, which stands behind ours, what is
// not replaced: its malloc is what ours calls. But where one place is both, operator delete and free, all is entered.
void enter(const link_map& map, bool is_program) {
  const Instead functions[] = {
#define PENNA_ENTERED(symbol, hook) {#symbol, reinterpret_cast<uintptr_t>(hook)},
#include "agent/entered.inc"
#undef PENNA_ENTERED
  };
  ModuleFacts module;
  if (!module_at(reinterpret_cast<uintptr_t>(map.l_ld), &module)) return;
  const DynamicSymbols symbols(map);
  const bool all = is_program || symbols.find("free").address == symbols.find("_ZdlPv").address;
  const uint32_t first = all ? uint32_t{0} : uint32_t{kfree_sized};
  any_entered |= enter_instead(module, functions + first, kEnteredCount - first, originals + first);
}

bool brings_more_than_malloc(const link_map& map) {
  const DynamicSymbols symbols(map);
  return symbols.find("malloc").address != 0 &&
         (symbols.find("_Znwm").address != 0 || symbols.find("free_sized").address != 0);
}

}  // namespace

// An exception leaves an operator new (penna_call_inside). It lies in a block that was allocated inside, and will be freed outside. Itanium
// C++ ABI, exception handling, 2.5.2.
extern "C" __attribute__((visibility("hidden"), used)) int penna_inside_personality(int, int actions, uint64_t,
                                                                                    void* exception, void*) {
  constexpr int kCleanupPhase = 2, kContinueUnwind = 8;
  if ((actions & kCleanupPhase) == 0) return kContinueUnwind;
  thread.in_allocator = 0;
  if (reinterpret_cast<uintptr_t>(exception) - reinterpret_cast<uintptr_t>(thread.inside_block) < thread.inside_bytes &&
      recording(PENNA_ALLOC))
    told(thread.inside_block, thread.inside_bytes, PENNA_FAMILY_MALLOC);
  return kContinueUnwind;
}

void start_allocators(const penna_config& config, bool forked) {
  const bool wanted = (config.classes & class_bit(PENNA_ALLOC)) != 0 && (config.plans & PENNA_PLANS_ALLOCATORS) != 0;
  if (wanted && !forked) {
    for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
      const bool is_program = map == _r_debug.r_map;
      if (is_program || (!any_entered && !is_ours(map) && brings_more_than_malloc(*map))) enter(*map, is_program);
    }
  }
  thread.in_allocator = 0;
  if (any_entered) process.alloc_options |= kAllocatorsEntered;
}

}  // namespace penna::agent
