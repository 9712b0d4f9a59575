// SPDX-License-Identifier: MIT
// Residue: what an earlier recording has left in a process that it was attached to: the
// agent, which does nothing, and the guest's memory; if its recorder was killed, also what it had changed.
//
// Why it is used again: a library that has come cannot go, and each new copy would take some of the little room that
// there is for thread-local variables.
// Invariant: the agent begins anew as if it had just been loaded: its variables, of the process and of each thread, are
// what its file says, but for what a thread may still come back to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reach/journal.h"
#include "reach/remote_libraries.h"
#include "reach/target.h"

namespace penna {

struct Residue {
  RemoteLibrary agent;
  uint64_t attach = 0;         // penna_agent_attach
  uint64_t attachment_at = 0;  // penna_agent_attachment
  uint64_t attachment = 0;     // what that holds; 0: it was loaded, and never used
};
std::optional<Residue> find_residue(const Target& target);

// The bytes of the agent's file that are loaded: a third of it, without what is there for debuggers. `agent`: its path.
Result<std::string> loaded_part(const std::string& agent);

// The name that it was loaded by is of a descriptor, which debuggers, and profilers in the process, would take for one
// of their own and read: from here on it has its real one.
void name_agent(pid_t pid, const RemoteMemory& memory, const std::string& agent);

// Gives back what a killed recorder has left changed, and makes the agent as it was when it was loaded. `agent`: path
// of ours, which must be the same. `tls_offset_at`: GuestNeeds. Error, as a sentence.
Result<> renew(pid_t pid, const RemoteMemory& memory, const Residue& residue, const Journal& journal,
               const std::string& agent, uint32_t tls_offset_at);

}  // namespace penna
