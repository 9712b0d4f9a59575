// SPDX-License-Identifier: MIT
// KindSwitches: when a kind of event was switched off and on again while it was recorded (penna ctl PID off -k calls).
//
// What begins while its kind is off is left out, as a whole; what had begun before is kept to its end. So an allocation
// is left out, the free of an earlier one is not, and no block looks leaked for that reason.
// Invariant: times only grow. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "recording/records.h"

namespace penna {

class KindSwitches {
 public:
  // From `ticks` on. False: it was so already.
  bool add(uint32_t event_class, bool on, uint64_t ticks) {
    std::vector<uint64_t>& times = times_[event_class];
    if (on == (times.size() % 2 == 0)) return false;
    times.push_back(times.empty() ? ticks : std::max(ticks, times.back()));
    return true;
  }

  bool any() const {
    return std::any_of(times_.begin(), times_.end(), [](const auto& times) { return !times.empty(); });
  }
  bool any(uint32_t event_class) const { return !times_[event_class].empty(); }
  bool is_off(uint32_t event_class, uint64_t ticks) const {
    const std::vector<uint64_t>& times = times_[event_class];
    return (std::upper_bound(times.begin(), times.end(), ticks) - times.begin()) % 2 != 0;
  }
  // Whether a record is left out. Calls are decided where they are paired (CallSieve), points are switched in the
  // program.
  bool leaves_out(const Record& record) const;

 private:
  std::array<std::vector<uint64_t>, PENNA_CLASS_COUNT> times_;  // off, on, off...
};

}  // namespace penna
