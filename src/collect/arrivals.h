// SPDX-License-Identifier: MIT
// Arrivals: processes of a recording that are on their way to the recorder, found in /proc.
//
// Why: the last recorded process may have ended while one that it started has not met the recorder yet. Waiting for a
// while would be too long or too short; the kernel shows who still has our variables in its environment, which the
// agent wipes when it starts, or has inherited the doorbell by fork without having met.
// Invariant: who is found is alive, may still meet, and has a descriptor that says when it has ended. Who cannot be
// looked at is not found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace penna {

// Descriptors of the processes (pidfd_open). `socket_path`: as in PENNA_SOCKET; `doorbell`: the recorder's. `is_known`:
// has this process met the recorder?
std::vector<Fd> find_arrivals(const std::string& socket_path, int doorbell,
                              const std::function<bool(uint32_t pid)>& is_known);

// Has this process the recorder's doorbell mapped? Only whom the recorder has let in has it, and who was forked by such
// a one.
bool shares_doorbell(uint32_t pid, int doorbell);

}  // namespace penna
