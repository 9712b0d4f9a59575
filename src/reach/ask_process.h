// SPDX-License-Identifier: MIT
// Has a running process of the recording do what a penna_control asks: by one of its own threads, which is led there
// (reach/remote_call.h).
//
// Invariant: one request of a process at a time; the process goes on as it was, whatever comes of it.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "collect/control_page.h"

namespace penna {

// The answer. Waits up to a second while a thread of the process is in dlopen or dlclose.
Result<penna_control> ask_process(uint32_t pid, ControlPage& page, const penna_control& request);

}  // namespace penna
