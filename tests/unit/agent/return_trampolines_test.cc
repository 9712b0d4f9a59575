// SPDX-License-Identifier: MIT
// return_link(): one trampoline per pair, with many concurrent threads, up to the end of the table and beyond.
#include "agent/core/return_trampolines.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

// What calls_x86_64.S has: of the trampolines only their addresses matter.
namespace penna::agent {
extern "C" {
alignas(4096) extern const uint8_t penna_return_trampolines[(kTrampolines + kMaxProbes) * kTrampolineBytes] = {};
ReturnLink penna_return_links[kTrampolines + kMaxProbes];
}

namespace {

constexpr uint32_t kRoom = kTrampolines / 8 * 7;

class ReturnLinks : public testing::Test {
 protected:
  static void SetUpTestSuite() { looked_up = 0; }
  static std::atomic<size_t> looked_up;
  static LinkedFunction function_of(uintptr_t resume) {
    ++looked_up;
    return {resume & ~uintptr_t{0xff}, 0};
  }
  static const ReturnLink* link(uintptr_t caller, uintptr_t resume, uintptr_t flags = 0) {
    return return_link(caller, resume, flags, function_of);
  }
};
std::atomic<size_t> ReturnLinks::looked_up;

// In this order, for the table cannot be emptied.
TEST_F(ReturnLinks, OnePairHasOneLinkAndOneTrampoline) {
  const ReturnLink* first = link(0x401005, 0x402106);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(link(0x401005, 0x402106), first);
  EXPECT_EQ(looked_up, 1u);
  EXPECT_EQ(first->function, 0x402100u);
  const uintptr_t way = first->way & ~kWayFlags;
  EXPECT_TRUE(is_trampoline(way) && is_trampoline(way + kReturnsAt));
  EXPECT_EQ(&link_of_trampoline(way + kReturnsAt), first);
  EXPECT_EQ(real_caller(way + kReturnsAt), 0x401005u);
  EXPECT_EQ(real_caller(0x401005), 0x401005u);
  const ReturnLink* second = link(0x401005, 0x403106, kJumps | kAsks);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->way & kWayFlags, kJumps | kAsks);
}

TEST_F(ReturnLinks, CodeThatWasUnmappedIsLookedUpAgain) {
  const ReturnLink* stale = link(0x501005, 0x502106);
  const ReturnLink* other = link(0x601005, 0x602106);
  mark_return_links_stale(0x502000, 0x503000);
  EXPECT_NE(stale->way & kStale, 0u);
  EXPECT_EQ(other->way & kStale, 0u);
  const size_t before = looked_up;
  EXPECT_EQ(link(0x501005, 0x502106), stale);
  EXPECT_EQ(stale->way & kStale, 0u);
  EXPECT_EQ(looked_up, before + 1);
  mark_return_links_stale(0x501000, 0x502000);  // by its caller
  EXPECT_NE(stale->way & kStale, 0u);
}

TEST_F(ReturnLinks, ThreadsAgreeOrHaveLinksOfTheirOwn) {
  constexpr int kThreads = 4;
  constexpr uintptr_t kPairs = 3000;
  std::vector<std::vector<const ReturnLink*>> links(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&links, t] {
      for (uintptr_t i = 0; i < kPairs; ++i) links[t].push_back(link(0x700000 + i * 37, 0x800000 + i * 53));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& of_thread : links)
    for (uintptr_t i = 0; i < kPairs; ++i) {
      ASSERT_NE(of_thread[i], nullptr);
      EXPECT_EQ(of_thread[i]->caller, 0x700000 + i * 37);
      EXPECT_EQ(of_thread[i]->resume, 0x800000 + i * 53);
    }
}

TEST_F(ReturnLinks, PairsThatBeginAtOnePlaceAllHaveALink) {
  constexpr uintptr_t kPairs = 1000;
  std::set<const ReturnLink*> seen;
  const auto nth = [](uintptr_t i) { return link(0x3000000 - i * 32, 0x4000006 + i * 256); };
  for (uintptr_t i = 0; i < kPairs; ++i) {
    ASSERT_NE(nth(i), nullptr) << i;
    EXPECT_TRUE(seen.insert(nth(i)).second) << i;
  }
}

TEST_F(ReturnLinks, AFullTableGivesNoneAndKeepsWhatItHas) {
  std::set<const ReturnLink*> seen;
  size_t refused = 0;
  for (uintptr_t i = 0; i < kTrampolines * 2; ++i) {
    const ReturnLink* found = link(0x10000000 + i * 5, 0x20000000 + (i % 100) * 16 + 6);
    if (found == nullptr)
      ++refused;
    else
      EXPECT_TRUE(seen.insert(found).second);
  }
  EXPECT_GT(seen.size(), kRoom - 6000u);  // what the tests before this one took
  EXPECT_LE(seen.size(), kRoom);
  EXPECT_EQ(refused, kTrampolines * 2 - seen.size());
  EXPECT_EQ(link(0x99999, 0x99999), nullptr);
  const ReturnLink* first = link(0x401005, 0x402106);  // known since the beginning
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->caller, 0x401005u);
  // Where every search ends.
  EXPECT_EQ(penna_return_links[kTrampolines + kMaxProbes - 1].caller, 0u);
}

}  // namespace
}  // namespace penna::agent
