// SPDX-License-Identifier: MIT
// The list of wishes: whatever it merges and forgets, a site that comes later gets the count that it would have had.
#include "penna/detail/wishes.h"

#include <sys/mman.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "penna/detail/patch.h"

namespace {

penna_site_name site(const std::string& name, uint32_t kind = PENNA_SITE_TRIGGER, uint32_t number = PENNA_NO_NUMBER) {
  penna_site_name result{};
  name.copy(result.full, sizeof result.full - 1);
  result.number = number;
  result.kind = kind;
  return result;
}

constexpr uint32_t kAll = 0xfe;

struct Wishes {
  std::unique_ptr<penna_wishes> list = std::make_unique<penna_wishes>();
  bool add(const char* pattern, penna_wish wish, uint32_t kinds = kAll) {
    return penna_add_wish(list.get(), pattern, kinds, wish) != 0;
  }
  uint32_t count(const penna_site_name& name) const { return penna_wanted_count(list.get(), &name); }
  uint32_t count(const char* name) const { return count(site(name)); }
};

TEST(Wishes, CountsNestAndAreNeverNegative) {
  Wishes wishes;
  EXPECT_EQ(wishes.count("a:b"), 0u);
  wishes.add("a:b", penna_wish_enable());
  wishes.add("a:b", penna_wish_enable());
  wishes.add("a:b", penna_wish_disable());
  EXPECT_EQ(wishes.count("a:b"), 1u);
  wishes.add("a:b", penna_wish_disable());
  wishes.add("a:b", penna_wish_disable());
  EXPECT_EQ(wishes.count("a:b"), 0u);
  wishes.add("a:b", penna_wish_enable());
  EXPECT_EQ(wishes.count("a:b"), 1u);
}

TEST(Wishes, OnAndOffAreNotCounted) {
  Wishes wishes;
  wishes.add("*", penna_wish_on());
  wishes.add("*", penna_wish_on());
  EXPECT_EQ(wishes.count("a:b"), 1u);
  wishes.add("a:*", penna_wish_enable());
  EXPECT_EQ(wishes.count("a:b"), 2u);
  wishes.add("*", penna_wish_on());
  EXPECT_EQ(wishes.count("a:b"), 2u);
  wishes.add("a:b", penna_wish_off());
  EXPECT_EQ(wishes.count("a:b"), 0u);
  EXPECT_EQ(wishes.count("a:c"), 2u);
  EXPECT_EQ(wishes.count("x:y"), 1u);
}

TEST(Wishes, PatternsAreGlobsOrNumbers) {
  Wishes wishes;
  wishes.add("25", penna_wish_enable());
  EXPECT_EQ(wishes.count(site("trigger:ID", PENNA_SITE_TRIGGER, 25)), 1u);
  EXPECT_EQ(wishes.count(site("trigger:25", PENNA_SITE_TRIGGER, 26)), 0u);
  EXPECT_EQ(wishes.count(site("25")), 0u);
  EXPECT_EQ(penna_pattern_number("0"), 0u);
  EXPECT_EQ(penna_pattern_number("4294967294"), 4294967294u);
  for (const char* none : {"", "4294967295", "99999999999999999999", "25x", "*", "-1"})
    EXPECT_EQ(penna_pattern_number(none), PENNA_NO_NUMBER) << none;
}

TEST(Wishes, KindsAreKeptApart) {
  Wishes wishes;
  wishes.add("*", penna_wish_on(), 1u << PENNA_SITE_EVENT | 1u << PENNA_SITE_SPAN);
  EXPECT_EQ(wishes.count(site("a:b", PENNA_SITE_EVENT)), 1u);
  EXPECT_EQ(wishes.count(site("a:b", PENNA_SITE_SPAN)), 1u);
  EXPECT_EQ(wishes.count(site("a:b", PENNA_SITE_TRIGGER)), 0u);
}

TEST(Wishes, WhatRepeatsTakesNoRoom) {
  Wishes wishes;
  wishes.add("a:b", penna_wish_enable());
  wishes.add("x:y", penna_wish_enable());
  const uint32_t used = wishes.list->used;
  for (int i = 0; i < 10000; ++i) {
    wishes.add("a:*", penna_wish_enable());
    wishes.add("*:b", penna_wish_enable());
    wishes.add("a:*", penna_wish_disable());
    wishes.add("*:b", penna_wish_disable());
  }
  EXPECT_EQ(wishes.list->used, used);
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(wishes.add(i % 2 == 0 ? "a:*" : "b:*", penna_wish_on()));
  for (int i = 0; i < 10000; ++i)
    ASSERT_TRUE(wishes.add(i % 3 == 0 ? "a:*" : "b:*", i % 2 == 0 ? penna_wish_on() : penna_wish_off()));
  wishes.add("*", penna_wish_off());
  EXPECT_EQ(wishes.count("a:b"), 0u);
  Wishes none;
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(none.add(i % 2 == 0 ? "a:*" : "b:*", penna_wish_disable()));
  EXPECT_EQ(none.list->used, 0u);
}

// One family on, and some of it off again, as often as a program likes.
TEST(Wishes, WhatCancelsOutTakesNoRoomEither) {
  for (const auto& [first, second] : std::vector<std::pair<const char*, const char*>>{
           {"db:read", "db:write"}, {"db:r*", "db:w*"}, {"db:r*", "db:write"}, {"db:read", "db:wr?te"}}) {
    Wishes wishes;
    uint32_t used = 0;
    for (int round = 0; round < 1000; ++round) {
      ASSERT_TRUE(wishes.add("db:*", penna_wish_enable()));
      ASSERT_TRUE(wishes.add(first, penna_wish_disable()));
      ASSERT_TRUE(wishes.add(second, penna_wish_disable()));
      if (round == 0) used = wishes.list->used;
      ASSERT_EQ(wishes.list->used, used) << first << " " << second << " in round " << round;
    }
    EXPECT_EQ(wishes.count("db:read"), 0u);
    EXPECT_EQ(wishes.count("db:open"), 1000u);
  }
}

TEST(Wishes, WhatDoesNotFitIsRefusedWhole) {
  Wishes wishes;
  int added = 0;
  while (wishes.add(("pattern:number_" + std::to_string(added)).c_str(), penna_wish_enable())) ++added;
  EXPECT_GT(added, 80);
  const uint32_t used = wishes.list->used;
  EXPECT_EQ(wishes.count(("pattern:number_" + std::to_string(added)).c_str()), 0u);
  EXPECT_EQ(wishes.list->used, used);
  EXPECT_TRUE(wishes.add("pattern:number_3", penna_wish_disable()));  // makes room again
  EXPECT_LT(wishes.list->used, used);
  EXPECT_FALSE(wishes.add(std::string(5000, 'x').c_str(), penna_wish_enable()));
}

TEST(Wishes, OfASwitchboardFindRoomForAllThatFitsIntoMemory) {
  auto board = std::make_unique<penna_switchboard>();
  const auto add = [&](const std::string& pattern, penna_wish wish) {
    return penna_remember_wish(board.get(), pattern.c_str(), kAll, wish) != 0;
  };
  const auto count = [&](const penna_site_name& name) {
    return penna_wanted_count(penna_wishes_of(board.get()), &name);
  };
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_TRUE(add(std::to_string(i), penna_wish_enable())) << i;
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_EQ(count(site("trigger:ID", PENNA_SITE_TRIGGER, i)), 1u) << i;
  EXPECT_TRUE(add(std::string(60000, '*'), penna_wish_enable()));
  EXPECT_EQ(count(site("a:b")), 1u);
  EXPECT_FALSE(add(std::string(70000, '*'), penna_wish_enable()));
  EXPECT_EQ(count(site("a:b")), 1u);
  EXPECT_TRUE(add("*", penna_wish_off()));
  EXPECT_EQ(penna_wishes_of(board.get())->used, 0u);
  ::munmap(reinterpret_cast<void*>(board->grown), penna_wishes_of(board.get())->room + 8);
}

// Against a list that forgets nothing.
TEST(Wishes, MergingChangesNoCount) {
  const char* patterns[] = {"*",     "a:*",     "*:x",   "a:x",      "b:*",          "7", "a:?", "[ab]:x",
                            "a:\\x", "*[ab]:*", "/^a:/", "/:[xy]$/", "/^(a:x|b:x)$/"};
  const std::vector<penna_site_name> sites = {site("a:x"),
                                              site("a:y"),
                                              site("b:x"),
                                              site("c:z"),
                                              site("a:x", PENNA_SITE_EVENT),
                                              site("t:7", PENNA_SITE_TRIGGER, 7)};
  const penna_wish kinds_of_wish[] = {penna_wish_enable(), penna_wish_disable(), penna_wish_on(), penna_wish_off()};
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::shuffle(std::begin(patterns), std::end(patterns), random);
    Wishes wishes;
    struct Step {
      const char* pattern;
      penna_wish wish;
      uint32_t kinds;
    };
    std::vector<Step> all;
    // Few patterns and few kinds of wishes in a round, so that they meet.
    const size_t pattern_count = 1 + random() % 10, wish_count = 1 + random() % 4, first = random() % 4;
    for (int i = 0; i < 40; ++i) {
      Step step{patterns[random() % pattern_count], kinds_of_wish[(first + random() % wish_count) % 4],
                random() % 4 == 0 ? 1u << PENNA_SITE_TRIGGER : kAll};
      all.push_back(step);
      ASSERT_TRUE(wishes.add(step.pattern, step.wish, step.kinds));
      for (const penna_site_name& name : sites) {
        uint32_t expected = 0;
        for (const Step& s : all)
          if (penna_pattern_matches(s.pattern, s.kinds, &name)) expected = penna_wish_applied(s.wish, expected);
        ASSERT_EQ(wishes.count(name), expected) << name.full << " after " << all.size() << " in round " << round;
      }
    }
  }
}

}  // namespace
