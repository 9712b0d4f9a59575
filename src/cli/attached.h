// SPDX-License-Identifier: MIT
// penna record -p: what the recorder does while the agent comes into a running process, and when it leaves.
//
// Invariant: the process goes on; what could not be put back is said.
#pragma once

#include <string>

#include "collect/server.h"
#include "reach/inject.h"

namespace penna {

// The process meets us, and asks us for plans, while whoever brings the agent in waits. Returns soon.
void serve_for_a_moment(Server& server);

// Leaves the process, and those that it has forked since. What became of them, as a sentence.
std::string give_back(const Inject& inject, Server& server);

}  // namespace penna
