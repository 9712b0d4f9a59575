// SPDX-License-Identifier: MIT
// JsonWriter: commas, escapes, broken text, refusing sinks.
#include "export/text/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace penna::json_writer_test {
namespace {

template <typename Write>
std::string written(Write&& write) {
  std::string text;
  JsonWriter json([&](std::string_view piece) {
    text += piece;
    return true;
  });
  write(json);
  EXPECT_TRUE(json.finish());
  return text;
}

std::string json_of(std::string_view text) {
  return written([&](JsonWriter& json) { json.value(text); });
}

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.begin_object();
              json.field("a", 1);
              json.key("b");
              json.begin_array();
              json.value("x");
              json.begin_object();
              json.end_object();
              json.begin_array();
              json.end_array();
              json.null();
              json.end_array();
              json.field("c", true);
              json.end_object();
            }),
            "{\"a\":1,\"b\":[\"x\",{},[],null],\"c\":true}\n");
}

TEST(JsonWriter, LinesStandBetweenElements) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.begin_array();
              for (int i = 0; i < 3; ++i) {
                json.new_line();
                json.value(i);
              }
              json.end_array();
            }),
            "[\n0,\n1,\n2]\n");
}

TEST(JsonWriter, Numbers) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.begin_array();
              json.value(INT64_MIN);
              json.value(UINT64_MAX);
              json.value(0.5);
              json.value(std::nan(""));
              json.value(HUGE_VAL);
              json.thousandths(1234567);
              json.thousandths(-5);
              json.address(0x7f00);
              json.end_array();
            }),
            "[-9223372036854775808,18446744073709551615,0.5,null,null,1234.567,-0.005,\"0x7f00\"]\n");
}

TEST(JsonWriter, EscapesWhatMustBe) {
  EXPECT_EQ(json_of("a\"b\\c\nd\x01\x7f"), "\"a\\\"b\\\\c\\nd\\u0001\\u007f\"\n");
  EXPECT_EQ(json_of(std::string_view("\0", 1)), "\"\\u0000\"\n");
  EXPECT_EQ(json_of("\xc2\x9b\xe2\x80\xae\xd8\x9c"), "\"\\u009b\\u202e\\u061c\"\n");
  EXPECT_EQ(json_of("größe 漢字 🦀"), "\"größe 漢字 🦀\"\n");
}

TEST(JsonWriter, BytesThatAreNoUtf8AreReplaced) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(json_of("a\xff"), "\"a" + bad + "\"\n");
  EXPECT_EQ(json_of("\xc3"), "\"" + bad + "\"\n");                        // cut short
  EXPECT_EQ(json_of("\xc0\xaf"), "\"" + bad + bad + "\"\n");              // overlong
  EXPECT_EQ(json_of("\xed\xa0\x80"), "\"" + bad + bad + bad + "\"\n");    // surrogate
  EXPECT_EQ(json_of("\xf4\x90\x80\x80").size(), 2 + 4 * bad.size() + 1);  // above U+10FFFF
}

TEST(JsonWriter, LongTextArrivesWhole) {
  const std::string name(200'000, 'n');
  EXPECT_EQ(json_of(name), "\"" + name + "\"\n");
}

TEST(JsonWriter, StopsWhenTheSinkRefuses) {
  int calls = 0;
  JsonWriter json([&](std::string_view) {
    ++calls;
    return false;
  });
  json.begin_array();
  for (int i = 0; i < 10; ++i) json.value(std::string(100'000, 'x'));
  json.end_array();
  EXPECT_FALSE(json.ok());
  EXPECT_FALSE(json.finish());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace penna::json_writer_test
