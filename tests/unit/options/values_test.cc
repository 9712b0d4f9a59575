// SPDX-License-Identifier: MIT
// Option values: what each text means, what is rejected, and that each is parsed while the command line is read.
#include "options/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "options/arguments.h"
#include "options/process_option.h"
#include "report/units.h"

namespace penna::values_test {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000, kForEver = TimeRange::kForEver;

TEST(Values, Ranges) {
  const auto range = [](const char* text) {
    const Result<TimeRange> parsed = parse_range(text);
    EXPECT_TRUE(parsed) << text;
    return parsed ? std::pair(parsed->begin, parsed->end) : std::pair<int64_t, int64_t>();
  };
  EXPECT_EQ(range("1.2s-3s"), std::pair(1200 * kMs, 3000 * kMs));
  EXPECT_EQ(range("1.2s-"), std::pair(1200 * kMs, kForEver));
  EXPECT_EQ(range("-3s"), std::pair(int64_t{0}, 3000 * kMs));
  EXPECT_EQ(range("1.2s..3s"), range("1.2s-3s"));  // as --size and --lifetime have it
  EXPECT_EQ(range("1.2s.."), range("1.2s-"));
  EXPECT_EQ(range("..3s"), range("-3s"));
  EXPECT_EQ(range("0-1s"), range("0s-1s"));  // nothing needs no unit
  EXPECT_EQ(range("0..1s"), range("0s-1s"));
  EXPECT_EQ(range("2ms+500us"), std::pair(2 * kMs, int64_t{2'500'000}));
  EXPECT_EQ(range("9000000000s+9000000000s"), std::pair(int64_t{9'000'000'000'000'000'000}, kForEver));
  for (const char* wrong : {"", "-", "+", "1s", "1-2", "3s-2s", "2s-2s", "1s+", "1s-2s-3s", "x-y", "1s--2s", "..",
                            "1s...2s", "1s..-2s", "0-0", "1..2"})
    EXPECT_FALSE(parse_range(wrong)) << wrong;
}

TEST(Values, ANumberAloneIsBothBounds) {
  const auto bounds = [](const char* text) {
    const std::optional<Bounds> parsed = parse_bounds(text, parse_bytes);
    return parsed ? std::pair{parsed->low, parsed->high}
                  : std::pair{std::optional<uint64_t>(0), std::optional<uint64_t>(0)};
  };
  using Pair = std::pair<std::optional<uint64_t>, std::optional<uint64_t>>;
  EXPECT_EQ(bounds("64"), (Pair{64, 64}));
  EXPECT_EQ(bounds("64.."), (Pair{64, std::nullopt}));
  EXPECT_EQ(bounds("..4k"), (Pair{std::nullopt, 4096}));
  EXPECT_EQ(bounds("0..1"), (Pair{0, 1}));
}

TEST(Values, NumbersHaveTheirUnits) {
  EXPECT_EQ(ParseDuration{"--max-wait"}("1.5ms")->value, 1'500'000u);
  EXPECT_EQ(ParseDuration{"--max-wait"}("1.5ms")->text, "1.5ms");
  EXPECT_THAT(ParseDuration{"--max-wait"}("5").error().text, HasSubstr("--max-wait is a duration"));
  EXPECT_EQ(ParseByteSize{"--max-leak"}("64k")->value, 65536u);
  EXPECT_THAT(ParseByteSize{"--max-leak"}("-1").error().text, HasSubstr("--max-leak is a number of bytes"));
  EXPECT_EQ(parse_rate("10MB/s")->value, 10'000'000u);
  EXPECT_EQ(parse_rate("512k")->value, 512u << 10);
  EXPECT_FALSE(parse_rate("x/s"));
  EXPECT_EQ(*ParseShortTime{"--holds"}("1ms"), 1'000'000u);
  for (const char* wrong : {"0us", "2h", "61min", "1"}) EXPECT_FALSE(ParseShortTime{"--holds"}(wrong)) << wrong;
}

TEST(Values, LifetimesAreRangesAndSizesMayBeNumbers) {
  EXPECT_EQ(parse_sizes("64")->low, 64u);
  EXPECT_EQ(parse_lifetimes("1ms..")->low, 1'000'000u);
  EXPECT_FALSE(parse_lifetimes("1ms"));
  EXPECT_FALSE(parse_lifetimes("1..2"));
}

TEST(Values, LimitsOfCalls) {
  const auto limit = parse_call_limit("a=b=2");
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->value.pattern.text(), "a=b");
  EXPECT_EQ(limit->value.allowed, 2u);
  EXPECT_EQ(limit->text, "a=b=2");
  for (const char* wrong : {"x", "=1", "a=", "a=x", "/(/=1"}) EXPECT_FALSE(parse_call_limit(wrong)) << wrong;
}

TEST(Values, WhatADeltaMayMean) {
  EXPECT_EQ(parse_min_delta("4k")->value.bytes, 4096);
  EXPECT_EQ(parse_min_delta("4k")->value.ns, std::nullopt);
  EXPECT_EQ(parse_min_delta("4us")->value.ns, 4000);
  EXPECT_EQ(parse_min_delta("5%")->value.percent, 5);
  EXPECT_EQ(parse_min_delta("200%")->value.percent, std::nullopt);
}

TEST(Values, AProcessAndItsProgram) {
  EXPECT_EQ(parse_process("12")->pid, 12u);
  EXPECT_EQ(parse_process("12")->image, 0u);
  EXPECT_EQ(parse_process("12:3")->image, 3u);
  for (const char* wrong : {"x", "12:0", "12:", ":1", "-1", ""}) EXPECT_FALSE(parse_process(wrong)) << wrong;
}

struct Counted {
  int value = 0;
};

TEST(Values, AreParsedOnceAndTheFirstErrorIsTold) {
  int calls = 0;
  const auto parse = [&calls](const std::string& text) -> Result<Counted> {
    ++calls;
    if (text == "wrong") return Error{"that is wrong"};
    return Counted{static_cast<int>(text.size())};
  };
  const auto read = [&](const Arguments& arguments, std::optional<Counted>& one, std::vector<Counted>& several) {
    OptionParser parser("About.", "penna verb");
    parser.value("--one", one, "X", "", parse);
    parser.values("--several", several, "X", "", parse);
    return parser.parse(arguments);
  };
  std::optional<Counted> one;
  std::vector<Counted> several;
  EXPECT_TRUE(read({"--one", "abc", "--several", "a", "--several", ""}, one, several));
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(one->value, 3);
  EXPECT_EQ(several.size(), 2u);
  std::optional<Counted> none;
  EXPECT_TRUE(read({"--one", ""}, none, several));
  EXPECT_FALSE(none) << "an empty value counts as not given";
  const auto wrong = read({"--several", "wrong"}, one, several);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text, "that is wrong");
  EXPECT_TRUE(read({"--help", "--one", "wrong"}, one, several)) << "--help wins over other errors";
}

}  // namespace
}  // namespace penna::values_test
