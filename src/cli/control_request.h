// SPDX-License-Identifier: MIT
// Asks a running process of the recording to change itself: points on or off, functions silenced (penna_control in penna/channel.h).
//
// Invariant: one request of a process at a time, all from one thread; the process goes on as it was, whatever comes of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "collect/control_page.h"

namespace penna {

// PROVIDER:NAME with * and ?. Fails when it is too long.
Result<penna_control> points_request(bool on, const std::string& pattern);
// At most PENNA_CONTROL_FUNCTIONS functions.
penna_control silence_request(std::span<const uint64_t> functions);

// The answer. Waits up to a second while a thread of the process is in dlopen or dlclose.
Result<penna_control> ask_process(uint32_t pid, ControlPage& page, const penna_control& request);

}  // namespace penna
