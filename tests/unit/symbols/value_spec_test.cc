// SPDX-License-Identifier: MIT
// The syntax of -A and -R values.
#include "symbols/dwarf/value_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penna/event.h"

namespace penna::value_spec_test {
namespace {

using testing::HasSubstr;

// "INTEGER 0 INT 8" and so on, of one value.
std::string text_of(const CapturedValue& value) {
  const penna_value& where = value.where;
  const char* places[] = {"?", "INTEGER", "VECTOR", "STACK"};
  std::string text = value.name + ": " + places[where.place] + " " + std::to_string(where.number) + " type " +
                     std::to_string(where.type) + " bytes " + std::to_string(where.bytes);
  if (where.text != 0) text += " text " + std::to_string(where.text);
  if (where.behind != 0) text += " behind";
  if (!value.format.empty()) text += " as " + value.format;
  return text;
}

std::string first_of(const std::string& spec) {
  auto parsed = parse_value_spec(spec);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().text);
  if (!parsed) return "";
  const auto& values = parsed->arguments.empty() ? parsed->results : parsed->arguments;
  return values.empty() ? "" : text_of(values[0]);
}

std::string error_of(const std::string& spec) {
  auto parsed = parse_value_spec(spec);
  EXPECT_FALSE(parsed.has_value()) << spec;
  return parsed ? "" : parsed.error().text;
}

TEST(ValueSpec, Places) {
  EXPECT_EQ(first_of("f@arg1"), "arg1: INTEGER 0 type 1 bytes 8");
  EXPECT_EQ(first_of("f@arg6"), "arg6: INTEGER 5 type 1 bytes 8");
  EXPECT_EQ(first_of("f@arg7"), "arg7: STACK 0 type 1 bytes 8");
  EXPECT_EQ(first_of("f@arg262"), "arg262: STACK 255 type 1 bytes 8");
  EXPECT_EQ(first_of("f@fparg8"), "fparg8: VECTOR 7 type 3 bytes 8");
  EXPECT_EQ(first_of("f@retval"), "return: INTEGER 0 type 1 bytes 8");
  EXPECT_EQ(first_of("f@retval/f32"), "return: VECTOR 0 type 3 bytes 4");
}

TEST(ValueSpec, Formats) {
  EXPECT_EQ(first_of("f@arg2/d8"), "arg2: INTEGER 1 type 1 bytes 1");
  EXPECT_EQ(first_of("f@arg2/i32"), "arg2: INTEGER 1 type 1 bytes 4");
  EXPECT_EQ(first_of("f@arg2/u16"), "arg2: INTEGER 1 type 2 bytes 2");
  EXPECT_EQ(first_of("f@arg2/x"), "arg2: INTEGER 1 type 2 bytes 8 as x");
  EXPECT_EQ(first_of("f@arg2/c"), "arg2: INTEGER 1 type 7 bytes 1");
  EXPECT_EQ(first_of("f@arg2/b"), "arg2: INTEGER 1 type 6 bytes 1");
  EXPECT_EQ(first_of("f@arg2/p"), "arg2: INTEGER 1 type 4 bytes 8 as p");
  EXPECT_EQ(first_of("f@arg2/s"), "arg2: INTEGER 1 type 5 bytes 0 text 1");
  EXPECT_EQ(first_of("f@arg2/S"), "arg2: INTEGER 1 type 5 bytes 0 text 2 behind");
  EXPECT_EQ(first_of("f@fparg1/f32"), "fparg1: VECTOR 0 type 3 bytes 4");
}

TEST(ValueSpec, SeveralValuesAndNone) {
  auto spec = parse_value_spec("ns::open*@arg1/s,fparg1/f32,retval/d32,arg2/x");
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->function, "ns::open*");
  EXPECT_FALSE(spec->by_types);
  ASSERT_EQ(spec->arguments.size(), 3u);
  EXPECT_EQ(text_of(spec->arguments[2]), "arg2: INTEGER 1 type 2 bytes 8 as x");
  ASSERT_EQ(spec->results.size(), 1u);
  EXPECT_EQ(text_of(spec->results[0]), "return: INTEGER 0 type 1 bytes 4");
  auto bare = parse_value_spec("open");
  ASSERT_TRUE(bare.has_value());
  EXPECT_TRUE(bare->by_types);
  EXPECT_TRUE(bare->arguments.empty() && bare->results.empty());
  // A symbol's version belongs to its name.
  EXPECT_EQ(parse_value_spec("memcpy@GLIBC_2.2.5@arg1")->function, "memcpy@GLIBC_2.2.5");
}

TEST(ValueSpec, ErrorsNameThePart) {
  EXPECT_THAT(error_of("@arg1"), HasSubstr("names no function"));
  EXPECT_THAT(error_of(""), HasSubstr("names no function"));
  for (const char* place :
       {"arg0", "arg263", "arg", "argx", "arg1x", "fparg0", "fparg9", "ret", "", "arg-1", "arg99999999999"}) {
    EXPECT_THAT(error_of(std::string("f@arg1,") + place),
                HasSubstr("'" + std::string(place) + "' is not a value location"));
  }
  for (const char* format : {"e", "d7", "d128", "s8", "f", "f64", "q", "d8x", "x-8", "S32", "o"}) {
    EXPECT_THAT(error_of(std::string("f@arg1/") + format), HasSubstr("'" + std::string(format) + "' is not a format"));
  }
  EXPECT_THAT(error_of("f@arg1/"), HasSubstr("'arg1/' is not a format"));
  EXPECT_THAT(error_of("f@fparg1/d"), HasSubstr("write f32 or f64"));
  EXPECT_THAT(error_of("f@fparg1/f80"), HasSubstr("write f32 or f64"));
  EXPECT_THAT(error_of("f@arg1,arg2,arg3,arg4,arg5,arg6,arg7,arg8,arg9,arg10,arg11,arg12,arg13/x"),
              HasSubstr("too many values at 'arg13/x'"));
}

}  // namespace
}  // namespace penna::value_spec_test
