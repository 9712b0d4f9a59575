// SPDX-License-Identifier: MIT
// Calls of dlopen that must reach the linker directly from their caller: no code of the agent runs after them.
//
// How their end is noticed: the return address is where the caller's next call puts another one. As long as it is
// unchanged, the call counts as under way; any thread can check.
// Invariant: each is a linker stay (linker_turns.h) until it has been settled.
#pragma once

#include <stdint.h>

#include "agent/modules/opening.h"
#include "agent/modules/scopes.h"

namespace penna::agent {

// A call begins; `return_slot`: the address of its return address. Not in signal handlers.
void begin_passed_open(const Opening& opening, const ScopeChange& change, const uintptr_t* return_slot);

// Ends those that are over: records what they changed; then it is time to visit what they loaded. False: there are
// none. `slot`: the address of the return address of this thread's own call of the linker; null: unknown. `earliest`:
// receives the Opening of the first of them, or null.
bool settle_passed_opens(const uintptr_t* slot, Opening* earliest);

// In a forked child: drops those of the parent's other threads.
void forget_passed_opens();

}  // namespace penna::agent
