// SPDX-License-Identifier: MIT
// What the recorder does while a carrier brings a process to it, and what it says when it leaves.
#pragma once

#include <string>

#include "collect/server.h"
#include "reach/carrier.h"

namespace penna {

// The process meets us, and asks us for plans, while whoever brings the agent in waits. Returns soon.
void serve_for_a_moment(Server& server);

// What became of the processes that go on, as a sentence.
std::string restored_text(const Restored& restored);

}  // namespace penna
