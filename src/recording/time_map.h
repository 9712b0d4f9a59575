// SPDX-License-Identifier: MIT
// TimeMap: ticks to nanoseconds, piecewise linear between the clock triplets of a recording.
//
// Why piecewise: any stated rate of the TSC is off by parts in a million; over an hour that is milliseconds.
// Invariant: monotonic_ns() never decreases when ticks grow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recording/types.h"

namespace penna {

class TimeMap {
 public:
  TimeMap() = default;  // one tick = 1 ns
  // In any order; triplets on which ticks or monotonic time go backwards are left out. `ticks_per_second` (0 = unknown,
  // 1e9 is assumed) is used if there are fewer than two.
  TimeMap(std::span<const ClockTriplet> clocks, uint64_t ticks_per_second);

  // Nanoseconds of CLOCK_MONOTONIC and CLOCK_REALTIME; outside the triplets by the rate of the nearest piece. Ticks
  // from an untrusted record may be anything: the result is then clamped to +- 2^61.
  int64_t monotonic_ns(uint64_t ticks) const;
  int64_t realtime_ns(uint64_t ticks) const;
  // The length of the span from `begin` to `end`.
  int64_t duration_ns(uint64_t begin, uint64_t end) const { return monotonic_ns(end) - monotonic_ns(begin); }
  double ns_per_tick() const;  // over all
  // Of the last triplet, 0 without any: the recorder was running at least until then.
  uint64_t last_ticks() const { return pieces_.back().ticks; }

 private:
  struct Piece {
    uint64_t ticks;
    int64_t monotonic, realtime;
    double monotonic_rate, realtime_rate;  // ns per tick
  };
  const Piece& piece(uint64_t ticks) const;
  std::vector<Piece> pieces_{{0, 0, 0, 1.0, 1.0}};
  double rate_ = 1.0;
};

}  // namespace penna
