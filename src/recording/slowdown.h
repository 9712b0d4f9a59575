// SPDX-License-Identifier: MIT
// Slowdown: how much slower recording made a process, from what its end tells.
//
// Why processor time: what a program waits for, or sleeps, is not longer because it is recorded; what it computes is.
// Invariant: factor() is at least 1 and finite, whatever the file says.
#pragma once

#include <algorithm>

#include "recording/types.h"

namespace penna {

struct Slowdown {
  double cost_ns = 0;   // what recording took, all threads together; 0: not known
  double own_ns = 0;    // and the rest of its processor time
  double calls_ns = 0;  // of cost_ns
  uint64_t calls = 0;   // entries and exits

  Slowdown() = default;
  explicit Slowdown(const ProcessEnd& end) {
    if (end.cpu_ns == 0) return;
    for (const EventCost& cost : end.costs)
      cost_ns += static_cast<double>(cost.events) * static_cast<double>(cost.ps) / 1000;
    calls = end.costs[PENNA_CALLS].events;
    calls_ns = static_cast<double>(calls) * static_cast<double>(end.costs[PENNA_CALLS].ps) / 1000;
    const auto used = static_cast<double>(end.cpu_ns);
    own_ns = std::max(used - cost_ns, used / kMostFactor);
  }

  double factor() const { return own_ns <= 0 ? 1 : std::clamp((own_ns + cost_ns) / own_ns, 1.0, kMostFactor); }
  // Below, times are what they would be as far as most readers care, and half of all recordings would say so; costs are
  // known to 30 %, so what is twice as slow is always told (docs/calls.md).
  bool is_much() const { return factor() >= 1.5; }
  bool is_of_calls() const { return calls_ns > cost_ns / 2; }

  static constexpr double kMostFactor =
      100;  // what is left of the program is smaller than the error of the measurement
};

}  // namespace penna
