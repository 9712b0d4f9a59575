// SPDX-License-Identifier: MIT
// PointFilter: takes the points of one process that do not meet the conditions of `penna record --where` out of its chunks.
//
// Why here and not in the target: a condition costs nothing there, and may be as long as it likes.
// Invariant: what is taken out becomes a PAD of the same size, and is counted; every other byte stays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "recording/point_selection.h"

namespace penna {

class PointFilter {
 public:
  explicit PointFilter(std::shared_ptr<const std::vector<Where>> conditions) : selection_(std::move(conditions)) {}

  // Learns the sites that a chunk describes.
  void learn(std::span<const uint8_t> chunk);
  // `chunk`: copied, and not to be seen again. `look_elsewhere` shall learn() what else there is: called when a point's site
  // is unknown, because the thread that has described it still holds that chunk.
  void apply(std::span<uint8_t> chunk, const std::function<void()>& look_elsewhere);

  uint64_t left_out() const { return left_out_; }
  uint64_t sites_met() const { return selection_.sites_met(); }

 private:
  PointSelection selection_;
  std::unordered_set<uint32_t> nowhere_;  // ids of sites that were looked for in vain
  uint64_t left_out_ = 0;
};

}  // namespace penna
