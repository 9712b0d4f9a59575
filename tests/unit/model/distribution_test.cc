// SPDX-License-Identifier: MIT
// Distribution: exact where it promises to be, within 1.6 % elsewhere.
#include "model/events/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace penna::distribution_test {
namespace {

TEST(Distribution, IsZeroWhenEmpty) {
  Distribution empty;
  EXPECT_EQ(empty.count(), 0u);
  EXPECT_EQ(empty.min(), 0u);
  EXPECT_EQ(empty.max(), 0u);
  EXPECT_EQ(empty.percentile(0.5), 0u);
  EXPECT_EQ(empty.average(), 0.0);
}

TEST(Distribution, IsExactBelow64) {
  Distribution values;
  for (uint64_t i = 1; i <= 50; ++i) values.add(i);
  EXPECT_EQ(values.percentile(0.5), 25u);
  EXPECT_EQ(values.percentile(0.02), 1u);
  EXPECT_EQ(values.percentile(0.07 * 2), 7u);
  EXPECT_EQ(values.percentile(1.0), 50u);
  EXPECT_EQ(values.percentile(0.0), 1u);
  EXPECT_EQ(values.sum(), 1275u);
  EXPECT_EQ(values.average(), 25.5);
}

// Every percentile of values over the whole range of 64 bits, against the sorted values themselves.
TEST(Distribution, StaysWithinItsError) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> values;
  Distribution distribution;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(random() >> (random() % 64));
    distribution.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (int percent = 1; percent <= 100; ++percent) {
    const uint64_t exact = values[static_cast<size_t>(percent) * values.size() / 100 - 1];
    const uint64_t told = distribution.percentile(percent / 100.0);
    EXPECT_LE(std::abs(static_cast<double>(told) - static_cast<double>(exact)), static_cast<double>(exact) / 64.0)
        << percent;
  }
  EXPECT_EQ(distribution.min(), values.front());
  EXPECT_EQ(distribution.max(), values.back());
}

// The middle of the bucket would lie outside of what was seen.
TEST(Distribution, NeverLeavesTheRangeOfItsValues) {
  Distribution values;
  values.add(1000003);
  EXPECT_EQ(values.percentile(0.5), 1000003u);
  EXPECT_EQ(values.percentile(0.99), 1000003u);
}

TEST(Distribution, GrowsDownwardsToo) {
  Distribution values;
  values.add(uint64_t{1} << 40);
  values.add(3);
  values.add(5000);
  EXPECT_EQ(values.percentile(0.3), 3u);
  EXPECT_NEAR(static_cast<double>(values.percentile(0.6)), 5000, 5000 / 64.0);
  EXPECT_EQ(values.percentile(1), uint64_t{1} << 40);
}

TEST(Distribution, TakesTheLargestValueAndKeepsItsSumAtTheEnd) {
  Distribution values;
  values.add(UINT64_MAX);
  values.add(UINT64_MAX);
  values.add(0);
  EXPECT_EQ(values.sum(), UINT64_MAX);
  EXPECT_EQ(values.max(), UINT64_MAX);
  EXPECT_EQ(values.min(), 0u);
  EXPECT_EQ(values.percentile(0.1), 0u);
}

TEST(Distribution, MergedIsAsIfAddedTogether) {
  Distribution all, even, odd;
  for (uint64_t i = 0; i < 3000; ++i) {
    all.add(i * i);
    (i % 2 == 0 ? even : odd).add(i * i);
  }
  Distribution merged;
  merged.merge(odd);
  merged.merge(Distribution{});
  merged.merge(even);
  EXPECT_EQ(merged.count(), all.count());
  EXPECT_EQ(merged.sum(), all.sum());
  EXPECT_EQ(merged.min(), all.min());
  EXPECT_EQ(merged.max(), all.max());
  for (double share : {0.01, 0.5, 0.9, 0.999}) EXPECT_EQ(merged.percentile(share), all.percentile(share));
}

}  // namespace
}  // namespace penna::distribution_test
