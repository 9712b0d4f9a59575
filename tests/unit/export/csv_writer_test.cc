// SPDX-License-Identifier: MIT
// CsvWriter: quoting as in RFC 4180.
#include "export/text/csv_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace penna::csv_writer_test {
namespace {

template <typename Write>
std::string written(Write&& write) {
  std::string text;
  CsvWriter csv([&](std::string_view piece) {
    text += piece;
    return true;
  });
  write(csv);
  EXPECT_TRUE(csv.finish());
  return text;
}

std::string one(std::string_view text) {
  return written([&](CsvWriter& csv) { csv.field(text); });
}

TEST(CsvWriter, RowsAndNumbers) {
  EXPECT_EQ(written([](CsvWriter& csv) {
              csv.field("time");
              csv.empty();
              csv.field(INT64_MIN);
              csv.end_row();
              csv.field(UINT64_MAX);
              csv.field(1.25);
              csv.address(0xabc);
              csv.end_row();
            }),
            "time,,-9223372036854775808\n18446744073709551615,1.25,0xabc\n");
}

TEST(CsvWriter, QuotesOnlyWhatMustBe) {
  EXPECT_EQ(one("plain text"), "plain text");
  EXPECT_EQ(one(""), "");
  EXPECT_EQ(one("a,b"), "\"a,b\"");
  EXPECT_EQ(one("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(one("\""), "\"\"\"\"");
  EXPECT_EQ(one("two\nlines\r"), "two\\x0alines\\x0d");
  EXPECT_EQ(one("\x1b]0;a\x07,\xc2\x9b,\xe2\x80\xae"), "\"\\x1b]0;a\\x07,\\u009b,\\u202e\"");
  EXPECT_EQ(one(" lead"), "\" lead\"");
  EXPECT_EQ(one("std::map<int, long>"), "\"std::map<int, long>\"");
}

}  // namespace
}  // namespace penna::csv_writer_test
