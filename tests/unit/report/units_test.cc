// SPDX-License-Identifier: MIT
// Units: displayed values are right at every boundary.
#include "report/units.h"

#include <gtest/gtest.h>

namespace penna::units_test {
namespace {

TEST(Units, CountsAreGrouped) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(12345678), "12,345,678");
  EXPECT_EQ(count_text(-1234), "-1,234");
  EXPECT_EQ(count_text(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Units, BytesGrowThroughTheUnits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(1234567), "1.23 MB");
  EXPECT_EQ(bytes_text(12345678), "12.3 MB");
  EXPECT_EQ(bytes_text(999499), "999 kB");
  EXPECT_EQ(bytes_text(999600), "1.00 MB");  // not "1000 kB"
  EXPECT_EQ(bytes_text(INT64_MAX), "9.22 EB");
  EXPECT_EQ(bytes_text(-2048), "-2.05 kB");
}

TEST(Units, DurationsGrowThroughTheUnits) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(87), "87 ns");
  EXPECT_EQ(duration_text(1234), "1.23 us");
  EXPECT_EQ(duration_text(3'400'000), "3.40 ms");
  EXPECT_EQ(duration_text(12'300'000'000), "12.3 s");
  EXPECT_EQ(duration_text(250'000'000'000), "4 min 10 s");
  EXPECT_EQ(duration_text(100'000'000'000'000), "27 h 46 min");
  EXPECT_EQ(duration_text(-1500), "-1.50 us");
  EXPECT_FALSE(duration_text(INT64_MIN).empty());
}

TEST(Units, PercentagesNeverHideSomething) {
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(percent_text(0.001), "< 0.01 %");
  EXPECT_EQ(percent_text(0.04), "0.04 %");
  EXPECT_EQ(percent_text(12.34), "12.3 %");
  EXPECT_EQ(percent_text(100), "100.0 %");
}

TEST(Units, ChangesHaveASign) {
  EXPECT_EQ(change_text(3'400'000), "+3.40 ms");
  EXPECT_EQ(change_text(-1500), "-1.50 us");
  EXPECT_EQ(change_text(0), "0 ns");
  EXPECT_EQ(percent_change_text(12.34), "+12.3 %");
  EXPECT_EQ(percent_change_text(-250), "-250.0 %");
  EXPECT_EQ(percent_change_text(-0.001), "< 0.01 %");
  EXPECT_EQ(percent_change_text(0), "0 %");
}

TEST(Units, DurationsAsUsersWriteThem) {
  EXPECT_EQ(parse_duration("10us"), 10'000);
  EXPECT_EQ(parse_duration("1.5 ms"), 1'500'000);
  EXPECT_EQ(parse_duration("0s"), 0);
  EXPECT_EQ(parse_duration("2min"), 120'000'000'000);
  for (const char* wrong : {"", "10", "us", "-1us", "1e3us", "1 0us", "10 uss", "nanus", "99999999999999h", "1.2.3s"})
    EXPECT_EQ(parse_duration(wrong), std::nullopt) << wrong;
}

TEST(Units, BytesAsUsersWriteThem) {
  EXPECT_EQ(parse_bytes("64"), 64);
  EXPECT_EQ(parse_bytes("64 B"), 64);
  EXPECT_EQ(parse_bytes("1.5kB"), 1500);
  EXPECT_EQ(parse_bytes("4k"), 4096);
  EXPECT_EQ(parse_bytes("64MiB"), 64 << 20);
  EXPECT_EQ(parse_bytes("64m"), 64 << 20);
  EXPECT_EQ(parse_bytes("1g"), 1 << 30);
  for (const char* wrong : {"", "k", "-1", "4 q", "4kk", "99999999999TB"})
    EXPECT_EQ(parse_bytes(wrong), std::nullopt) << wrong;
}

TEST(Units, TimestampsHaveNineDigits) {
  EXPECT_EQ(timestamp_text(12'000'345'678), "12.000345678");
  EXPECT_EQ(timestamp_text(-5), "-0.000000005");
}

TEST(Units, Plurals) {
  EXPECT_EQ(plural_text(1, "thread"), "1 thread");
  EXPECT_EQ(plural_text(0, "thread"), "0 threads");
  EXPECT_EQ(plural_text(2, "entry", "entries"), "2 entries");
}

}  // namespace
}  // namespace penna::units_test
