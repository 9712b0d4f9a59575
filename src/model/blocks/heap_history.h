// SPDX-License-Identifier: MIT
// HeapHistory: how much was live when, over all processes together, in a fixed number of points.
//
// Usage: as AllocationOptions::observer.
// Invariant: a point's most_bytes is the largest sum within its time, so no peak is missed, however short.
// Memory: kPoints, regardless of the recording's length.
#pragma once

#include <vector>

#include "model/blocks/allocations.h"

namespace penna {

struct HeapPoint {
  uint64_t time = 0;                         // ticks: where it begins
  uint64_t most_bytes = 0, most_blocks = 0;  // at the moment with the most bytes
  uint64_t least_bytes = 0;
  uint64_t end_bytes = 0, end_blocks = 0;  // when it ends
};

class HeapHistory : public AllocationObserver {
 public:
  static constexpr size_t kPoints = 2000;

  // From `begin` to `end`, in ticks; what happens outside counts towards the nearest point.
  HeapHistory(uint64_t begin, uint64_t end, size_t processes);

  void on_live(uint32_t process, uint64_t time, uint64_t bytes, uint64_t blocks) override;

  // `count` of them, 1 to kPoints, equally long up to a tick of rounding.
  std::vector<HeapPoint> points(size_t count) const;
  uint64_t peak_bytes() const { return peak_bytes_; }
  uint64_t peak_blocks() const { return peak_blocks_; }
  uint64_t peak_time() const { return peak_time_; }  // ticks
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return begin_ + ticks_; }

 private:
  struct Live {
    uint64_t bytes = 0, blocks = 0;
  };
  uint64_t begin_, ticks_;
  std::vector<Live> processes_;
  Live now_;
  size_t at_ = 0;  // of points_: the last one filled
  std::vector<HeapPoint> points_;
  uint64_t peak_bytes_ = 0, peak_blocks_ = 0, peak_time_ = 0;
};

}  // namespace penna
