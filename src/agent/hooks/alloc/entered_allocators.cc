// SPDX-License-Identifier: MIT
// See entered_allocators.h. A hook replaces each function, and calls the original (call_patches.h:
// enter_instead()).
//
// Calls that an allocator makes of its own functions or of libc's, while one of these runs, are part of that call:
// Thread::in_allocator.
// Invariant: results, errno and exceptions are those of the function.
#include "agent/hooks/alloc/entered_allocators.h"

#include <errno.h>
#include <stdint.h>

#include <utility>

#include "agent/core/text.h"
#include "agent/hooks/alloc/entered_calls.h"
#include "agent/hooks/alloc/native_allocators.h"

namespace penna::agent {

uintptr_t entered_originals[kMostAllocators][kEnteredCount];

namespace {

// The hooks of one allocator: every patched allocator has its own set.
template <uint32_t kSet>
struct Hooks {
  template <typename Function>
  static Function* original(Entered which) {
    return reinterpret_cast<Function*>(entered_originals[kSet][which]);
  }

  static void* entered_malloc(size_t size) {
    return allocated(size, PENNA_FAMILY_MALLOC, [=] { return original<void*(size_t)>(kmalloc)(size); });
  }
  static void* entered_calloc(size_t count, size_t size) {
    return allocated(count * size, PENNA_FAMILY_CALLOC,
                     [=] { return original<void*(size_t, size_t)>(kcalloc)(count, size); });
  }
  static void* entered_realloc(void* block, size_t size) {
    return moved(block, size, [=] { return original<void*(void*, size_t)>(krealloc)(block, size); });
  }
  static void* entered_reallocarray(void* block, size_t count, size_t size) {
    return moved(block, count * size,
                 [=] { return original<void*(void*, size_t, size_t)>(kreallocarray)(block, count, size); });
  }
  static void entered_free(void* block) {
    freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(void*)>(kfree)(block); });
  }
  static void entered_cfree(void* block) {
    freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(void*)>(kcfree)(block); });
  }
  static void entered_free_sized(void* block, size_t size) {
    freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(void*, size_t)>(kfree_sized)(block, size); });
  }
  static void entered_free_aligned_sized(void* block, size_t alignment, size_t size) {
    freed(block, PENNA_FAMILY_ALIGNED,
          [=] { original<void(void*, size_t, size_t)>(kfree_aligned_sized)(block, alignment, size); });
  }
  static void* entered_aligned_alloc(size_t alignment, size_t size) {
    return allocated(size, PENNA_FAMILY_ALIGNED,
                     [=] { return original<void*(size_t, size_t)>(kaligned_alloc)(alignment, size); });
  }
  static void* entered_memalign(size_t alignment, size_t size) {
    return allocated(size, PENNA_FAMILY_ALIGNED,
                     [=] { return original<void*(size_t, size_t)>(kmemalign)(alignment, size); });
  }
  static void* entered_valloc(size_t size) {
    return allocated(size, PENNA_FAMILY_ALIGNED, [=] { return original<void*(size_t)>(kvalloc)(size); });
  }
  static void* entered_pvalloc(size_t size) {
    return allocated((size + 4095) & ~size_t{4095}, PENNA_FAMILY_ALIGNED,
                     [=] { return original<void*(size_t)>(kpvalloc)(size); });
  }
  static int entered_posix_memalign(void** result, size_t alignment, size_t size) {
    const auto call = [=] { return original<int(void**, size_t, size_t)>(kposix_memalign)(result, alignment, size); };
    if (!recording(PENNA_ALLOC)) return call();
    const int error = guarded(call);
    if (error == 0) record_alloc(*result, size, PENNA_FAMILY_ALIGNED);
    return error;
  }

  static char* entered_strdup(const char* text) {
    return static_cast<char*>(allocated(text_length(text) + 1, PENNA_FAMILY_MALLOC,
                                        [=]() -> void* { return original<char*(const char*)>(kstrdup)(text); }));
  }
  static char* entered_strndup(const char* text, size_t most) {
    // Like strnlen(): within `most` bytes there may be no zero, and nothing after them need be readable.
    size_t length = 0;
    while (length < most && text[length] != 0) ++length;
    return static_cast<char*>(allocated(length + 1, PENNA_FAMILY_MALLOC, [=]() -> void* {
      return original<char*(const char*, size_t)>(kstrndup)(text, most);
    }));
  }
  static void* entered_arena_malloc(uintptr_t arena, size_t size) {
    return allocated(size, PENNA_FAMILY_MALLOC,
                     [=] { return original<void*(uintptr_t, size_t)>(kmoz_arena_malloc)(arena, size); });
  }
  static void* entered_arena_calloc(uintptr_t arena, size_t count, size_t size) {
    return allocated(count * size, PENNA_FAMILY_CALLOC,
                     [=] { return original<void*(uintptr_t, size_t, size_t)>(kmoz_arena_calloc)(arena, count, size); });
  }
  static void* entered_arena_realloc(uintptr_t arena, void* block, size_t size) {
    return moved(block, size,
                 [=] { return original<void*(uintptr_t, void*, size_t)>(kmoz_arena_realloc)(arena, block, size); });
  }
  static void entered_arena_free(uintptr_t arena, void* block) {
    freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(uintptr_t, void*)>(kmoz_arena_free)(arena, block); });
  }
  static void* entered_arena_memalign(uintptr_t arena, size_t alignment, size_t size) {
    return allocated(size, PENNA_FAMILY_ALIGNED, [=] {
      return original<void*(uintptr_t, size_t, size_t)>(kmoz_arena_memalign)(arena, alignment, size);
    });
  }

  // Marked inside even while nothing is recorded: this frame must be known until the exception has passed it
  // (reach/inject/journal.cc, may_unwind()).
  template <Entered kWhich>
  static void* call_new(size_t size, uintptr_t b, uintptr_t c) {
    const InsideScope scope;
    return penna_call_inside(entered_originals[kSet][kWhich], size, b, c);
  }
  // For all forms: `b` and `c` are an alignment, a std::nothrow, or absent.
  template <Entered kWhich>
  static void* entered_new(size_t size, uintptr_t b, uintptr_t c) {
    return allocated(size, PENNA_FAMILY_MALLOC, [=] { return call_new<kWhich>(size, b, c); });
  }
  template <Entered kWhich>
  static void* entered_new_aligned(size_t size, uintptr_t b, uintptr_t c) {
    return allocated(size, PENNA_FAMILY_ALIGNED, [=] { return call_new<kWhich>(size, b, c); });
  }
  template <Entered kWhich>
  static void entered_delete(void* block, uintptr_t b, uintptr_t c) {
    freed(block, PENNA_FAMILY_MALLOC, [=] { original<void(void*, uintptr_t, uintptr_t)>(kWhich)(block, b, c); });
  }

  static void list(Instead* functions) {
    static const Instead all[] = {
#define PENNA_ENTERED(symbol, ...) {#symbol, reinterpret_cast<uintptr_t>(&__VA_ARGS__)},
#define PENNA_NATIVE(symbol, ...) {#symbol, reinterpret_cast<uintptr_t>(&NativeHooks<kSet>::template __VA_ARGS__)},
#include "agent/hooks/alloc/entered.inc"
#undef PENNA_ENTERED
    };
    __builtin_memcpy(functions, all, sizeof all);
  }
};

template <uint32_t... kSets>
void list_hooks(uint32_t set, Instead* functions, std::integer_sequence<uint32_t, kSets...>) {
  ((set == kSets ? Hooks<kSets>::list(functions) : void()), ...);
}

}  // namespace

EnteredFunctions entered_functions(uint32_t set, bool all) {
  EnteredFunctions functions{};
  list_hooks(set, functions.list, std::make_integer_sequence<uint32_t, kMostAllocators>{});
  functions.left_out = all ? uint32_t{0} : uint32_t{kfree_sized};
  functions.count = kEnteredCount - functions.left_out;
  functions.originals = entered_originals[set] + functions.left_out;
  return functions;
}

void sanitizer_allocated(const volatile void* block, size_t size) {
  if (recording(PENNA_ALLOC)) record_alloc(const_cast<void*>(block), size, PENNA_FAMILY_MALLOC);
}
void sanitizer_frees(const volatile void* block) {
  if (block != nullptr && recording(PENNA_ALLOC)) record_free(const_cast<void*>(block), PENNA_FAMILY_MALLOC);
}

// An exception leaves an operator new (penna_call_inside). The exception object was allocated inside, and will be freed
// outside. Itanium C++ ABI, exception handling, 2.5.2.
extern "C" __attribute__((visibility("hidden"), used)) int penna_inside_personality(int, int actions, uint64_t,
                                                                                    void* exception, void*) {
  constexpr int kCleanupPhase = 2, kContinueUnwind = 8;
  if ((actions & kCleanupPhase) == 0) return kContinueUnwind;
  // The frame that would have restored it is about to be left, without a destructor (entered_x86_64.S).
  thread.in_allocator = 0;
  const uint64_t bytes = thread.inside_bytes;
  if (reinterpret_cast<uintptr_t>(exception) - reinterpret_cast<uintptr_t>(thread.inside_block) >= bytes)
    return kContinueUnwind;
  thread.inside_bytes = 0;  // operator new[] calls operator new: it is passed once
  if (recording(PENNA_ALLOC)) record_alloc(thread.inside_block, bytes, PENNA_FAMILY_MALLOC);
  return kContinueUnwind;
}

}  // namespace penna::agent
