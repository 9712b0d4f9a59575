// SPDX-License-Identifier: MIT
// Calls of dlopen that are passed on to the dynamic linker by a jump: no code of the agent runs after them.
#pragma once

#include <stdint.h>

namespace penna::agent {

// Visits what such calls have loaded, if they have returned. `return_slot`: the address of the return address of this
// thread's call of the linker. Not in signal handlers.
void see_opened_modules(const uintptr_t* return_slot);

}  // namespace penna::agent
