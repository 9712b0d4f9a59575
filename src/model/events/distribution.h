// SPDX-License-Identifier: MIT
// Distribution: count, sum, minimum, maximum and percentiles of durations or sizes, in little memory.
//
// Buckets like HdrHistogram's (http://hdrhistogram.org): each power of two is divided into 32 equal ones, so the middle
// of a bucket is at most 1/64 = 1.6 % off any value in it; values below 64 are exact.
// Invariant: memory depends on the powers of two between the smallest and the largest value: 256 bytes each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace penna {

class Distribution {
 public:
  void add(uint64_t value) {
    ++count_;
    if (__builtin_add_overflow(sum_, value, &sum_)) sum_ = UINT64_MAX;
    place(value, 1);
  }
  // Adds a value `times` times.
  void add(uint64_t value, uint64_t times) {
    uint64_t all;
    if (__builtin_mul_overflow(value, times, &all) || __builtin_add_overflow(sum_, all, &sum_)) sum_ = UINT64_MAX;
    count_ += times;
    place(value, times);
  }
  void merge(const Distribution& other);

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }  // saturates at 2^64 - 1
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double average() const { return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  // The smallest recorded value that at least `share` (0..1) of all values do not exceed, within 1.6 %. 0 when empty.
  uint64_t percentile(double share) const;
  // visit(value, count): the recorded values, rising, within 1.6 %.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0) visit(std::clamp(middle_of(first_ + static_cast<uint32_t>(i)), min_, max_), counts_[i]);
  }

 private:
  void place(uint64_t value, uint64_t times) {
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    const uint32_t bucket = bucket_of(value);
    if (bucket - first_ >= counts_.size()) make_room(bucket);  // wraps below first_
    counts_[bucket - first_] += times;
  }
  static constexpr uint32_t kSubBits = 5;
  // Values below 2^(kSubBits + 1) have one bucket each.
  static uint32_t bucket_of(uint64_t value) {
    // No branch on small values: it would be unpredictable.
    const uint32_t shift = 63 - kSubBits - static_cast<uint32_t>(__builtin_clzll(value | 1u << kSubBits));
    return (shift << kSubBits) + static_cast<uint32_t>(value >> shift);
  }
  static uint64_t middle_of(uint32_t bucket);
  void make_room(uint32_t bucket);

  uint64_t count_ = 0, sum_ = 0, min_ = UINT64_MAX, max_ = 0;
  uint32_t first_ = 0;            // bucket of counts_[0], a multiple of 32
  std::vector<uint64_t> counts_;  // a multiple of 32
};

}  // namespace penna
