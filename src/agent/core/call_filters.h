// SPDX-License-Identifier: MIT
// seccomp filters that this process installs: for which of the agent's own system calls would they kill it?
//
// Why in advance: a filter that kills gives no second chance, and a program that is exec'd under it has it from its
// first instruction. So the agent interprets the filter over every system call that it makes itself, and then avoids
// the calls that the filter does not allow.
// Not covered: filters of programs that are not recorded, and filters installed by the program's own syscall
// instruction instead of through libc. Filters that a process already has when a recorder attaches are read by the
// recorder.
// Invariant: the target's memory is read only after it was probed.
#pragma once

#include <stdint.h>

#include "seccomp/own_calls.h"

namespace penna::agent {

using enum CallRefusals;

// Inherited by forked children; for exec'd programs see program_refused().
inline uint32_t call_refusals = 0;

// Reading the clock would kill the process (prctl(2), PR_SET_TSC; strict mode). Inherited by forked children, too.
inline bool clock_forbidden = false;

// Forked children (exec'd programs) would be killed by the agent's start: leave them alone.
inline bool fork_refused() { return (call_refusals & kRefusesStart) != 0; }
inline bool program_refused() { return (call_refusals & (kRefusesStart | kRefusesProgram)) != 0; }

// Code must not be inspected or patched any more.
inline bool code_refused() { return (call_refusals & (kRefusesRecording | kRefusesCode)) != 0; }

// Which CallRefusals the filter `program` causes: a struct sock_fprog that the target passes to the kernel.
// Async-signal-safe; `program` may point to anything.
uint32_t refused_by_filter(const void* program);

}  // namespace penna::agent
