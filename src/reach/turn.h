// SPDX-License-Identifier: MIT
// One at a time at a process: who brings an agent in, gives a process back, or makes a copy of it to try something out.
//
// Why a socket's name: it ends with whoever has it, however that dies, and no file stays behind.
#pragma once

#include <sys/types.h>

#include "base/fd.h"

namespace penna {

// Waits up to ten seconds for whoever is at it: the surgeon of a killed recorder (surgeon.h), which puts everything
// back, is soon done. The turn ends when the descriptor is closed. Invalid: it still is somebody else's.
// In this network namespace alone; of one in another, the guest (guest.h) is seen while it starts.
Fd take_turn(pid_t pid);

// Behind "process N ", where there was none to take.
inline constexpr const char* kNotOurTurn = "is being attached to or given back by another penna record";

}  // namespace penna
