// SPDX-License-Identifier: MIT
// Filter options: ranges and triggers as users write them, and as a recording stores them.
#include "options/filter_options.h"

#include <gtest/gtest.h>

#include "options/filter_rules.h"

namespace penna::filter_options_test {
namespace {

// As the command line gives them.
Result<FilterOptions> read_line(const Arguments& arguments, FilterUse use = FilterUse::kReading) {
  FilterOptions options;
  OptionParser parser("About.", "penna verb");
  add_filter_options(parser, options, use);
  PENNA_TRY(parser.parse(arguments));
  return options;
}

FilterOptions parsed(const Arguments& arguments, FilterUse use = FilterUse::kReading) {
  const Result<FilterOptions> options = read_line(arguments, use);
  EXPECT_TRUE(options) << options.error().text;
  return options ? *options : FilterOptions{};
}

TEST(FilterOptions, WhatCannotBeMeantIsRefused) {
  EXPECT_TRUE(read_line({}));
  for (const char* trigger : {"work", "@on", "work@", "work@stack", "", "work@depth=0", "work@depth=", "work@depth=x",
                              "work@time=5", "work@on,", "work@,on", "work@on,stack", "work@finish=1", "/(/@on"})
    EXPECT_FALSE(read_line({"-T", trigger})) << trigger;
  for (const char* trigger : {"work@on", "a@b@off", "work@depth=2,time=1us", "work@filter,finish", "work@notrace"})
    EXPECT_TRUE(read_line({"-T", trigger})) << trigger;
  for (const char* time : {"10", "us", "-1us", "1 week"}) EXPECT_FALSE(read_line({"--min-time", time})) << time;
  EXPECT_TRUE(read_line({"--min-time", "10us"}));
  EXPECT_FALSE(read_line({"-r", "1-2"}));
  for (const char* option : {"-F", "-N", "--hide", "--caller", "--paths-to", "--module", "--source"})
    for (const char* pattern : {"", "/(/"}) EXPECT_FALSE(read_line({option, pattern})) << option << pattern;
}

TEST(FilterOptions, AreParsedIntoTypes) {
  const FilterOptions options =
      parsed({"--min-time", "1.5us", "-r", "1ms..2ms", "-T", "pay@time=3us", "-F", "shop::*"});
  EXPECT_EQ(options.min_time->value, 1500u);
  EXPECT_EQ(options.min_time->text, "1.5us");
  EXPECT_EQ(options.range->value.begin, 1'000'000);
  EXPECT_EQ(options.range->value.end, 2'000'000);
  EXPECT_EQ(options.triggers.at(0).value.at(0).value, 3000u);
  EXPECT_TRUE(options.functions.at(0).matches("shop::pay(int)"));
  EXPECT_FALSE(parsed({"--min-time", ""}).min_time) << "an empty value counts as not given";
}

// The recorder's and the readers' time for each call is saved.
TEST(FilterOptions, AllFunctionsAreNoFilter) {
  const FilterOptions all = parsed({"-F", "*"}, FilterUse::kRecording);
  EXPECT_FALSE(recording_rules(all, 1).any());
  EXPECT_EQ("", filter_text(all));
  EXPECT_FALSE(recording_rules(parsed({"-F", "*", "-F", "*"}, FilterUse::kRecording), 1).any());
  for (const Arguments& others :
       {Arguments{"-F", "*", "-F", "pay"}, Arguments{"-F", "*", "-N", "pay"},
        Arguments{"-F", "*", "--module", "libpay*"}, Arguments{"-F", "*", "-T", "pay@off"}, Arguments{"-F", "p*"}}) {
    const FilterOptions options = parsed(others, FilterUse::kRecording);
    EXPECT_TRUE(recording_rules(options, 1).any()) << others.back();
    EXPECT_NE("", filter_text(options)) << others.back();
  }
}

TEST(FilterOptions, StacksAreOfFunctionsOrOfPoints) {
  const auto action = [](const char* text) { return parse_trigger(text, FilterUse::kRecording)->value.front().action; };
  for (const char* function : {"work@stack", "shop::pay@stack", "shop::*@stack", "::pay@stack"})
    EXPECT_EQ(action(function), TriggerAction::kStack) << function;
  for (const char* point : {"shop:order@stack", "*:order@stack", "/^shop:(order|paid)$/@stack", "a::b:c@stack"})
    EXPECT_EQ(action(point), TriggerAction::kPointStack) << point;
  const FilterOptions options = parsed({"-T", "work@stack", "-T", "shop:order@stack"}, FilterUse::kRecording);
  ASSERT_EQ(triggered(options, {TriggerAction::kStack}).size(), 1u);
  EXPECT_EQ(triggered(options, {TriggerAction::kStack})[0].text(), "work");
  EXPECT_EQ(stacked_points(options), std::vector<std::string>{"shop:order"});
  EXPECT_FALSE(parse_trigger("shop:order@stack", FilterUse::kReading));
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
  const auto option = parse_trigger("shop::pay(int, int)@depth=2,time=1.5us,on", FilterUse::kReading);
  ASSERT_TRUE(option);
  const std::vector<Trigger>& triggers = option->value;
  ASSERT_EQ(triggers.size(), 3u);
  for (const Trigger& trigger : triggers) EXPECT_EQ(trigger.function.text(), "shop::pay(int, int)");
  EXPECT_EQ(triggers[0].action, TriggerAction::kDepth);
  EXPECT_EQ(triggers[0].value, 2u);
  EXPECT_EQ(triggers[1].action, TriggerAction::kTime);
  EXPECT_EQ(triggers[1].value, 1500u);
  EXPECT_EQ(triggers[2].action, TriggerAction::kOn);
  EXPECT_EQ(filter_text(parsed({"-T", "pay@stack,filter", "-T", "book@stack"}, FilterUse::kRecording)),
            "-T 'pay@stack,filter'")
      << "only rules that exclude something";
}

TEST(FilterOptions, AsOneTypesThemAndAsARecordingSaysThem) {
  EXPECT_EQ(filter_text({}), "");
  const FilterOptions options = parsed({"-F", "pay", "-F", "shop::*", "--depth", "3", "-r", "1s-2s"});
  EXPECT_EQ(call_filter_text(options), "-F pay -F 'shop::*' --depth 3");
  EXPECT_EQ(filter_text(options), "-F pay -F 'shop::*' --depth 3 -r 1s-2s");
  EXPECT_EQ(filter_words(options),
            (std::vector<std::string>{"function=pay", "function=shop::*", "depth=3", "range=1s-2s"}));
}

TEST(FilterOptions, RulesForRecordingLeaveRoomForTheExactOnes) {
  EXPECT_FALSE(recording_rules({}, 2.5).any());
  const FilterOptions options = parsed({"--min-time", "1ms", "-r", "1s-2s", "--depth", "4"});
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
