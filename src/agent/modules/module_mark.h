// SPDX-License-Identifier: MIT
// A mark in a module's memory by which one sees whether it is still the same mapping.
//
// Why: a library can be closed and mapped again at its place before the dlclose has returned; nothing else tells the
// two apart. A place that was patched would not do, for the dynamic linker itself may write a pointer once more.
// Invariant: what the program can see of the module stays as it was, but for one byte of padding in its ELF header.
#pragma once

#include <stdint.h>

namespace penna::agent {

// False: the page cannot be written, or is no file's beginning; then there is no mark. Nobody unmaps it meanwhile; one
// thread at a time.
bool set_mark(uintptr_t module_start, uintptr_t bias);
bool has_mark(uintptr_t module_start);

}  // namespace penna::agent
