// SPDX-License-Identifier: MIT
// WalkResult: what a walk has found.
#pragma once

#include <cstdint>

#include "unwind/thread_memory.h"

namespace penna::unwind {

struct WalkResult {
  uint32_t node = 0;   // of the innermost frame; 0 = none (see end)
  uint32_t depth = 0;  // frames from `node` to the outermost one, markers not counted
  uint32_t fresh = 0;  // of these, how many were walked and interned now
  End end = End::complete;
  uint8_t guessed = 0;  // steps without CFI, by a frame pointer that looked right; at most 255
};

}  // namespace penna::unwind
