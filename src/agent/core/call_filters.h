// SPDX-License-Identifier: MIT
// seccomp filters that this process installs: which of the agent's own system calls would they kill it for?
//
// Why in advance: a filter that kills gives no second chance, and a program that is exec'd under it has it from its
// first instruction. So the agent interprets the filter over every system call that it makes itself, and then avoids
// the calls that the filter does not allow.
// Not covered: filters of programs that are not recorded, and filters installed by the program's own syscall
// instruction instead of through libc.
// Invariant: the target's memory is read only after it was probed.
#pragma once

#include <stdint.h>

namespace penna::agent {

// What the agent can no longer do, because the system call is fatal or fails.
enum CallRefusals : uint32_t {
  kRefusesStart = 1,      // meet the recorder, in this process's children and the programs that they exec
  kRefusesProgram = 16,   // the same, in exec'd programs only: a forked process inherits what is needed
  kRefusesRecording = 2,  // keep recording
  kRefusesCode = 4,       // inspect loaded code and patch it
  kRefusesCopies = 8,     // read memory that may be unmapped
  kRefusesGrowth = 32,    // make more of the stack tree accessible
};

// Inherited by forked children; for exec'd programs see program_refused().
inline uint32_t call_refusals = 0;

// Forked children (exec'd programs) would be killed by the agent's start: leave them alone.
inline bool fork_refused() { return (call_refusals & kRefusesStart) != 0; }
inline bool program_refused() { return (call_refusals & (kRefusesStart | kRefusesProgram)) != 0; }

// Code must not be inspected or patched any more.
inline bool code_refused() { return (call_refusals & (kRefusesRecording | kRefusesCode)) != 0; }

// Which CallRefusals the filter `program` causes: a struct sock_fprog that the target passes to the kernel.
// Async-signal-safe; `program` may point to anything.
uint32_t refused_by_filter(const void* program);

}  // namespace penna::agent
