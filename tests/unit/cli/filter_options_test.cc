// SPDX-License-Identifier: MIT
// The options of filters: ranges and triggers as users write them, and what a recording says of them.
#include "cli/options/filter_options.h"

#include <gtest/gtest.h>

namespace penna::filter_options_test {
namespace {

constexpr int64_t kMs = 1'000'000, kForEver = std::numeric_limits<int64_t>::max();

TEST(FilterOptions, Ranges) {
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

TEST(FilterOptions, WhatCannotBeMeantIsRefused) {
  const auto accepted = [](const FilterOptions& options) {
    return check_filter(options, FilterUse::kReading).has_value();
  };
  FilterOptions options;
  EXPECT_TRUE(accepted(options));
  for (const char* trigger : {"work", "@on", "work@", "work@stack", "", "work@depth=0", "work@depth=", "work@depth=x",
                              "work@time=5", "work@on,", "work@,on", "work@on,stack", "work@finish=1"}) {
    options.triggers = {trigger};
    EXPECT_FALSE(accepted(options)) << trigger;
  }
  options.triggers = {"work@on", "a@b@off", "work@depth=2,time=1us", "work@filter,finish", "work@notrace"};
  EXPECT_TRUE(accepted(options));
  for (const char* time : {"10", "us", "-1us", "1 week"}) {
    options.min_time = time;
    EXPECT_FALSE(accepted(options)) << time;
  }
  options.min_time = "10us";
  EXPECT_TRUE(accepted(options));
  options.sources = {""};
  EXPECT_FALSE(accepted(options));
}

TEST(FilterOptions, StacksAreOfFunctionsOrOfPoints) {
  const auto action = [](const char* text) { return parse_triggers(text, FilterUse::kRecording)->front().action; };
  for (const char* function : {"work@stack", "shop::pay@stack", "shop::*@stack", "::pay@stack"})
    EXPECT_EQ(action(function), TriggerAction::kStack) << function;
  for (const char* point : {"shop:order@stack", "*:order@stack", "/^shop:(order|paid)$/@stack", "a::b:c@stack"})
    EXPECT_EQ(action(point), TriggerAction::kPointStack) << point;
  FilterOptions options;
  options.triggers = {"work@stack", "shop:order@stack"};
  EXPECT_EQ(triggered(options, {TriggerAction::kStack}), std::vector<std::string>{"work"});
  EXPECT_EQ(triggered(options, {TriggerAction::kPointStack}), std::vector<std::string>{"shop:order"});
  EXPECT_FALSE(parse_triggers("shop:order@stack", FilterUse::kReading));
  Session session;
  EXPECT_FALSE(asked_for_point_stacks(session));
  session.options = {"trigger=work@stack", "event=shop:*"};
  EXPECT_FALSE(asked_for_point_stacks(session));
  session.options.emplace_back("trigger=shop:order@stack");
  EXPECT_TRUE(asked_for_point_stacks(session));
  session.options = {"point-stacks"};
  EXPECT_TRUE(asked_for_point_stacks(session));
}

TEST(FilterOptions, ATriggerHasSeveralActions) {
  const auto triggers = parse_triggers("shop::pay(int, int)@depth=2,time=1.5us,on", FilterUse::kReading);
  ASSERT_TRUE(triggers);
  ASSERT_EQ(triggers->size(), 3u);
  for (const Trigger& trigger : *triggers) EXPECT_EQ(trigger.function, "shop::pay(int, int)");
  EXPECT_EQ((*triggers)[0].action, TriggerAction::kDepth);
  EXPECT_EQ((*triggers)[0].value, 2u);
  EXPECT_EQ((*triggers)[1].action, TriggerAction::kTime);
  EXPECT_EQ((*triggers)[1].value, 1500u);
  EXPECT_EQ((*triggers)[2].action, TriggerAction::kOn);
  FilterOptions options;
  options.triggers = {"pay@stack,filter", "book@stack"};
  EXPECT_EQ(filter_text(options), "-T 'pay@stack,filter'") << "those that leave something out";
}

TEST(FilterOptions, AsOneTypesThemAndAsARecordingSaysThem) {
  FilterOptions options;
  EXPECT_EQ(filter_text(options), "");
  options.functions = {"pay", "shop::*"};
  options.depth = 3;
  options.range = "1s-2s";
  EXPECT_EQ(filter_text(options), "-F pay -F 'shop::*' --depth 3 -r 1s-2s");
  EXPECT_EQ(filter_words(options),
            (std::vector<std::string>{"function=pay", "function=shop::*", "depth=3", "range=1s-2s"}));
}

TEST(FilterOptions, RulesForRecordingLeaveRoomForTheExactOnes) {
  FilterOptions options;
  EXPECT_FALSE(recording_rules(options, 2.5).any());
  options.min_time = "1ms";
  options.range = "1s-2s";
  options.depth = 4;
  const CallRules rules = recording_rules(options, 2.5);
  EXPECT_TRUE(rules.rough);
  EXPECT_EQ(rules.depth, 4u);
  EXPECT_LT(rules.min_ticks, 2'500'000u);
  EXPECT_GT(rules.min_ticks, 2'400'000u);
  EXPECT_LT(rules.begin, 2'500'000'000u);
  EXPECT_GT(rules.begin, 2'480'000'000u);
  EXPECT_GT(rules.end, 5'000'000'000u);
  EXPECT_LT(rules.end, 5'020'000'000u);
  EXPECT_LT(rules.earliest_end, 5'000'000'000u);
}

}  // namespace
}  // namespace penna::filter_options_test
