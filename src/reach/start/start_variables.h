// SPDX-License-Identifier: MIT
// Removes from a program's environment the variables by which a recorded process passes the recording on to the
// programs that it starts: a standalone agent cannot do so itself (agent/core/environment.h).
//
// Invariant: the program sees LD_PRELOAD as its user set it, and no PENNA_SOCKET.
#pragma once

#include <sys/types.h>

namespace penna {

// For a program that has neither begun its own code nor copied its environment. Does nothing if the environment is not
// as the kernel has laid it out.
void take_start_variables(pid_t pid);

}  // namespace penna
