// SPDX-License-Identifier: MIT
// Which columns fit on a line.
#include "report/fit.h"

#include <gtest/gtest.h>

namespace penna::fit_test {
namespace {

FitColumn number(size_t width, Importance importance = Importance::kUsual) {
  return {width, SIZE_MAX, importance, false};
}
FitColumn name(size_t width, Importance importance = Importance::kMain) {
  return {width, kSmallestName, importance, true};
}

size_t line_width(const Fit& fit) {
  size_t width = 0;
  for (size_t i = 0; i < fit.widths.size(); ++i)
    if (fit.shown[i]) width += fit.widths[i] + (width != 0 ? kColumnGap : 0);
  return width;
}

using Shown = std::vector<bool>;
using Widths = std::vector<size_t>;

TEST(Fit, LeavesWhatHasRoomAsItIs) {
  const std::vector<FitColumn> columns = {number(10), number(8), name(40)};
  for (size_t width : {62, 100, 0}) {
    EXPECT_EQ(fit_columns(columns, width).shown, (Shown{true, true, true})) << width;
    EXPECT_EQ(fit_columns(columns, width).widths, (Widths{10, 8, 40})) << width;
  }
}

TEST(Fit, NothingIsTooNarrowForNoColumns) {
  EXPECT_TRUE(fit_columns({}, 80).shown.empty());
  EXPECT_TRUE(fit_columns({}, 80).widths.empty());
}

TEST(Fit, CutsNamesBeforeAColumnGoes) {
  const Fit fit = fit_columns({number(10), number(8), name(100)}, 80);
  EXPECT_EQ(fit.shown, (Shown{true, true, true}));
  EXPECT_EQ(fit.widths, (Widths{10, 8, 58}));
}

TEST(Fit, CutsTheWidestNameFirst) {
  EXPECT_EQ(fit_columns({name(100), name(40)}, 82).widths, (Widths{40, 40}));
  EXPECT_EQ(fit_columns({name(100), name(32)}, 82).widths, (Widths{48, 32}));
}

TEST(Fit, TheLeastImportantGoFirst) {
  const std::vector<FitColumn> columns = {number(10, Importance::kMain), number(10, Importance::kMinor), number(10),
                                          name(50)};
  EXPECT_EQ(fit_columns(columns, 66).shown, (Shown{true, true, true, true}));
  EXPECT_EQ(fit_columns(columns, 65).shown, (Shown{true, false, true, true}));
  EXPECT_EQ(fit_columns(columns, 53).shown, (Shown{true, false, false, true}));
  EXPECT_EQ(fit_columns(columns, 41).shown, (Shown{false, false, false, true}));
}

TEST(Fit, OfEquallyImportantOnesTheRightmostGoes) {
  const std::vector<FitColumn> columns = {number(10, Importance::kMain), number(10), number(10), name(30)};
  EXPECT_EQ(fit_columns(columns, 54).shown, (Shown{true, true, false, true}));
}

TEST(Fit, NamesKeepThirtyColumnsAsLongAsAnotherColumnCanGo) {
  const std::vector<FitColumn> columns = {number(12, Importance::kMain), number(12), number(12), number(12), name(200)};
  for (size_t width = kSmallestName; width < 300; ++width) {
    const Fit fit = fit_columns(columns, width);
    EXPECT_LE(line_width(fit), width);
    ASSERT_TRUE(fit.shown.back());
    EXPECT_GE(fit.widths.back(), kSmallestName) << width;
  }
}

TEST(Fit, AShortNameNeedsNoMoreThanItHas) {
  EXPECT_EQ(fit_columns({number(10, Importance::kMain), name(8)}, 20).widths, (Widths{10, 8}));
}

TEST(Fit, OneNameStaysAndHasTheWholeLine) {
  const Fit fit = fit_columns({number(10, Importance::kMain), name(50)}, 20);
  EXPECT_EQ(fit.shown, (Shown{false, true}));
  EXPECT_EQ(fit.widths[1], 20u);
}

// A minor name, such as the file of a function, may go as any other column.
TEST(Fit, TheMostImportantNameStays) {
  EXPECT_EQ(fit_columns({name(40, Importance::kMinor), number(9, Importance::kMain), name(40)}, 45).shown,
            (Shown{false, true, true}));
}

TEST(Fit, WithoutNamesTheFirstColumnStays) {
  EXPECT_EQ(fit_columns({number(10), number(10, Importance::kMain)}, 12).shown, (Shown{true, false}));
  EXPECT_EQ(fit_columns({number(30), number(10)}, 12).widths[0], 30u);  // it cannot be cut
}

TEST(Fit, ChosenColumnsStayWhateverTheirLinesTake) {
  const Fit fit = fit_columns({number(60, Importance::kMinor), number(30), name(100)}, 80, true);
  EXPECT_EQ(fit.shown, (Shown{true, true, true}));
  EXPECT_EQ(fit.widths, (Widths{60, 30, kSmallestName}));
}

}  // namespace
}  // namespace penna::fit_test
