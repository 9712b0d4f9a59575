// SPDX-License-Identifier: MIT
// The return addresses that recording calls has left on a process's stacks: restored when we leave.
//
// Why: a program that walks its stack, and a debugger, must not see ours; and returning directly is faster.
// Invariant: an address that is not found, as on the stacks of suspended coroutines, still leads back to its caller
// through the agent's trampolines, which stay (penna/detail/attach.h).
#pragma once

#include "penna/detail/attach.h"
#include "reach/process/remote_memory.h"
#include "reach/process/stopped_process.h"

namespace penna {

// `process` must not run code of the agent. Returns how many were restored.
size_t put_back_returns(const RemoteMemory& memory, const StoppedProcess& process, const penna_attachment& head);

}  // namespace penna
