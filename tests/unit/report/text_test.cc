// SPDX-License-Identifier: MIT
// Untrusted text: escape sequences and broken UTF-8 never reach a terminal.
#include "report/text.h"

#include <gtest/gtest.h>

namespace penna::text_test {
namespace {

TEST(Text, WidthCountsColumns) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("漢字"), 4u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);  // e and a combining accent
}

TEST(Text, LongNamesLoseTheirMiddle) {
  EXPECT_EQ(cut_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(cut_middle("abcdefghijk", 10), "abcd...ijk");
  EXPECT_EQ(cut_middle("abcdefghijk", 4), "abcd");
  EXPECT_EQ(cut_middle("abcdefghijk", 0), "");
  EXPECT_EQ(cut_middle("漢字漢字漢字", 9), "漢...字");  // a wide character is never halved
  for (size_t width = 0; width < 30; ++width) {
    EXPECT_LE(display_width(cut_middle("größe::漢字漢字::method(int, long)", width)), width);
  }
}

TEST(Text, IsWrappedAtSpacesElseWithinWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("", 10), Lines{""});
  EXPECT_EQ(wrapped("one two  three\nfour", 9), (Lines{"one two", "three", "four"}));
  EXPECT_EQ(wrapped("1234567890", 4), (Lines{"1234", "5678", "90"}));
  EXPECT_EQ(wrapped("a one|two|three", 9), (Lines{"a", "one|two|", "three"}));
  EXPECT_EQ(wrapped("漢字漢", 1), (Lines{"漢", "字", "漢"}));  // at least a character a line
}

}  // namespace
}  // namespace penna::text_test
