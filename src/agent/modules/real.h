// SPDX-License-Identifier: MIT
// The functions that the agent interposes: the next definitions after its own, in the dynamic linker's order.
//
// Why a table: one list, real.inc, shows which functions are replaced.
// Invariant: after resolve_real_functions() has returned true, no entry is null that libc 2.34 or later defines
// (_Unwind_Backtrace is libgcc's).
#pragma once

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#include "agent/core/attachment.h"
#include "agent/core/state.h"

namespace penna::agent {

using OnFrame = int (*)(void* context, void* argument);  // _Unwind_Trace_Fn

// The type of a declared function's address, without noexcept and attributes: a hook may be called with arguments that
// these rule out, and behaves as the function does.
template <typename Result, typename... Arguments>
Result (*plain_pointer(Result (*)(Arguments...)))(Arguments...);
template <typename Result, typename... Arguments>
Result (*plain_pointer(Result (*)(Arguments..., ...)))(Arguments..., ...);

struct RealFunctions {
#define PENNA_REAL(name) decltype(plain_pointer(&::name)) name;
#define PENNA_REAL_UNDECLARED(name, result, arguments) result(*name) arguments;
#include "agent/modules/real.inc"
#undef PENNA_REAL_UNDECLARED
#undef PENNA_REAL
};

#pragma GCC visibility push(hidden)  // so that they are accessed without the GOT
extern RealFunctions real;
extern bool real_is_known;  // all of them
// If the agent was loaded late (core/attachment.h), `real` has code that does what each patched function did; this is
// what it had before.
extern RealFunctions real_before;
extern bool libc_was_ready;
#pragma GCC visibility pop

// Events are recorded, but none of this class: just call the real function.
__attribute__((always_inline)) inline bool only_others_recorded(penna_event_class event_class) {
  const uint32_t bits = armed();
  return (bits & class_bit(event_class)) == 0 && bits != 0 && real_is_known;
}

// Looks all of them up, once, where the dynamic linker looks, but without it: dlsym may allocate, and the program's own
// malloc may be running at this moment. False while another caller (or an outer frame of this one) does it; until then
// requests for memory are served by early_alloc().
bool resolve_real_functions();

// The program's own definition, which precedes the agent's: libc's calls of it reach that one. Null: none.
extern void* (*programs_realloc)(void*, size_t);

// True once libc is initialised far enough for a rendezvous: once it has an environment. A program may clear that
// later, so libc_was_ready remembers it.
bool libc_is_ready();

// Memory for the few requests before malloc is known. Never freed. Null when used up.
void* early_alloc(size_t bytes, size_t alignment);
extern __attribute__((visibility("hidden"))) char early_memory[64 << 10];
inline bool is_early(const void* block) {
  return static_cast<size_t>(static_cast<const char*>(block) - early_memory) < sizeof early_memory;
}
size_t early_size(const void* block);

}  // namespace penna::agent
