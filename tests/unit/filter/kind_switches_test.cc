// SPDX-License-Identifier: MIT
// KindSwitches: what begins while its kind is off is left out, what had begun before is not; of calls, CallSieve decides.
#include "filter/kind_switches.h"

#include <gtest/gtest.h>

#include "filter/call_sieve.h"
#include "recording/chunk_builder.h"

namespace penna::kind_switches_test {
namespace {

constexpr uint64_t kStart = 1'000'000, kOff = kStart + 100, kOn = kStart + 200;
constexpr uint64_t kOuter = 0x5555'0000'1000, kInner = 0x5555'0000'2000;

TEST(KindSwitches, ASwitchHoldsFromItsTimeOn) {
  KindSwitches switches;
  EXPECT_FALSE(switches.any());
  EXPECT_FALSE(switches.add(PENNA_ALLOC, true, kStart)) << "it is on from the start";
  EXPECT_TRUE(switches.add(PENNA_ALLOC, false, kOff));
  EXPECT_FALSE(switches.add(PENNA_ALLOC, false, kOff + 1));
  EXPECT_TRUE(switches.add(PENNA_ALLOC, true, kOn));
  EXPECT_TRUE(switches.any(PENNA_ALLOC));
  EXPECT_FALSE(switches.any(PENNA_LOCKS));
  EXPECT_FALSE(switches.is_off(PENNA_ALLOC, kOff - 1));
  EXPECT_TRUE(switches.is_off(PENNA_ALLOC, kOff));
  EXPECT_TRUE(switches.is_off(PENNA_ALLOC, kOn - 1));
  EXPECT_FALSE(switches.is_off(PENNA_ALLOC, kOn));
  EXPECT_FALSE(switches.is_off(PENNA_LOCKS, kOff));
}

// The kinds of the records of a chunk that are left out while allocations and locks are off.
std::vector<uint32_t> left_out(std::vector<uint8_t> chunk) {
  KindSwitches switches;
  switches.add(PENNA_ALLOC, false, kOff);
  switches.add(PENNA_LOCKS, false, kOff);
  std::vector<uint32_t> kinds;
  RecordCursor in(chunk);
  Record record;
  while (in.next(record))
    if (switches.leaves_out(record)) kinds.push_back(record.kind);
  return kinds;
}

TEST(KindSwitches, BlocksAreLeftOutAndFreesAreNot) {
  ChunkBuilder chunk(kStart);
  chunk.alloc(0x1000, 8, 1, kOff - 1).alloc(0x2000, 8, 1, kOff).free(0x1000, kOff + 1).free(0x2000, kOff + 2);
  chunk.full(PENNA_KIND_MAP, kOff + 3, penna_map{}).full(PENNA_KIND_UNMAP, kOff + 4, penna_unmap{});
  EXPECT_EQ(left_out(chunk.close()), (std::vector<uint32_t>{PENNA_KIND_ALLOC, PENNA_KIND_MAP}));
}

TEST(KindSwitches, AWaitIsJudgedByItsBegin) {
  ChunkBuilder chunk(kStart);
  chunk.full(PENNA_KIND_LOCK_WAIT, kOff + 5, penna_lock_wait{1, kOff - 5, 0, 0, 0, 0});
  chunk.full(PENNA_KIND_UNLOCK, kOff + 6, penna_lock{1});
  chunk.full(PENNA_KIND_LOCK_WAIT, kOff + 9, penna_lock_wait{1, kOff + 7, 0, 0, 0, 0});
  chunk.full(PENNA_KIND_LOCK, kOff + 10, penna_lock{2}).full(PENNA_KIND_UNLOCK, kOff + 11, penna_lock{2});
  EXPECT_EQ(left_out(chunk.close()), (std::vector<uint32_t>{PENNA_KIND_LOCK_WAIT, PENNA_KIND_LOCK}));
}

// The pcs of a chunk's call records that are kept, exits negated.
std::vector<int64_t> kept(CallSieve& sieve, const std::vector<uint8_t>& chunk) {
  sieve.add(chunk);
  const ChunkCut cut = sieve.take().cut;
  std::vector<int64_t> pcs;
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    const size_t offset = static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t);
    if (cut.leaves_out(offset)) continue;
    const auto pc = static_cast<int64_t>(record.pc);
    pcs.push_back(record.kind == PENNA_KIND_CALL_ENTRY ? pc : -pc);
  }
  return pcs;
}

TEST(KindSwitches, ACallIsLeftOutWithItsExit) {
  auto switches = std::make_shared<KindSwitches>();
  switches->add(PENNA_CALLS, false, kOff);
  switches->add(PENNA_CALLS, true, kOn);
  CallRules rules;
  rules.switches = switches;
  CallSieve sieve(rules, 0);
  constexpr auto kIn = static_cast<int64_t>(kInner), kOut = static_cast<int64_t>(kOuter);
  ChunkBuilder before(kStart, 1, 0), after(kStart, 1, 1);
  // Recursion: the outer call began before, the inner ones end while it is off, and after.
  before.entry(kOuter, kOff - 10).entry(kInner, kOff - 5).exit(kInner, kOff + 1);
  before.entry(kOuter, kOff + 2).exit(kOuter, kOff + 3).entry(kOuter, kOff + 4);
  EXPECT_EQ(kept(sieve, before.close()), (std::vector<int64_t>{kOut, kIn, -kIn}));
  after.entry(kInner, kOn).exit(kInner, kOn + 1).exit(kOuter, kOn + 2).exit(kOuter, kOn + 3);
  EXPECT_EQ(kept(sieve, after.close()), (std::vector<int64_t>{kIn, -kIn, -kOut}));
  EXPECT_EQ(sieve.calls_switched_out(), 2u);
  EXPECT_EQ(sieve.calls_left_out(), 0u);
}

// It is made when something is switched first: calls are open of which it knows nothing.
TEST(KindSwitches, CallsThatWereOpenBeforeTheSieveEnd) {
  auto switches = std::make_shared<KindSwitches>();
  switches->add(PENNA_CALLS, false, kOff);
  CallRules rules;
  rules.switches = switches;
  CallSieve sieve(rules, 0, true);
  ChunkBuilder chunk(kStart, 1, 7);
  chunk.entry(kInner, kOff + 1).exit(kInner, kOff + 2).exit(kOuter, kOff + 3);
  EXPECT_EQ(kept(sieve, chunk.close()), (std::vector<int64_t>{-static_cast<int64_t>(kOuter)}));
}

}  // namespace
}  // namespace penna::kind_switches_test
