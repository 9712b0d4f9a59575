// SPDX-License-Identifier: MIT
// What may be asked of a running process of the recording: points on or off, functions silenced (penna_control in
// penna/channel.h).
//
// Invariant: one request of a process at a time; the process goes on as it was, whatever comes of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "penna/channel.h"

namespace penna {

// PROVIDER:NAME with * and ?. Fails when it is too long.
Result<penna_control> points_request(bool on, const std::string& pattern);
// At most PENNA_CONTROL_FUNCTIONS functions.
penna_control silence_request(std::span<const uint64_t> functions);

// `perform` has the process do what is asked and gives its answer. Repeated for up to a second while a thread of the
// process is in dlopen or dlclose. An answer that means failure becomes an error.
Result<penna_control> ask_patiently(uint32_t pid, const std::function<Result<penna_control>()>& perform);

}  // namespace penna
