// SPDX-License-Identifier: MIT
// Conditions on the arguments of points (`--where`): comparison by type, combination, and error messages.
#include "filter/where.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

namespace penna::where_test {
namespace {

using ::testing::HasSubstr;

// A point with an argument of each type.
struct Sample {
  Site site;
  DecodedPoint point;

  Sample() {
    add("rows", PENNA_ARG_INT, static_cast<uint64_t>(-5));
    add("size", PENNA_ARG_UINT, UINT64_MAX);
    add("price", PENNA_ARG_FLOAT, std::bit_cast<uint64_t>(2.5));
    add("table", PENNA_ARG_STRING, 0, "orders");
    add("cached", PENNA_ARG_BOOL, 1);
    add("sign", PENNA_ARG_CHAR, 'x');
    add("job->id", PENNA_ARG_UINT, 7);
    add("list", PENNA_ARG_ARRAY, 0);
    add("order.id", PENNA_ARG_POINTER, 0x1000);
    add("empty", PENNA_ARG_STRING, 0, "");
  }
  void add(const char* name, uint8_t type, uint64_t bits, std::string_view text = {}) {
    site.arguments.push_back({type, name});
    ArgumentValue value;
    value.type = type;
    value.present = true;
    value.bits = bits;
    value.text = text;
    point.values.push_back(value);
  }
  // 'y', 'n', or '-' when the condition does not apply.
  char ask(const char* text) const {
    const auto where = Where::parse(text);
    EXPECT_TRUE(where) << where.error().text;
    if (!where) return '?';
    const auto places = where->places_in(site);
    return !places ? '-' : where->holds(*places, point) ? 'y' : 'n';
  }
};

TEST(Where, ComparesNumbersOfEveryType) {
  const Sample sample;
  const std::pair<const char*, char> cases[] = {{"rows > -6", 'y'},       {"rows>-5", 'n'},
                                                {"rows >= -5", 'y'},      {"rows == -5", 'y'},
                                                {"rows != -5", 'n'},      {"rows < 18446744073709551615", 'y'},
                                                {"rows < -4.5", 'y'},     {"size == 18446744073709551615", 'y'},
                                                {"size > -1", 'y'},       {"size <= 0xffffffffffffffff", 'y'},
                                                {"price == 2.5", 'y'},    {"price < 3", 'y'},
                                                {"price > 25e-1", 'n'},   {"cached == true", 'y'},
                                                {"cached == false", 'n'}, {"cached", 'y'},
                                                {"!cached", 'n'},         {"rows", 'y'},
                                                {"empty", 'n'},           {"order.id == 0x1000", 'y'},
                                                {"job->id==7", 'y'},      {"arg1 == -5", 'y'},
                                                {"arg7 > 6", 'y'}};
  for (const auto& [text, answer] : cases) EXPECT_EQ(sample.ask(text), answer) << text;
}

TEST(Where, ComparesTexts) {
  const Sample sample;
  EXPECT_EQ(sample.ask("table == 'orders'"), 'y');
  EXPECT_EQ(sample.ask("table != \"orders\""), 'n');
  EXPECT_EQ(sample.ask("table < 'pa'"), 'y');
  EXPECT_EQ(sample.ask("table ~ 'ord*'"), 'y');
  EXPECT_EQ(sample.ask("table ~ '[a-n]*'"), 'n');
  EXPECT_EQ(sample.ask("table ~ 'orders\\*'"), 'n');
  EXPECT_EQ(sample.ask("sign == 'x'"), 'y');
  EXPECT_EQ(sample.ask("sign > 'y'"), 'n');
  EXPECT_EQ(sample.ask("sign == 120"), 'y');
}

TEST(Where, JoinsAndTurns) {
  const Sample sample;
  EXPECT_EQ(sample.ask("rows > 0 || price > 2 && cached"), 'y');
  EXPECT_EQ(sample.ask("(rows > 0 || price > 2) && !cached"), 'n');
  EXPECT_EQ(sample.ask("!(rows > 0) && (((price > 2)))"), 'y');
  EXPECT_EQ(sample.ask("!!cached"), 'y');
  EXPECT_EQ(sample.ask("rows > 0 && rows > 1 || rows < 0"), 'y');
}

TEST(Where, AppliesOnlyWhereEverythingCanBeCompared) {
  const Sample sample;
  for (const char* text : {"columns > 1", "rows > 0 && columns > 1", "table > 5", "rows == 'x'", "list == 1",
                           "rows ~ 'x'", "sign == 'long'", "sign ~ 'x'", "arg11 == 1", "arg0 == 1"})
    EXPECT_EQ(sample.ask(text), '-') << text;
}

TEST(Where, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {{"", "an argument name is expected"},
                                                       {"rows >", "a number or a quoted string is expected"},
                                                       {"rows > 1 2", "&& or || is missing"},
                                                       {"rows > 1x", "a blank, && or || is missing"},
                                                       {"(rows > 1", "a ) is missing"},
                                                       {"rows > 1)", "&& or || is missing"},
                                                       {"rows == 'a", "this text has no end"},
                                                       {"rows ~ 5", "a quoted glob is expected after ~"},
                                                       {"rows ~ '/a(b/'", "at character 3, this ( has no )"},
                                                       {"rows > 1 || rows ~ '/*/'", "at character 2, there is"},
                                                       {"rows > columns", "a number or a quoted string"},
                                                       {"rows > 1 &&", "an argument name is expected"},
                                                       {"5 > rows", "an argument name is expected"},
                                                       {"rows == truest", "a blank, && or || is missing"}};
  for (const auto& [text, part] : cases) {
    const auto where = Where::parse(text);
    ASSERT_FALSE(where) << text;
    EXPECT_THAT(where.error().text, HasSubstr(part)) << text;
  }
  EXPECT_FALSE(Where::parse(std::string(2000, '!')));
  EXPECT_TRUE(Where::parse(std::string(900, '!') + "rows"));
}

}  // namespace
}  // namespace penna::where_test
