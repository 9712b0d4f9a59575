// SPDX-License-Identifier: MIT
// Slowdown: how much slower recording made a process, computed from its end record.
//
// Why processor time: waiting and sleeping take no longer when recorded; computing does.
// Invariant: factor() is at least 1 and finite, whatever the file says.
#pragma once

#include <algorithm>

#include "recording/types.h"

namespace penna {

struct Slowdown {
  double cost_ns = 0;   // processor time that recording took, all threads together; 0: unknown
  double own_ns = 0;    // the rest of the processor time
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
  // Below this, times are close enough for most readers, and half of all recordings would carry the warning; costs are
  // known to 30 %, so a factor of two is always reported (docs/calls.md).
  bool is_much() const { return factor() >= 1.5; }
  bool is_of_calls() const { return calls_ns > cost_ns / 2; }

  static constexpr double kMostFactor =
      100;  // beyond that, what is left of the program is smaller than the measurement error
};

}  // namespace penna
