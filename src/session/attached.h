// SPDX-License-Identifier: MIT
// The recorder's work while a carrier attaches to a process, and its message when it leaves.
#pragma once

#include <string>

#include "collect/server.h"
#include "reach/carrier.h"

namespace penna {

// The process connects and asks for plans while the carrier waits. Returns soon; at once when `also` is readable.
void serve_for_a_moment(Server& server, int also);

// The result for processes that keep running, as a sentence.
std::string restored_text(const Restored& restored);

}  // namespace penna
