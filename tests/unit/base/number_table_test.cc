// SPDX-License-Identifier: MIT
// NumberTable: does what a map does, for any keys and any order of operations.
#include "base/number_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace penna::number_table_test {
namespace {

TEST(NumberTable, IsEmptyAtFirst) {
  NumberTable<int> table;
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.find(7), nullptr);
  table.prefetch(7);
}

TEST(NumberTable, HasEveryKey) {
  NumberTable<int> table;
  for (const uint64_t key : {uint64_t{0}, uint64_t{1}, UINT64_MAX, UINT64_MAX - 1}) {
    EXPECT_EQ(table.find(key), nullptr) << key;
    EXPECT_TRUE(table.try_emplace(key, 5).added) << key;
    EXPECT_FALSE(table.try_emplace(key, 6).added) << key;
    ASSERT_NE(table.find(key), nullptr) << key;
    EXPECT_EQ(*table.find(key), 5) << key;
  }
  EXPECT_EQ(table.size(), 4u);
  table.erase(table.find(UINT64_MAX));
  EXPECT_EQ(table.find(UINT64_MAX), nullptr);
  EXPECT_EQ(table.size(), 3u);
}

// Few different keys, close together: entries meet, and those behind an erased one must still be found.
TEST(NumberTable, DoesWhatAMapDoes) {
  std::mt19937_64 random(1);
  for (const uint64_t keys : {40, 3000}) {
    NumberTable<uint64_t> table;
    std::map<uint64_t, uint64_t> map;
    for (uint64_t step = 0; step < 200'000; ++step) {
      const uint64_t key = random() % keys * 16;
      if (random() % 2 == 0) {
        const auto [found, is_new] = map.try_emplace(key, step);
        const auto entry = table.try_emplace(key, step);
        ASSERT_EQ(entry.added, is_new);
        ASSERT_EQ(*entry.value, found->second);
      } else {
        const uint64_t* found = table.find(key);
        ASSERT_EQ(found != nullptr, map.erase(key) != 0);
        if (found != nullptr) table.erase(found);
      }
      ASSERT_EQ(table.size(), map.size());
    }
    std::map<uint64_t, uint64_t> rest;
    table.for_each([&](uint64_t key, uint64_t value) { rest[key] = value; });
    EXPECT_EQ(rest, map);
  }
}

}  // namespace
}  // namespace penna::number_table_test
