// SPDX-License-Identifier: MIT
// Filters of system calls (seccomp) that this process gives itself: which of the agent's own calls would they be the
// end of?
//
// Why beforehand: a filter that kills cannot be asked, and a program that is started under it has it from its first
// instruction. So the filter is run, as the kernel would run it, over the calls that the agent makes; then it makes
// none of these any more.
// Left out: filters of programs that are not recorded, and what is installed by an instruction of the program's own,
// past libc.
// Invariant: the target's memory is read only where it can be read.
#pragma once

#include <stdint.h>

namespace penna::agent {

// What can no longer be done without the end of the process, or not at all.
enum CallRefusals : uint32_t {
  kRefusesStart = 1,      // in processes and programs that have this one's filters: to meet the recorder
  kRefusesProgram = 16,   // in programs alone: what a forked process has of its parent
  kRefusesRecording = 2,  // to record on
  kRefusesCode = 4,       // to look at code that is loaded, and to change it
  kRefusesCopies = 8,     // to read memory that may not be there
  kRefusesGrowth = 32,    // to use more of the stack tree
};

// Forked children have it of their parent; of a program that is started, see program_refused().
inline uint32_t call_refusals = 0;

// Processes that are forked, and programs that are started, would end of our start: they are to be left alone.
inline bool fork_refused() { return (call_refusals & kRefusesStart) != 0; }
inline bool program_refused() { return (call_refusals & (kRefusesStart | kRefusesProgram)) != 0; }

// Nor may code be looked at or changed.
inline bool code_refused() { return (call_refusals & (kRefusesRecording | kRefusesCode)) != 0; }

// What `program`, a struct sock_fprog that the target hands to the kernel, refuses: CallRefusals.
uint32_t refused_by_filter(const void* program);

}  // namespace penna::agent
