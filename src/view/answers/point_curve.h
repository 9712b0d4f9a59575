// SPDX-License-Identifier: MIT
// PointCurve: the values of one argument of a point over the whole run, for a curve in the timeline.
//
// Invariant: a step's value is the largest of the argument in it, or the last one; a step before the first hit has
// none. The counts of all steps add up to the hits with a number.
// Memory: Counters::kSteps, however many hits there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/events/events.h"
#include "model/names/names.h"
#include "view/tracks/track_answers.h"

namespace penna {

class PointCurve {
 public:
  // `begin`: ticks of the recording's first event; `length`: nanoseconds from there.
  PointCurve(const Recording& recording, Names& names, const std::string& point, const std::string& argument,
             uint64_t begin, int64_t length);

  // Columns (docs/view-protocol.md).
  std::string answer(const PixelView& view) const;
  uint64_t values() const { return values_; }

 private:
  struct Step {
    double most = 0, last = 0;
    int64_t last_time = -1;
    uint32_t count = 0;
  };
  void add(int64_t time, double value);
  size_t step_of(int64_t time) const;

  int64_t step_ns_;
  std::vector<Step> steps_;
  uint64_t values_ = 0;
};

}  // namespace penna
