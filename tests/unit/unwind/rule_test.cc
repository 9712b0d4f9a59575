// SPDX-License-Identifier: MIT
// Rule packing and the rule cache.
#include "unwind/rule.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "support.h"

namespace penna::unwind {
namespace {

FrameRule from_sp(int32_t cfa) { return {0, cfa, 0}; }

TEST(Rule, PackedRuleComesBackTheSame) {
  std::mt19937 random(1);
  const uint8_t kinds[] = {0,
                           FrameRule::kBaseFp,
                           FrameRule::kFpAtCfa,
                           FrameRule::kBaseFp | FrameRule::kFpAtCfa,
                           FrameRule::kBaseFp | FrameRule::kDeref | FrameRule::kFpAtFp,
                           FrameRule::kFpLost,
                           FrameRule::kExact,
                           FrameRule::kExact | FrameRule::kFpAtCfa};
  int packed = 0;
  for (int i = 0; i < 100'000; ++i) {
    FrameRule rule;
    rule.flags = kinds[random() % std::size(kinds)];
    rule.cfa_offset = static_cast<int32_t>(random() % (1 << 20)) - (1 << 19);
    rule.fp_offset =
        rule.keeps_fp() || (rule.flags & FrameRule::kFpLost) ? 0 : static_cast<int32_t>(random() % 16384) - 8192;
    if (i % 2) rule.cfa_offset &= ~7, rule.fp_offset &= ~7;
    const Rule short_form = pack(rule);
    EXPECT_FALSE(short_form.empty());
    if (short_form.bits == kWideRule.bits) continue;
    ++packed;
    ASSERT_EQ(unpack(short_form), rule) << "flags " << int{rule.flags} << " cfa " << rule.cfa_offset << " fp "
                                        << rule.fp_offset;
  }
  EXPECT_GT(packed, 5'000);
}

TEST(Rule, LimitsOfThePackedForm) {
  EXPECT_EQ(unpack(pack(from_sp((1 << 18) - 8))), from_sp((1 << 18) - 8));
  EXPECT_TRUE(unpack(pack(from_sp(1 << 18))).is(FrameRule::kWide));
  EXPECT_TRUE(unpack(pack(from_sp(12))).is(FrameRule::kWide));
  const FrameRule far_fp{FrameRule::kFpAtCfa, 8192, -4096};
  EXPECT_EQ(unpack(pack(far_fp)), far_fp);
  EXPECT_TRUE(unpack(pack({FrameRule::kFpAtCfa, 8192, -4104})).is(FrameRule::kWide));
  for (auto special : {FrameRule::kNone, FrameRule::kUnsupported, FrameRule::kEnd, FrameRule::kSignal}) {
    EXPECT_TRUE(unpack(pack(special_rule(special))).is(special));
    EXPECT_FALSE(pack(special_rule(special)).plain());
  }
  EXPECT_TRUE(pack(from_sp(8)).plain());
}

TEST(RuleCache, FindsExactlyWhatWasStored) {
  Unwinder unwinder;
  RuleCache& cache = unwinder.walker.cache;
  std::mt19937_64 random(2);
  std::vector<uintptr_t> keys;
  keys.reserve(20'000);
  for (int i = 0; i < 20'000; ++i) keys.push_back(random() >> 16);
  for (uintptr_t key : keys) cache.put(key, pack(from_sp(static_cast<int32_t>(key % 1000 + 1) * 8)), 0);
  int found = 0;
  for (uintptr_t key : keys) {
    const Rule rule = cache.find(key);
    if (rule.empty()) continue;  // replaced by another key of the same index
    ++found;
    ASSERT_EQ(rule.cfa_offset(), static_cast<intptr_t>(key % 1000 + 1) * 8);
  }
  EXPECT_GT(found, 15'000);
  for (int i = 0; i < 1'000'000; ++i) {
    const uintptr_t key = random() >> 16;
    const Rule rule = cache.find(key);
    if (!rule.empty()) {
      ASSERT_EQ(rule.cfa_offset(), static_cast<intptr_t>(key % 1000 + 1) * 8) << "a false hit";
    }
  }
}

TEST(RuleCache, ClearForgetsAndRefusesOldGenerations) {
  Unwinder unwinder;
  RuleCache& cache = unwinder.walker.cache;
  const uint32_t before = cache.generation();
  cache.put(0x1234, pack(from_sp(16)), before);
  EXPECT_FALSE(cache.find(0x1234).empty());
  cache.clear();
  EXPECT_TRUE(cache.find(0x1234).empty());
  cache.put(0x1234, pack(from_sp(16)), before);
  EXPECT_TRUE(cache.find(0x1234).empty());
  cache.put(uintptr_t{1} << 48, pack(from_sp(16)), cache.generation());
  EXPECT_TRUE(cache.find(uintptr_t{1} << 48).empty());
  EXPECT_TRUE(cache.find(0).empty());
}

TEST(RuleCache, ThreadsSeeOnlyTrueEntries) {
  Unwinder unwinder;
  RuleCache& cache = unwinder.walker.cache;
  const auto truth = [](uintptr_t key) { return static_cast<intptr_t>(key % 4000 + 1) * 8; };
  const auto run = [&](unsigned seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 300'000; ++i) {
      const uintptr_t key = random() % 200'000;
      const Rule rule = cache.find(key);
      if (rule.empty()) {
        cache.put(key, pack(from_sp(static_cast<int32_t>(truth(key)))), cache.generation());
      } else {
        ASSERT_EQ(rule.cfa_offset(), truth(key));
      }
      if (i % 100'000 == 99'999) cache.clear();
    }
  };
  std::thread other(run, 3);
  run(4);
  other.join();
}

}  // namespace
}  // namespace penna::unwind
