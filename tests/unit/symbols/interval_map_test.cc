// SPDX-License-Identifier: MIT
// IntervalMap against a linear search over all intervals.
#include "symbols/elf/interval_map.h"

#include <gtest/gtest.h>

#include <random>

namespace penna::interval_map_test {
namespace {

struct Interval {
  uint64_t begin, end;
};

// The rule of the header, taken literally: latest begin, then shortest, then largest value.
uint32_t expected(const std::vector<Interval>& intervals, uint64_t address) {
  uint32_t best = IntervalMap::kNone;
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    const Interval& it = intervals[i];
    if (address < it.begin || address >= it.end) continue;
    if (best == IntervalMap::kNone || it.begin > intervals[best].begin ||
        (it.begin == intervals[best].begin && it.end <= intervals[best].end)) {
      best = i;
    }
  }
  return best;
}

TEST(IntervalMap, EmptyFindsNothing) {
  IntervalMap map;
  map.add(10, 10, 1);
  map.add(20, 5, 2);
  map.finish();
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find(10), IntervalMap::kNone);
}

TEST(IntervalMap, InnermostOfNested) {
  IntervalMap map;
  map.add(0, 100, 0);
  map.add(20, 30, 1);
  map.add(22, 24, 2);
  map.add(100, UINT64_MAX, 3);
  map.finish();
  EXPECT_EQ(map.find(19), 0u);
  EXPECT_EQ(map.find(20), 1u);
  EXPECT_EQ(map.find(23), 2u);
  EXPECT_EQ(map.find(24), 1u);
  EXPECT_EQ(map.find(30), 0u);
  EXPECT_EQ(map.find(100), 3u);
  EXPECT_EQ(map.find(UINT64_MAX - 1), 3u);
  EXPECT_EQ(map.find(UINT64_MAX), IntervalMap::kNone);
}

TEST(IntervalMap, AgreesWithLinearSearch) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    IntervalMap map;
    std::vector<Interval> intervals(random() % 12);
    for (uint32_t i = 0; i < intervals.size(); ++i) {
      intervals[i].begin = random() % 40;
      intervals[i].end = intervals[i].begin + random() % 20;
      map.add(intervals[i].begin, intervals[i].end, i);
    }
    map.finish();
    for (uint64_t address = 0; address < 70; ++address) {
      ASSERT_EQ(map.find(address), expected(intervals, address)) << "round " << round << " address " << address;
    }
  }
}

}  // namespace
}  // namespace penna::interval_map_test
