// SPDX-License-Identifier: MIT
// Programs that the agent cannot be preloaded into: of 32 bits, or with another libc. The dynamic linker would complain, among what the
// program prints, or not start it at all.
//
// Left out: what is behind more than one "#!" line.
// Invariant: async-signal-safe, in the space of the caller's stack. What cannot be read, is taken for a program like this one.
#pragma once

namespace penna::agent {

// `path`: as execve() takes it; `name`: as execvp() does, which may look for it in $PATH.
bool takes_agent(const char* path);
bool takes_agent_by_name(const char* name);
bool takes_agent_by_descriptor(int fd);

}  // namespace penna::agent
