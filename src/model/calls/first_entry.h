// SPDX-License-Identifier: MIT
// first_entry(): when a function is first entered, in any thread of a recording.
//
// Invariant: call filters do not affect it; entries in unreadable chunks are not found.
#pragma once

#include <cstdint>
#include <functional>

#include "recording/reader.h"

namespace penna {

// `is_meant`: asked at least once for each function of a process. Returns ticks; UINT64_MAX: none is entered.
uint64_t first_entry(const Recording& recording,
                     const std::function<bool(uint32_t process, uint64_t pc, uint64_t ticks)>& is_meant);

}  // namespace penna
