// SPDX-License-Identifier: MIT
// Arrivals: processes that are about to connect to the recorder, found in /proc.
//
// Why: the last recorded process may have ended while a program that it started has not connected yet. Any fixed
// waiting time would be too long or too short. /proc shows which processes still have our variables in their
// environment (the agent wipes them when it has started), or have inherited the doorbell by fork and not connected yet.
// Invariant: a process that is found is alive, may still connect, and has a descriptor that shows when it ends.
// Processes that cannot be inspected are not found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace penna {

// Returns pidfds of these processes. `socket_path`: as in PENNA_SOCKET; `doorbell`: the recorder's. `is_known`: whether
// a process has connected already.
std::vector<Fd> find_arrivals(const std::string& socket_path, int doorbell,
                              const std::function<bool(uint32_t pid)>& is_known);

// Whether this process has the recorder's doorbell mapped: it was admitted by the recorder, or forked by such a
// process.
bool shares_doorbell(uint32_t pid, int doorbell);

}  // namespace penna
