// SPDX-License-Identifier: MIT
// See distribution.h.
#include "model/events/distribution.h"

#include <algorithm>
#include <cmath>

namespace penna {
namespace {
constexpr uint32_t kRow = 32;  // buckets added at a time
}

uint64_t Distribution::middle_of(uint32_t bucket) {
  if (bucket < (2u << kSubBits)) return bucket;
  // Of [m << shift, (m + 1) << shift) with 32 <= m < 64.
  const uint32_t shift = (bucket >> kSubBits) - 1;
  const uint64_t mantissa = (bucket & (kRow - 1)) + kRow;
  return (mantissa << shift) + ((uint64_t{1} << shift) >> 1);
}

// counts_ has no room for `bucket` yet.
void Distribution::make_room(uint32_t bucket) {
  const uint32_t row = bucket / kRow * kRow;
  if (counts_.empty()) first_ = row;
  if (row < first_) {
    counts_.insert(counts_.begin(), first_ - row, 0);
    first_ = row;
  }
  if (row - first_ >= counts_.size()) counts_.resize(row - first_ + kRow, 0);
}

void Distribution::merge(const Distribution& other) {
  if (other.count_ == 0) return;
  make_room(other.first_);
  make_room(other.first_ + static_cast<uint32_t>(other.counts_.size()) - 1);
  for (size_t i = 0; i < other.counts_.size(); ++i) counts_[other.first_ - first_ + i] += other.counts_[i];
  count_ += other.count_;
  if (__builtin_add_overflow(sum_, other.sum_, &sum_)) sum_ = UINT64_MAX;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

uint64_t Distribution::percentile(double share) const {
  if (count_ == 0) return 0;
  // Minus an epsilon: 0.07 * 100 is more than 7 in floating point.
  const double exact = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_) - 1e-6);
  const auto rank = static_cast<uint64_t>(std::max(exact, 1.0));
  uint64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(middle_of(first_ + static_cast<uint32_t>(i)), min_, max_);
  }
  return max_;
}

}  // namespace penna
