// SPDX-License-Identifier: MIT
// One clock's times converted to the other's: exact on the line, and never backwards when the line changes.
#include "breakpoint/tick_times.h"

#include <gtest/gtest.h>

namespace penna {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(TickTimes, ConvertsOnTheLine) {
  const TickTimes times({1000, 5000}, {2000, 8000});
  EXPECT_EQ(times.at(2000), 8000u);
  EXPECT_EQ(times.at(3000), 11000u);
  EXPECT_EQ(times.at(1000), 5000u);
}

TEST(TickTimes, FollowsAClockThatIsAdjusted) {
  TickTimes times({0, 0}, {kSecond, 3 * kSecond});
  times.look({2 * kSecond, 6 * kSecond + 3000});
  times.look({3 * kSecond, 9 * kSecond + 6000});
  EXPECT_EQ(times.at(3 * kSecond), 9 * kSecond + 6000);
  EXPECT_NEAR(static_cast<double>(times.at(4 * kSecond)), 12e9 + 9000, 10);
}

TEST(TickTimes, NeverRunsBackwards) {
  TickTimes times({0, 0}, {kSecond, 3 * kSecond});
  const uint64_t before = times.at(2 * kSecond);
  times.look({2 * kSecond, 6 * kSecond - 5000});
  EXPECT_GE(times.at(2 * kSecond), before);
  EXPECT_GT(times.at(2 * kSecond + 1000), before);
}

// A rate from moments that are close together would be a bad one.
TEST(TickTimes, TakesNoMomentTooSoon) {
  TickTimes times({0, 0}, {kSecond, 3 * kSecond});
  times.look({kSecond + 10, 3 * kSecond + 9000});
  EXPECT_EQ(times.at(kSecond), 3 * kSecond);
}

TEST(TickTimes, ReadsBothClocks) {
  const TickTimes::Moment one = TickTimes::now(), two = TickTimes::now();
  EXPECT_GE(two.ns, one.ns);
  EXPECT_GE(two.ticks, one.ticks);
}

}  // namespace
}  // namespace penna
