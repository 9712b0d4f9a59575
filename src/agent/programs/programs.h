// SPDX-License-Identifier: MIT
// A program that is about to be started: can the agent be preloaded into it, and what must come before? Where it
// cannot, the dynamic linker would complain, among what the program prints, or not start it at all, or leave the agent
// out; why is told to the recorder.
//
// Left out: what is behind more than one "#!" line.
// Invariant: async-signal-safe, in the space of the caller's stack. What cannot be read, is taken for a program like
// this one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

struct ProgramToStart {
  penna_start_why why = PENNA_START_EXPECTED;
  bool is_there = true;       // false: no program will be started
  const char* path = "";      // where it lies; of a descriptor what /proc calls it
  char runtime[128] = {};     // what is to be loaded before the agent; empty: nothing
  char path_found[512] = {};  // room for `path`

  // Our variables may be in its environment: it has the agent preloaded, or its children may.
  bool takes_variables() const {
    return why == PENNA_START_EXPECTED || why == PENNA_START_STATIC || why == PENNA_START_NO_ROOM;
  }
};

// `path`: as execve() takes it; `name`: as execvp() does, which may look for it in $PATH. `environment`: what it is
// started with.
void look_at_program(const char* path, char* const* environment, ProgramToStart* program);
void look_at_program_by_name(const char* name, char* const* environment, ProgramToStart* program);
void look_at_program_by_descriptor(int fd, char* const* environment, ProgramToStart* program);

// Where `program` is started by libc itself, or is the one whose file has been looked at: can the agent's file be read
// there?
void look_for_agent(const char* agent, ProgramToStart* program);

}  // namespace penna::agent
