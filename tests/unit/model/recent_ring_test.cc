// SPDX-License-Identifier: MIT
// RecentRing: keeps the last elements in order, up to its limit.
#include "model/events/recent_ring.h"

#include <gtest/gtest.h>

namespace penna::recent_ring_test {
namespace {

std::vector<int> all(const RecentRing<int>& ring) {
  std::vector<int> values;
  for (size_t i = 0; i < ring.size(); ++i) values.push_back(ring[i]);
  return values;
}

TEST(RecentRing, KeepsNothingUntilSomebodyAsks) {
  RecentRing<int> ring;
  ring.add(1);
  EXPECT_EQ(ring.size(), 0U);
  ring.begin(2);
  ring.begin(3);
  ring.add(4);
  EXPECT_EQ(all(ring), (std::vector<int>{2, 4}));
}

TEST(RecentRing, KeepsTheLastAndGrowsInTheirOrder) {
  RecentRing<int> ring;
  ring.begin(0);
  int next = 1;
  while (!ring.is_full()) ring.add(next++);
  const size_t least = ring.size();
  for (int i = 0; i < 5; ++i) ring.add(next++);
  EXPECT_EQ(ring.size(), least);
  EXPECT_EQ(ring[0], 5);
  ring.grow();
  EXPECT_FALSE(ring.is_full());
  ring.add(next++);
  ASSERT_EQ(ring.size(), least + 1);
  for (size_t i = 0; i < ring.size(); ++i) EXPECT_EQ(ring[i], 5 + static_cast<int>(i));
}

TEST(RecentRing, HasALimit) {
  RecentRing<int> ring;
  ring.begin(0);
  for (int i = 0; i < 20; ++i) ring.grow();
  for (int i = 1; i < 5000; ++i) ring.add(i);
  EXPECT_EQ(ring.size(), 1024U);
  EXPECT_EQ(ring[1023], 4999);
}

}  // namespace
}  // namespace penna::recent_ring_test
