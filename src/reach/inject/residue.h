// SPDX-License-Identifier: MIT
// Residue: what an earlier recording has left in a process that it was attached to: the agent, which does nothing, and
// the guest's memory; if its recorder was killed, also its changes.
//
// Why it is reused: a loaded library cannot be removed, and each new copy would take some of the scarce room for
// thread-local variables.
// Invariant: the agent restarts as if it had just been loaded: its variables, per process and per thread, have the
// file's values, except those that a thread may still return to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reach/inject/journal.h"
#include "reach/inject/target.h"
#include "reach/process/remote_libraries.h"

namespace penna {

struct Residue {
  RemoteLibrary agent;
  CodePtr attach;                                        // penna_agent_attach
  RemotePtr<RemotePtr<penna_attachment>> attachment_at;  // penna_agent_attachment
  RemotePtr<penna_attachment> attachment;                // stored there; null: it was loaded, and never used
};
std::optional<Residue> find_residue(const Target& target);

// It was loaded under a descriptor's name, which debuggers, and profilers in the process, would take for one of their
// own descriptors and read: gives it its real name.
void name_agent(pid_t pid, const RemoteMemory& memory, const std::string& agent);

// Undoes the changes left by a killed recorder, and resets the agent to its state when loaded. `agent`: path of ours,
// which must be the same. `tls_offset_at`: GuestNeeds. The error is a sentence.
Result<> renew(pid_t pid, const RemoteMemory& memory, const Residue& residue, const Journal& journal,
               const std::string& agent, uint32_t tls_offset_at);

}  // namespace penna
