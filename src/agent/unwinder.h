// SPDX-License-Identifier: MIT
// The unwinder of exceptions that the target uses, and what of it the agent must ask or correct.
//
// Why looked up in its module: the agent is linked with libc only; the unwinder may be libgcc's or libunwind's, may come with a
// later dlopen, and may be there twice. Invariant: async-signal-safe; takes no lock of the dynamic linker.
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

}  // namespace penna::agent
