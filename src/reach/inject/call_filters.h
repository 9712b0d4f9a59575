// SPDX-License-Identifier: MIT
// The seccomp filters of a running process: whether they let an agent be loaded and record.
//
// Why the filters are read and evaluated here, instead of trying a system call: a filter may kill the process for it.
// Invariant: no system call is made in the process.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"

namespace penna {

// Reading a filter requires CAP_SYS_ADMIN, and that the reading process has no filter itself.
bool may_read_call_filters();

// For penna_attachment::refusals: 0 if no thread has a filter. The error is text to follow "process N ": a filter
// forbids a needed call, or could not be read. `system_call`: the address of the instruction that would be used.
// `copied`: include what a copy of the process (process_copy.h) needs.
Result<uint32_t> judge_call_filters(pid_t pid, uint64_t system_call, bool copied = false);

// How many filters a thread has, and the most that one of the threads has. The number never decreases for a thread: if
// it is larger later, filters were installed meanwhile.
uint32_t count_call_filters(pid_t pid, pid_t thread);
uint32_t most_call_filters(pid_t pid);

}  // namespace penna
