// SPDX-License-Identifier: MIT
// Bounded waiting, for cases where the other side may itself wait for something that this thread holds.
//
// Invariant: returns within about a second, whatever the others do.
#pragma once

#include <linux/time_types.h>

#include "agent/core/sys.h"

namespace penna::agent {

// Tries at once, then every half millisecond for a second. False: it never succeeded.
template <typename Try>
bool within_a_second(Try&& try_it) {
  constexpr int kTries = 2000;
  const __kernel_timespec half_a_millisecond{0, 500'000};
  for (int i = 0; !try_it(); ++i) {
    if (i == kTries) return false;
    sys(SYS_nanosleep, reinterpret_cast<long>(&half_a_millisecond));
  }
  return true;
}

}  // namespace penna::agent
