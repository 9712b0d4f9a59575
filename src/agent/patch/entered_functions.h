// SPDX-License-Identifier: MIT
// The functions that were patched individually because dlsym returned them (hooks/dlsym.cc).
//
// Invariant: the recorder is asked only once per function, as long as its module stays mapped.
#pragma once

#include <stdint.h>

namespace penna::agent {

bool is_entered_function(uintptr_t function);
// Adds `function`. False: it is known already, or the table is full. One thread at a time.
bool remember_entered_function(uintptr_t function);
// Code in [start, end) was unmapped.
void forget_entered_functions(uintptr_t start, uintptr_t end);

}  // namespace penna::agent
