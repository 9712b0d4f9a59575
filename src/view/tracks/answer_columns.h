// SPDX-License-Identifier: MIT
// The columns of the timeline's answers (docs/view-protocol.md) under construction: of slices, waits and points.
//
// Why separate: tracks in memory and the index each find the shown spans in their own way. Invariant: columns of one
// answer that belong together have the same length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view/tracks/tracks.h"

namespace penna {

class SlicesMade {
 public:
  void add_slice(int64_t start, int64_t duration, uint32_t depth, uint32_t name, uint8_t flags);
  // `name`: 0 if unknown.
  void add_density(uint32_t depth, uint32_t pixel, int64_t time, uint64_t count, uint32_t name);
  // `names`: the current number of names (NameIds::size()), here and below.
  std::string text(uint32_t depths, uint32_t pixels, uint64_t left_out, uint32_t names) const;

 private:
  std::vector<double> start_, duration_, d_time_;
  std::vector<uint32_t> depth_, name_, d_depth_, d_pixel_, d_count_, d_name_;
  std::vector<uint8_t> flags_;
};

// `count`: how many are shown as one.
class WaitColumns {
 public:
  void add_wait(const TrackWait& wait, uint64_t count);
  void add_hold(const TrackHold& hold, uint64_t count);
  std::string text(uint32_t names) const;

 private:
  std::vector<double> start_, duration_, h_start_, h_duration_;
  std::vector<uint32_t> lock_, count_, h_lock_, h_count_;
  std::vector<uint8_t> kind_;
  std::vector<int32_t> holder_;
};

class PointsMade {
 public:
  void add(const TrackPoint& point, uint64_t count);
  void join(const TrackPoint& point);  // into the last one
  std::string text(uint32_t names) const;

 private:
  std::vector<double> time_;
  std::vector<uint32_t> name_, count_, text_;
};

}  // namespace penna
