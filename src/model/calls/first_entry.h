// SPDX-License-Identifier: MIT
// first_entry(): when a function is entered first, in any thread of a recording.
//
// Invariant: filters of calls change nothing of it; entries in chunks that cannot be read are not found.
#pragma once

#include <cstdint>
#include <functional>

#include "recording/reader.h"

namespace penna {

// `is_meant`: asked once for each function of a process, or oftener. Ticks; UINT64_MAX: none is entered.
uint64_t first_entry(const Recording& recording,
                     const std::function<bool(uint32_t process, uint64_t pc, uint64_t ticks)>& is_meant);

}  // namespace penna
