// SPDX-License-Identifier: MIT
// Requests to a running process of the recording: points on or off, functions silenced (penna_control in
// penna/channel.h).
//
// Invariant: one request per process at a time; whatever the outcome, the process continues as before.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "penna/channel.h"

namespace penna {

// `pattern`: PROVIDER:NAME with * and ?. Fails if it is too long.
Result<penna_control> points_request(bool on, const std::string& pattern);
// At most PENNA_CONTROL_FUNCTIONS functions.
penna_control silence_request(std::span<const uint64_t> functions);

// `perform` makes the process carry out the request and returns its answer. Repeated for up to a second while a thread
// of the process is in dlopen or dlclose. An answer that means failure becomes an error.
Result<penna_control> ask_patiently(uint32_t pid, const std::function<Result<penna_control>()>& perform);

}  // namespace penna
