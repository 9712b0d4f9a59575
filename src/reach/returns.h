// SPDX-License-Identifier: MIT
// The return addresses that recording calls has left on the stacks of a process: put back when we leave.
//
// Why: a program that walks its stack, and a debugger, shall see none of ours; and returning directly is faster.
// Invariant: what is not found, as on the stacks of coroutines that are not running, still leads back to its caller
// through the agent's trampolines, which stay (penna/detail/attach.h).
#pragma once

#include "penna/detail/attach.h"
#include "reach/remote_memory.h"
#include "reach/stopped_process.h"

namespace penna {

// `process` must not run code of the agent. How many were put back.
size_t put_back_returns(const RemoteMemory& memory, const StoppedProcess& process, const penna_attachment& head);

}  // namespace penna
