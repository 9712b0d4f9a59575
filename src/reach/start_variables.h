// SPDX-License-Identifier: MIT
// The variables by which a recorded process hands the recording on to a program that it starts, taken out of the
// environment again: where the agent comes alone, it cannot do so itself (agent/core/environment.h).
//
// Invariant: the program sees LD_PRELOAD as its user set it, and no PENNA_SOCKET.
#pragma once

#include <sys/types.h>

namespace penna {

// Of a program that has not begun its own code, nor copied its environment. Where that is not as the kernel has laid
// it out, nothing is done.
void take_start_variables(pid_t pid);

}  // namespace penna
