// SPDX-License-Identifier: MIT
// Those calls of dlopen that are passed on to the dynamic linker, so that nothing of ours comes behind them.
#pragma once

#include <stdint.h>

namespace penna::agent {

// Looks at what such calls have brought that are over. `return_slot`: where the return address of this thread's call of
// the linker lies. Not in signal handlers.
void see_opened_modules(const uintptr_t* return_slot);

}  // namespace penna::agent
