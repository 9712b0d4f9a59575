// SPDX-License-Identifier: MIT
// A mark in a module's memory that shows whether it is still the same mapping.
//
// Why: a library can be closed and mapped again at the same address before the dlclose has returned; nothing else
// distinguishes the two. A patched place would not do, because the dynamic linker may write a pointer again.
// Invariant: what the program sees of the module is unchanged, except for one byte of padding in its ELF header.
#pragma once

#include <stdint.h>

namespace penna::agent {

// False: the page cannot be written, or is not the beginning of a file; then there is no mark. The caller keeps it
// mapped; one thread at a time.
bool set_mark(uintptr_t module_start, uintptr_t bias);
bool has_mark(uintptr_t module_start);

}  // namespace penna::agent
