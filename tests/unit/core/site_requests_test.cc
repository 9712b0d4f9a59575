// SPDX-License-Identifier: MIT
// The list of requests: whatever it merges and drops, a site added later gets the count that it would have had.
#include "penna/detail/site_requests.h"

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

struct Requests {
  std::unique_ptr<penna_requests> list = std::make_unique<penna_requests>();
  bool add(const char* pattern, penna_request request, uint32_t kinds = kAll) {
    return penna_add_request(list.get(), pattern, kinds, request) != 0;
  }
  uint32_t count(const penna_site_name& name) const { return penna_wanted_count(list.get(), &name); }
  uint32_t count(const char* name) const { return count(site(name)); }
};

TEST(Requests, CountsNestAndAreNeverNegative) {
  Requests requests;
  EXPECT_EQ(requests.count("a:b"), 0u);
  requests.add("a:b", penna_request_enable());
  requests.add("a:b", penna_request_enable());
  requests.add("a:b", penna_request_disable());
  EXPECT_EQ(requests.count("a:b"), 1u);
  requests.add("a:b", penna_request_disable());
  requests.add("a:b", penna_request_disable());
  EXPECT_EQ(requests.count("a:b"), 0u);
  requests.add("a:b", penna_request_enable());
  EXPECT_EQ(requests.count("a:b"), 1u);
}

TEST(Requests, OnAndOffAreNotCounted) {
  Requests requests;
  requests.add("*", penna_request_on());
  requests.add("*", penna_request_on());
  EXPECT_EQ(requests.count("a:b"), 1u);
  requests.add("a:*", penna_request_enable());
  EXPECT_EQ(requests.count("a:b"), 2u);
  requests.add("*", penna_request_on());
  EXPECT_EQ(requests.count("a:b"), 2u);
  requests.add("a:b", penna_request_off());
  EXPECT_EQ(requests.count("a:b"), 0u);
  EXPECT_EQ(requests.count("a:c"), 2u);
  EXPECT_EQ(requests.count("x:y"), 1u);
}

TEST(Requests, PatternsAreGlobsOrNumbers) {
  Requests requests;
  requests.add("25", penna_request_enable());
  EXPECT_EQ(requests.count(site("trigger:ID", PENNA_SITE_TRIGGER, 25)), 1u);
  EXPECT_EQ(requests.count(site("trigger:25", PENNA_SITE_TRIGGER, 26)), 0u);
  EXPECT_EQ(requests.count(site("25")), 0u);
  EXPECT_EQ(penna_pattern_number("0"), 0u);
  EXPECT_EQ(penna_pattern_number("4294967294"), 4294967294u);
  for (const char* none : {"", "4294967295", "99999999999999999999", "25x", "*", "-1"})
    EXPECT_EQ(penna_pattern_number(none), PENNA_NO_NUMBER) << none;
}

TEST(Requests, KindsAreKeptApart) {
  Requests requests;
  requests.add("*", penna_request_on(), 1u << PENNA_SITE_EVENT | 1u << PENNA_SITE_SPAN);
  EXPECT_EQ(requests.count(site("a:b", PENNA_SITE_EVENT)), 1u);
  EXPECT_EQ(requests.count(site("a:b", PENNA_SITE_SPAN)), 1u);
  EXPECT_EQ(requests.count(site("a:b", PENNA_SITE_TRIGGER)), 0u);
}

TEST(Requests, WhatRepeatsTakesNoRoom) {
  Requests requests;
  requests.add("a:b", penna_request_enable());
  requests.add("x:y", penna_request_enable());
  const uint32_t used = requests.list->used;
  for (int i = 0; i < 10000; ++i) {
    requests.add("a:*", penna_request_enable());
    requests.add("*:b", penna_request_enable());
    requests.add("a:*", penna_request_disable());
    requests.add("*:b", penna_request_disable());
  }
  EXPECT_EQ(requests.list->used, used);
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(requests.add(i % 2 == 0 ? "a:*" : "b:*", penna_request_on()));
  for (int i = 0; i < 10000; ++i)
    ASSERT_TRUE(requests.add(i % 3 == 0 ? "a:*" : "b:*", i % 2 == 0 ? penna_request_on() : penna_request_off()));
  requests.add("*", penna_request_off());
  EXPECT_EQ(requests.count("a:b"), 0u);
  Requests none;
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(none.add(i % 2 == 0 ? "a:*" : "b:*", penna_request_disable()));
  EXPECT_EQ(none.list->used, 0u);
}

// One family on, and some of it off again, as often as a program likes.
TEST(Requests, WhatCancelsOutTakesNoRoomEither) {
  for (const auto& [first, second] : std::vector<std::pair<const char*, const char*>>{
           {"db:read", "db:write"}, {"db:r*", "db:w*"}, {"db:r*", "db:write"}, {"db:read", "db:wr?te"}}) {
    Requests requests;
    uint32_t used = 0;
    for (int round = 0; round < 1000; ++round) {
      ASSERT_TRUE(requests.add("db:*", penna_request_enable()));
      ASSERT_TRUE(requests.add(first, penna_request_disable()));
      ASSERT_TRUE(requests.add(second, penna_request_disable()));
      if (round == 0) used = requests.list->used;
      ASSERT_EQ(requests.list->used, used) << first << " " << second << " in round " << round;
    }
    EXPECT_EQ(requests.count("db:read"), 0u);
    EXPECT_EQ(requests.count("db:open"), 1000u);
  }
}

TEST(Requests, WhatDoesNotFitIsRefusedWhole) {
  Requests requests;
  int added = 0;
  while (requests.add(("pattern:number_" + std::to_string(added)).c_str(), penna_request_enable())) ++added;
  EXPECT_GT(added, 80);
  const uint32_t used = requests.list->used;
  EXPECT_EQ(requests.count(("pattern:number_" + std::to_string(added)).c_str()), 0u);
  EXPECT_EQ(requests.list->used, used);
  EXPECT_TRUE(requests.add("pattern:number_3", penna_request_disable()));  // makes room again
  EXPECT_LT(requests.list->used, used);
  EXPECT_FALSE(requests.add(std::string(5000, 'x').c_str(), penna_request_enable()));
}

TEST(Requests, OfASwitchboardFindRoomForAllThatFitsIntoMemory) {
  auto board = std::make_unique<penna_switchboard>();
  const auto add = [&](const std::string& pattern, penna_request request) {
    return penna_remember_request(board.get(), pattern.c_str(), kAll, request) != 0;
  };
  const auto count = [&](const penna_site_name& name) {
    return penna_wanted_count(penna_requests_of(board.get()), &name);
  };
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_TRUE(add(std::to_string(i), penna_request_enable())) << i;
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_EQ(count(site("trigger:ID", PENNA_SITE_TRIGGER, i)), 1u) << i;
  EXPECT_TRUE(add(std::string(60000, '*'), penna_request_enable()));
  EXPECT_EQ(count(site("a:b")), 1u);
  EXPECT_FALSE(add(std::string(70000, '*'), penna_request_enable()));
  EXPECT_EQ(count(site("a:b")), 1u);
  EXPECT_TRUE(add("*", penna_request_off()));
  EXPECT_EQ(penna_requests_of(board.get())->used, 0u);
  ::munmap(reinterpret_cast<void*>(board->grown), penna_requests_of(board.get())->room + 8);
}

// Against a list that forgets nothing.
TEST(Requests, MergingChangesNoCount) {
  const char* patterns[] = {"*",     "a:*",     "*:x",   "a:x",      "b:*",          "7", "a:?", "[ab]:x",
                            "a:\\x", "*[ab]:*", "/^a:/", "/:[xy]$/", "/^(a:x|b:x)$/"};
  const std::vector<penna_site_name> sites = {site("a:x"),
                                              site("a:y"),
                                              site("b:x"),
                                              site("c:z"),
                                              site("a:x", PENNA_SITE_EVENT),
                                              site("t:7", PENNA_SITE_TRIGGER, 7)};
  const penna_request kinds_of_request[] = {penna_request_enable(), penna_request_disable(), penna_request_on(),
                                            penna_request_off()};
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::shuffle(std::begin(patterns), std::end(patterns), random);
    Requests requests;
    struct Step {
      const char* pattern;
      penna_request request;
      uint32_t kinds;
    };
    std::vector<Step> all;
    // Few patterns and few kinds of requests in a round, so that they meet.
    const size_t pattern_count = 1 + random() % 10, request_count = 1 + random() % 4, first = random() % 4;
    for (int i = 0; i < 40; ++i) {
      Step step{patterns[random() % pattern_count], kinds_of_request[(first + random() % request_count) % 4],
                random() % 4 == 0 ? 1u << PENNA_SITE_TRIGGER : kAll};
      all.push_back(step);
      ASSERT_TRUE(requests.add(step.pattern, step.request, step.kinds));
      for (const penna_site_name& name : sites) {
        uint32_t expected = 0;
        for (const Step& s : all)
          if (penna_pattern_matches(s.pattern, s.kinds, &name)) expected = penna_request_applied(s.request, expected);
        ASSERT_EQ(requests.count(name), expected) << name.full << " after " << all.size() << " in round " << round;
      }
    }
  }
}

}  // namespace
