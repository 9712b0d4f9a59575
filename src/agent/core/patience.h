// SPDX-License-Identifier: MIT
// Waiting that has an end: where who is waited for may itself wait for something that this thread holds.
//
// Invariant: returns within about a second, whatever the others do.
#pragma once

#include <linux/time_types.h>

#include "agent/core/sys.h"

namespace penna::agent {

// Tries at once, then each half millisecond for a second. False: it never came true.
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
