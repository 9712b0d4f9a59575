// SPDX-License-Identifier: MIT
// The exception unwinder that the target uses, and what the agent must ask of it or correct in it.
//
// Why it is looked up in its module: the agent is linked with libc only; the unwinder may be libgcc's or libunwind's,
// may be loaded by a later dlopen, and there may be two.
// Invariant: async-signal-safe; takes no lock of the dynamic linker.
#pragma once

#include <stdint.h>

namespace penna::agent {

// Level I of the Itanium C++ ABI, exception handling 1.3 and 1.4; no member is null.
struct Unwinder {
  uintptr_t (*get_ip)(void* context);
  void (*set_ip)(void* context, uintptr_t pc);
  void (*set_register)(void* context, int number, uintptr_t value);
  void (*resume)(void* exception);
};

// The unwinder that contains the address `caller`. False: it does not export its functions.
bool find_unwinder(uintptr_t caller, Unwinder* found);

// The beginning of libgcc's context, unchanged since gcc 3.0 (unwind-dw2.c). For programs linked with -static-libgcc:
// their unwinder exports none of its functions. The context of another unwinder is as large, and has no address of the
// agent at `ip`.
struct LibgccContext {
  uintptr_t registers[18];
  uintptr_t cfa;
  uintptr_t ip;
};

// libgcc identifies the frame that catches an exception by its CFA. Called in each phase, this gives the caller of a
// trampoline a CFA that no other frame has. The trampoline's unwind information removes it from the stack pointer
// again.
inline void mark_as_trampoline(LibgccContext* trampoline) { trampoline->cfa |= 1; }

}  // namespace penna::agent
