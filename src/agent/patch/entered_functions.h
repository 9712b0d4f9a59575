// SPDX-License-Identifier: MIT
// Which functions have been entered by themselves, since dlsym has found them (hooks/dlsym.cc).
//
// Invariant: the recorder is asked once for a function, as long as its module stays mapped.
#pragma once

#include <stdint.h>

namespace penna::agent {

bool is_entered_function(uintptr_t function);
// Whether it is new, and there was room to remember it. One thread at a time.
bool remember_entered_function(uintptr_t function);
// Code in [start, end) was unmapped.
void forget_entered_functions(uintptr_t start, uintptr_t end);

}  // namespace penna::agent
