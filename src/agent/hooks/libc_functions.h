// SPDX-License-Identifier: MIT
// libc functions that are patched in place, because the agent was loaded too late to interpose them: those of locks and
// mappings, and dlopen and dlclose. (Allocation functions: allocators.h.)
//
// Invariant: the hooks are those of a program that was started with the agent; `real` has what each function did.
#pragma once

#include <stdint.h>

namespace penna::agent {

// `classes`: event classes by bit. Called from start(), when no patched function runs before all are patched.
void enter_libc_functions(uint32_t classes);

}  // namespace penna::agent
