// SPDX-License-Identifier: MIT
// The calls of two recordings side by side, word for word.
#include "report/calls/diff_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/print.h"

namespace penna::diff_test {
namespace {

CallsByName side(std::map<std::string, NamedCalls> functions) {
  CallsByName side{std::move(functions), 0, 0};
  for (const auto& [name, one] : side.functions) {
    side.calls += one.calls;
    side.self_ns += one.self_ns;
  }
  return side;
}

std::string text(const Report& report, bool color = false) {
  std::string result;
  print_report(report, {color, 0}, [&](std::string_view piece) {
    result += piece;
    return true;
  });
  return result;
}

const CallsByName kBefore = side({{"main", {1, 1'000'000, 100'000}},
                                  {"same", {10, 500'000, 500'000}},
                                  {"noise", {7, 100'000, 100'000}},
                                  {"gone", {3, 300'000, 300'000}}});
const CallsByName kAfter = side({{"main", {1, 2'000'000, 100'000}},
                                 {"same", {20, 500'000, 500'000}},
                                 {"noise", {7, 100'900, 100'900}},
                                 {"added", {5, 1'299'100, 1'299'100}}});

TEST(Diff, WhatChangedMostComesFirst) {
  EXPECT_EQ(text(diff_report(kBefore, kAfter, {})), R"(A: 21 calls of 4 functions, 1.00 ms
B: 33 calls of 4 functions, 2.00 ms
1 function has as many calls in both and changed by less than 1.0 %

sorted by DELTA, the change of the time with what they called
CALLS A  CALLS B  TOTAL A  TOTAL B     DELTA      OF A  SELF DELTA  FUNCTION
      -        5        -  1.30 ms  +1.30 ms         -    +1.30 ms  added
      1        1  1.00 ms  2.00 ms  +1.00 ms  +100.0 %        0 ns  main
      3        -   300 us        -   -300 us  -100.0 %     -300 us  gone
      7        7   100 us   101 us   +900 ns   +0.90 %     +900 ns  noise
     10       20   500 us   500 us      0 ns       0 %        0 ns  same
)");
}

TEST(Diff, NoiseIsGrey) {
  const auto quiet = [](const QuietLimit& limit) {
    std::vector<std::string> names;
    const Report report = diff_report(kBefore, kAfter, limit);
    for (const TableRow& row : report.tables[0].rows)
      if (row.is_quiet) names.push_back(std::get<std::string>(row.cells.back()));
    return names;
  };
  EXPECT_THAT(quiet({}), testing::ElementsAre("noise"));
  EXPECT_THAT(quiet({0, 0}), testing::ElementsAre());
  EXPECT_THAT(quiet({0, 1'000'000}), testing::ElementsAre("gone", "noise", "same"));
  EXPECT_THAT(text(diff_report(kBefore, kAfter, {}), true), testing::HasSubstr("\x1b[2mnoise\x1b[0m"));
}

TEST(Diff, SumsStayAtTheirLimit) {
  const CallsByName huge = side({{"main", {UINT64_MAX, INT64_MAX, INT64_MAX}}});
  EXPECT_FALSE(text(diff_report(huge, side({}), {})).empty());
  EXPECT_FALSE(text(diff_report(side({}), huge, {})).empty());
}

}  // namespace
}  // namespace penna::diff_test
