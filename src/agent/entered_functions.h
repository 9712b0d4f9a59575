// SPDX-License-Identifier: MIT
// Functions that the program looks up with dlsym and dlvsym, under record --libcalls: such a pointer must stay what it is, for programs
// compare them; so the function itself is entered, through a detour, before the pointer is given out.
//
// Why at the look-up: which functions a program calls by pointers that it was given, nothing else tells.
// Invariant: the recorder is asked once for a function, as long as its module stays mapped.
#pragma once

#include <stdint.h>

namespace penna::agent {

// Whether it is new, and there was room to remember it. One thread at a time.
bool remember_entered_function(uintptr_t function);
// Code in [start, end) was unmapped.
void forget_entered_functions(uintptr_t start, uintptr_t end);

}  // namespace penna::agent
