// SPDX-License-Identifier: MIT
// Calls of dlopen that the linker must get from their caller: nothing of ours comes behind them.
//
// How one knows that such a call is over: its return address lies where the caller's next call puts another one. As
// long as it is there, the call is taken to go on; any thread can look.
// Invariant: each is a linker stay (linker_turns.h) until it has been settled.
#pragma once

#include <stdint.h>

#include "agent/modules/opening.h"
#include "agent/modules/scopes.h"

namespace penna::agent {

// A call begins; `return_slot`: where its return address lies. Not in signal handlers.
void begin_passed_open(const Opening& opening, const ScopeChange& change, const uintptr_t* return_slot);

// Ends those that are over: what they changed is noted, and it is time to look at what they brought. False: there are
// none. `slot`: where the return address of this thread's own call of the linker lies; null: not known. `earliest`:
// from before the first of them, or null.
bool settle_passed_opens(const uintptr_t* slot, Opening* earliest);

// In a forked child: those of its parent's other threads are not here.
void forget_passed_opens();

}  // namespace penna::agent
