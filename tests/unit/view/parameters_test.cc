// SPDX-License-Identifier: MIT
// Untrusted text after the ?.
#include "view/server/parameters.h"

#include <gtest/gtest.h>

namespace penna::parameters_test {
namespace {

TEST(Parameters, ANumberIsWithinItsBounds) {
  const HttpParameters given = {{"px", "640"}};
  Parameters in(given);
  EXPECT_EQ(in.number("px", 1, 1, 10'000), 640);
  EXPECT_EQ(in.number("t0", 17, 0, 100), 17);
  EXPECT_FALSE(in.error());
}

TEST(Parameters, WhatIsNoneIsRefusedInASentence) {
  for (const char* text : {"", "-1", "10001", "1e3", "0x10", " 5", "5 ", "99999999999999999999999", "5\n", "+5"}) {
    const HttpParameters given = {{"px", text}};
    Parameters in(given);
    EXPECT_EQ(in.number("px", 1, 1, 10'000), 1) << text;
    EXPECT_EQ(in.error(), "px is a whole number from 1 to 10000") << text;
  }
}

TEST(Parameters, TheFirstTroubleIsTold) {
  const HttpParameters given = {{"q", std::string(11, 'x')}, {"px", "no"}};
  Parameters in(given);
  EXPECT_EQ(in.text("q", 10), "");
  in.number("px", 1, 1, 2);
  EXPECT_EQ(in.error(), "q has more than 10 bytes");
}

}  // namespace
}  // namespace penna::parameters_test
