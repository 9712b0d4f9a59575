// SPDX-License-Identifier: MIT
// The unwinder of exceptions that the target uses, and what of it the agent must ask or correct.
//
// Why looked up in its module: the agent is linked with libc only; the unwinder may be libgcc's or libunwind's, may
// come with a later dlopen, and may be there twice. Invariant: async-signal-safe; takes no lock of the dynamic linker.
#pragma once

#include <stdint.h>

namespace penna::agent {

// The Itanium C++ ABI's level I, exception handling 1.3 and 1.4; none of it null.
struct Unwinder {
  uintptr_t (*get_ip)(void* context);
  void (*set_ip)(void* context, uintptr_t pc);
  void (*set_register)(void* context, int number, uintptr_t value);
  void (*resume)(void* exception);
};

// The unwinder that `caller`, an address in it, belongs to. False: it does not show its functions.
bool find_unwinder(uintptr_t caller, Unwinder* found);

// The beginning of libgcc's context, the same since gcc 3.0 (unwind-dw2.c). For programs linked with -static-libgcc:
// their unwinder shows none of its functions. Another unwinder's context is as large, and has no address of ours at
// `ip`.
struct LibgccContext {
  uintptr_t registers[18];
  uintptr_t cfa;
  uintptr_t ip;
};

// libgcc knows the frame where an exception is caught by its CFA. This, in each phase, gives the caller of a trampoline
// one that no other frame has. The trampoline's unwind information takes it out of the stack pointer again.
inline void tell_apart(LibgccContext* trampoline) { trampoline->cfa |= 1; }

}  // namespace penna::agent
