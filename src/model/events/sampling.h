// SPDX-License-Identifier: MIT
// record --sample-bytes: what a sampled block stands for.
//
// Each block of s bytes (0 counts as 1) was recorded with the probability p = 1 - exp(-s / mean), regardless of what
// came before it (agent/core/sampling.h). So each recorded block stands for 1 / p blocks and s / p bytes (Horvitz and
// Thompson, 1952): sums of these are unbiased, whatever is summed: a stack, a function, what is live.
// Invariant: the weight of a size never changes, so a free subtracts exactly what its block added.
#pragma once

#include <cstdint>

#include "recording/reader.h"

namespace penna {

struct SampleWeight {
  uint64_t blocks = 1, bytes = 0;  // rounded; for sizes near the mean, blocks are off by up to 0.5
};

class SampleScale {
 public:
  explicit SampleScale(uint64_t mean) : mean_(mean) {}
  explicit SampleScale(const Recording& recording);

  bool is_sampled() const { return mean_ != 0; }
  uint64_t mean() const { return mean_; }  // bytes; 0 = all blocks were recorded
  SampleWeight weigh(uint64_t size) const { return mean_ == 0 ? SampleWeight{1, size} : weigh_sample(size); }

 private:
  SampleWeight weigh_sample(uint64_t size) const;
  uint64_t mean_;
};

// record --sample-locks N: of acquisitions without waiting and without a stack one in N was recorded, and stands for N.
// 1: all were recorded.
uint64_t lock_sample(const Recording& recording);

// The relative standard error of a sum of bytes that `samples` recorded blocks stand for: 0.05 = 5 %. For blocks that
// are small compared to the mean; larger ones are known more exactly. 0 samples: 1.
double sampling_error(uint64_t samples);
// This many standard errors on each side hold in 19 cases of 20.
inline constexpr double kTwoSided95 = 1.96;

}  // namespace penna
