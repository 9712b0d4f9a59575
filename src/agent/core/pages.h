// SPDX-License-Identifier: MIT
// The page size, and rounding to it.
#pragma once

#include <stdint.h>

#include "penna/detail/patch.h"

namespace penna::agent {

inline constexpr uint64_t kPageBytes = PENNA_PAGE_BYTES;
constexpr uint64_t page_down(uint64_t at) { return at & ~(kPageBytes - 1); }
constexpr uint64_t page_up(uint64_t at) { return page_down(at + kPageBytes - 1); }

}  // namespace penna::agent
