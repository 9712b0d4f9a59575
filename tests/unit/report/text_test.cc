// SPDX-License-Identifier: MIT
// Text of strangers: escape sequences and broken UTF-8 never reach a terminal.
#include "report/text.h"

#include <gtest/gtest.h>

namespace penna::text_test {
namespace {

TEST(Text, ControlCharactersAreShownNotObeyed) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("line\nbreak\t"), "line\\x0abreak\\x09");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI as a C1 character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x"),
            "\\xe2\\x80\\xaex");  // right-to-left override
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
}

TEST(Text, ValidTextIsKept) {
  EXPECT_EQ(printable("std::vector<int>::push_back"), "std::vector<int>::push_back");
  EXPECT_EQ(printable("größe 漢字 🦀"), "größe 漢字 🦀");
}

TEST(Text, BrokenUtf8IsShownAsBytes) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xe6\xbc"), "a\\xe6\\xbc");         // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

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

}  // namespace
}  // namespace penna::text_test
