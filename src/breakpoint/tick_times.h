// SPDX-License-Identifier: MIT
// TickTimes: CLOCK_MONOTONIC, which BPF programs read, converted to ticks of penna_now(), by which events are recorded.
//
// Why not one rate: the kernel adjusts its clock all the time. Both clocks are read together now and then, and the line
// through the newest readings is continued.
// Invariant: conversions never run backwards: a new line begins where the old one had got to.
#pragma once

#include <cstdint>

namespace penna {

class TickTimes {
 public:
  struct Moment {
    uint64_t ns = 0, ticks = 0;
  };
  // The best of a few readings: the one that was interrupted least.
  static Moment now();

  // Some milliseconds apart.
  TickTimes(Moment earlier, Moment later) : first_(earlier), last_(later), line_(later) { set_rate(); }

  // Takes `seen` into account, if it is late enough to improve the rate.
  void look(Moment seen);
  // Of a time around the newest moment.
  uint64_t at(uint64_t ns) const;

 private:
  void set_rate();
  Moment first_, last_;  // the rate is taken between them
  Moment line_;          // where the line begins
  double ticks_per_ns_ = 1;
};

}  // namespace penna
