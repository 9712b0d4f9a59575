// SPDX-License-Identifier: MIT
#include "base/whole_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace penna {
namespace {

TEST(WholeNumber, IsTheWholeText) {
  EXPECT_EQ(17u, whole_number<uint32_t>("17"));
  EXPECT_EQ(-17, whole_number<int>("-17"));
  EXPECT_EQ(0x1fu, whole_number<uint64_t>("1f", 16));
  for (const char* text : {"", " 1", "1 ", "+1", "1a", "0x1", "1.0", "-"}) {
    EXPECT_FALSE(whole_number<int>(text)) << text;
    EXPECT_FALSE(whole_number<uint64_t>(text)) << text;
  }
  EXPECT_FALSE(whole_number<uint32_t>("-1"));
}

TEST(WholeNumber, Fits) {
  EXPECT_EQ(UINT32_MAX, whole_number<uint32_t>("4294967295"));
  EXPECT_FALSE(whole_number<uint32_t>("4294967296"));
  EXPECT_EQ(INT64_MIN, whole_number<int64_t>("-9223372036854775808"));
  EXPECT_FALSE(whole_number<int64_t>("9223372036854775808"));
}

}  // namespace
}  // namespace penna
