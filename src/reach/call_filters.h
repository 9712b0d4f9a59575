// SPDX-License-Identifier: MIT
// The seccomp filters of a running process: do they let an agent come in and record?
//
// Why the filters are read and run here, instead of trying a system call: a filter may end the process for one.
// Invariant: no system call is made in the process.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"

namespace penna {

// Only CAP_SYS_ADMIN may read a filter, and only a process that has none itself.
bool may_read_call_filters();

// For penna_attachment::refusals: 0 if no thread has a filter. Error, as words behind "process N ": a filter forbids
// what we need, or could not be read. `system_call`: the address of the instruction that would be used. `copied`: what
// a copy of the process (process_copy.h) needs, too.
Result<uint32_t> judge_call_filters(pid_t pid, uint64_t system_call, bool copied = false);

}  // namespace penna
