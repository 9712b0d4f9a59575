// SPDX-License-Identifier: MIT
// StandaloneProgram: a running program that no dynamic linker has loaded, as far as a standalone agent needs to know it
// (penna_standalone in penna/detail/attach.h). Of its libc only the places of a thread's id and of errno are needed.
//
// Why from its file's symbols: nothing in its memory has names.
// Invariant: looking changes nothing. Anything uncertain is an error: then the program can be recorded by breakpoints.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "penna/detail/attach.h"
#include "reach/process/remote_libraries.h"

namespace penna {

struct StandaloneProgram {
  penna_standalone facts{};  // except `frames`, the address for `made_frames`
  std::map<std::string, CodePtr> functions;
  std::string
      made_frames;  // table of unwind information for a program without one, except for its address; may be empty
  std::vector<RemoteRange> unwinder;  // functions that run throughout the unwinding of a stack
  // Null if there is none.
  CodePtr function(const std::string& name) const {
    const auto found = functions.find(name);
    return found != functions.end() ? found->second : CodePtr();
  }
};

// Whether the program was not loaded by a dynamic linker.
bool is_standalone(const RemoteMemory& memory, const RemoteLibrary& program);

// Whether the standalone agent can be loaded into a program of this file. Empty: it can; else the reason, as text to
// follow "process N " or "./program ".
std::string why_no_standalone_agent(const std::string& file);

// The error is text to follow "process N ".
Result<StandaloneProgram> examine_standalone_program(pid_t pid, const RemoteMemory& memory,
                                                     const RemoteLibrary& program);

// The table for the address `at`, from which its distances count.
std::string frames_at(const StandaloneProgram& program, RemotePtr<char> at);

}  // namespace penna
