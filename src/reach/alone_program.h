// SPDX-License-Identifier: MIT
// AloneProgram: a running program that no dynamic linker has loaded, as far as an agent needs to know it that comes
// there alone (penna_alone in penna/detail/attach.h). Only its libc is known: where that has a thread's id, and errno.
//
// Why from its file's symbols: nothing in its memory tells names.
// Invariant: looking changes nothing. What is not surely so is an error: then breakpoints record it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "penna/detail/attach.h"
#include "reach/remote_libraries.h"

namespace penna {

struct AloneProgram {
  penna_alone told{};                         // but for `frames`, where `made_frames` go
  std::map<std::string, uint64_t> functions;  // run-time addresses
  std::string
      made_frames;  // a table of unwind information for a program that has none, but for its place; may be empty
  std::vector<RemoteRange> unwinder;  // functions that are called as long as a stack is unwound
  // 0: it has none.
  uint64_t function(const std::string& name) const {
    const auto found = functions.find(name);
    return found != functions.end() ? found->second : 0;
  }
};

// Is it a program that no dynamic linker has loaded?
bool is_alone(const RemoteMemory& memory, const RemoteLibrary& program);

// Can the agent come alone to a program of this file? Empty: it can; else why not, as words behind "process N " or
// "./program ".
std::string why_not_alone(const std::string& file);

// Error, as words behind "process N ".
Result<AloneProgram> look_at_alone_program(pid_t pid, const RemoteMemory& memory, const RemoteLibrary& program);

// Of the table that lies at `at`: the distances in it count from there.
std::string frames_at(const AloneProgram& program, uint64_t at);

}  // namespace penna
