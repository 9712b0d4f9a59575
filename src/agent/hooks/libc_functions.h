// SPDX-License-Identifier: MIT
// Functions of libc that are entered where they lie, because we came too late to stand in front of them: of locks, of
// mappings, and dlopen and dlclose. (Allocation functions: allocators.h.)
//
// Invariant: the hooks are those that a program calls which was started with us; `real` has what each function did.
#pragma once

#include <stdint.h>

namespace penna::agent {

// Of event classes by bit. Called from start(), when no entered function is run before all are.
void enter_libc_functions(uint32_t classes);

}  // namespace penna::agent
