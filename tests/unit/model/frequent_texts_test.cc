// SPDX-License-Identifier: MIT
// The most frequent texts, compared with a map of all of them.
#include "model/events/frequent_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace penna::frequent_texts_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> top(const FrequentTexts& texts, size_t limit) {
  std::vector<std::string> result;
  for (const auto& each : texts.top(limit))
    result.push_back(each.text + " " + std::to_string(each.count) + (each.missed == 0 ? "" : " or more"));
  return result;
}

TEST(FrequentTexts, FewAreCountedExactly) {
  FrequentTexts texts;
  EXPECT_THAT(top(texts, 3), ElementsAre());
  for (const char* text : {"b", "a", "b", "", "a", "b", "c"}) texts.add(text);
  EXPECT_THAT(top(texts, 3), ElementsAre("b 3", "a 2", " 1"));
  EXPECT_THAT(top(texts, 9), ElementsAre("b 3", "a 2", " 1", "c 1"));
  EXPECT_EQ(texts.forgotten(), 0u);
  EXPECT_EQ(texts.at_most(), 3u);
}

// One that comes often only when the first thousands have been seen.
TEST(FrequentTexts, OneThatComesLateIsFound) {
  FrequentTexts texts;
  for (size_t i = 0; i < 3 * FrequentTexts::kMost; ++i) texts.add("early " + std::to_string(i));
  for (int i = 0; i < 100; ++i) texts.add("late");
  EXPECT_LE(texts.size(), FrequentTexts::kMost);
  EXPECT_THAT(top(texts, 3), ElementsAre("late 100 or more"));
}

TEST(FrequentTexts, OfManyThatCameOnceNoneStandsOut) {
  FrequentTexts texts;
  for (size_t i = 0; i < FrequentTexts::kMost; ++i) texts.add(std::to_string(i));
  EXPECT_EQ(texts.top(SIZE_MAX).size(), FrequentTexts::kMost);
  texts.add("one more");
  EXPECT_THAT(top(texts, 3), ElementsAre());
  EXPECT_EQ(texts.at_most(), 2u);
}

TEST(FrequentTexts, BoundsHoldForAnyDistribution) {
  std::mt19937 random(1);
  for (double skew : {0.0, 0.5, 1.0, 3.0}) {
    FrequentTexts texts;
    std::map<std::string, uint64_t> truth;
    std::uniform_real_distribution<> uniform(0, 1);
    for (int i = 0; i < 200'000; ++i) {
      const auto text = std::to_string(static_cast<int>(20'000 * std::pow(uniform(random), 1 + skew)));
      texts.add(text);
      ++truth[text];
      ASSERT_LE(texts.size(), FrequentTexts::kMost);
    }
    uint64_t most = 0, more_than_forgotten = 0;
    for (const auto& [text, count] : truth) {
      most = std::max(most, count);
      more_than_forgotten += count > texts.forgotten();
    }
    EXPECT_LE(most, texts.at_most());
    EXPECT_LT(texts.forgotten(), 200'000 / (FrequentTexts::kMost / 4));
    const auto found = texts.top(SIZE_MAX);
    EXPECT_LE(found.size(), more_than_forgotten);
    for (const auto& each : found) {
      EXPECT_LE(each.count, truth[each.text]) << each.text;
      EXPECT_GE(each.count + each.missed, truth[each.text]) << each.text;
    }
  }
}

}  // namespace
}  // namespace penna::frequent_texts_test
