// SPDX-License-Identifier: MIT
// A program that is about to be started: can the agent be preloaded into it, and what must be loaded before it?
// Otherwise the dynamic linker would print an error among the program's output, refuse to start it, or leave the agent
// out; the reason is reported to the recorder.
//
// Not covered: what follows more than one "#!" line.
// Invariant: async-signal-safe, using only the caller's stack. A program that cannot be read is treated like this one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

struct ProgramToStart {
  penna_start_why why = PENNA_START_EXPECTED;
  bool is_there = true;       // false: no program will be started
  bool is_listed = false;     // its dynamic linker lists libraries, the agent among them, and starts nothing (ldd)
  bool may_be_held = false;   // no dynamic linker loads it, and nothing prevents tracing its exec
  const char* path = "";      // its path; for a descriptor, its name in /proc
  char runtime[128] = {};     // to be loaded before the agent; empty: nothing
  char path_found[512] = {};  // room for `path`

  // Whether its environment may contain our variables: it has the agent preloaded, or its children may.
  bool takes_variables() const {
    return !is_listed && (why == PENNA_START_EXPECTED || why == PENNA_START_STATIC || why == PENNA_START_NO_ROOM);
  }
  bool will_connect() const { return !is_listed && why == PENNA_START_EXPECTED; }
};

struct ExecWords {  // those of the new program
  char* const* arguments;
  char* const* environment;
};

// `path`: as for execve(); `name`: as for execvp(), which may search $PATH.
void look_at_program(const char* path, const ExecWords& words, ProgramToStart* program);
void look_at_program_by_name(const char* name, const ExecWords& words, ProgramToStart* program);
void look_at_program_by_descriptor(int fd, const ExecWords& words, ProgramToStart* program);

// Whether the agent's file can be read by `program`, which libc itself starts, or which was looked at before.
void look_for_agent(const char* agent, ProgramToStart* program);

}  // namespace penna::agent
