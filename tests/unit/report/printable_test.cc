// SPDX-License-Identifier: MIT
// printable(): removes everything that a terminal interprets, and keeps all text.
#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace penna::printable_test {
namespace {

std::string utf8(uint32_t code) {
  std::string text;
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
  } else {
    text += static_cast<char>(0xe0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
  }
  return text + static_cast<char>(0x80 | (code & 0x3f));
}

TEST(Printable, ControlCharactersAreShownNotObeyed) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("line\nbreak\t"), "line\\x0abreak\\x09");
  EXPECT_EQ(printable(utf8(0x9b) + "31m"), "\\u009b31m");
  EXPECT_EQ(printable(utf8(0x202e) + "x"), "\\u202ex");
  EXPECT_EQ(printable(std::string_view("\0x\x7f", 3)), "\\x00x\\x7f");
}

TEST(Printable, OnlyControlCharactersAreEscaped) {
  const auto is_control_of_unicode = [](uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  };
  for (uint32_t code = 0; code < 0xd800; ++code) {
    const std::string text = "a" + utf8(code) + "b", shown = printable(text);
    if (is_control_of_unicode(code)) {
      EXPECT_EQ(shown[1], '\\') << code;
      EXPECT_TRUE(is_plain_ascii(shown)) << code;
    } else {
      EXPECT_EQ(shown, text) << code;
    }
    EXPECT_EQ(printable(shown), shown) << code;
  }
}

TEST(Printable, ValidTextIsKept) {
  EXPECT_EQ(printable("std::vector<int>::push_back"), "std::vector<int>::push_back");
  EXPECT_EQ(printable("größe 漢字 🦀"), "größe 漢字 🦀");
}

TEST(Printable, BrokenUtf8IsShownAsBytes) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\x9b"), "\\x9b");                    // CSI of a terminal that knows eight bits
  EXPECT_EQ(printable("a\xe6\xbc"), "a\\xe6\\xbc");         // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xe2\x80\x1b"), "\\xe2\\x80\\x1b");  // cut by an escape
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

}  // namespace
}  // namespace penna::printable_test
