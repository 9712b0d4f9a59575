// SPDX-License-Identifier: MIT
// Makes a running process of the recording carry out a penna_control request, on one of its own threads
// (reach/process/remote_call.h).
//
// Invariant: one request per process at a time; whatever the outcome, the process continues as before.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "collect/control_page.h"
#include "reach/process/remote_call.h"

namespace penna {

// Makes a thread of the process execute the code.
using CallIn = std::function<Result<>(pid_t pid, const RemoteCode& code)>;

// Returns the process's answer. Waits up to a second while a thread of the process is in dlopen or dlclose.
Result<penna_control> ask_process(uint32_t pid, ControlPage& page, const penna_control& request,
                                  const CallIn& call = call_in);

}  // namespace penna
