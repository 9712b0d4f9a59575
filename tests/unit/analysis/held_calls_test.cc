// SPDX-License-Identifier: MIT
// HeldCalls: the calls during which locks were held, in recordings built event by event.
#include "model/locks/held_calls.h"

#include <gmock/gmock.h>

#include "../model/lock_events.h"
#include "analysis/analyses.h"

namespace penna::held_calls_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr uint64_t kLock = 0x9000, kOther = 0x9100;
constexpr uint64_t kWork = 0x100, kFlush = 0x200, kFormat = 0x300;

class HeldCallsTest : public LockEventsTest {
 protected:
  // Function (0: no recorded call) and time of what was done while a lock was held, most first.
  std::vector<std::pair<uint64_t, uint64_t>> of(uint64_t address) {
    if (!recording_) {
      recording_.emplace(build.open());
      map_.emplace(*recording_);
      analyses_ =
          analyse(*recording_, summarize(*recording_), *map_, {.classes = kLockEvents, .held_calls = true}, nullptr);
    }
    std::vector<std::pair<uint64_t, uint64_t>> result;
    if (analyses_.held_calls == nullptr) return result;
    const auto& locks = analyses_.locks->all();
    for (uint32_t lock = 0; lock < locks.size(); ++lock)
      if (locks[lock].address == address)
        for (const HeldCalls::Sum& sum : analyses_.held_calls->of(lock))
          result.emplace_back(sum.function == kNoFunction ? 0 : analyses_.held_calls->place(sum.function).address,
                              sum.time);
    return result;
  }
  uint64_t held(uint64_t address) {
    for (const LockStats& lock : analyses_.locks->all())
      if (lock.address == address) return lock.hold.sum();
    return 0;
  }

  std::optional<Recording> recording_;
  std::optional<CodeMap> map_;
  Analyses analyses_;
};

TEST_F(HeldCallsTest, TimeIsOfTheInnermostCallWithinTheHold) {
  ThreadBuilder& one = thread(1);
  one.enter(kWork, 100);
  one.lock(kLock, 150);
  one.enter(kFlush, 160);   // 10 of work
  one.enter(kFormat, 200);  // 40 of flush
  one.exit(kFormat, 230);   // 30 of format
  one.exit(kFlush, 250);    // 20 of flush
  one.unlock(kLock, 255);   // 5 of work
  one.enter(kFlush, 300);   // not while it is held
  one.exit(kFlush, 900);
  one.exit(kWork, 1000);
  EXPECT_THAT(of(kLock), ElementsAre(Pair(kFlush, 60), Pair(kFormat, 30), Pair(kWork, 15)));
  EXPECT_EQ(held(kLock), 105u) << "the sums are the whole time of the hold";
}

TEST_F(HeldCallsTest, OfSeveralLocksEachGetsTheTime) {
  ThreadBuilder& one = thread(1);
  one.enter(kWork, 100);
  one.lock(kLock, 110);
  one.lock(kOther, 120);
  one.enter(kFlush, 130);
  one.unlock(kLock, 140);  // in the call
  one.exit(kFlush, 160);
  one.unlock(kOther, 165);
  one.exit(kWork, 170);
  EXPECT_THAT(of(kLock), ElementsAre(Pair(kWork, 20), Pair(kFlush, 10)));
  EXPECT_THAT(of(kOther), ElementsAre(Pair(kFlush, 30), Pair(kWork, 15)));
}

TEST_F(HeldCallsTest, OtherThreadsCallsAreNobodysBusiness) {
  ThreadBuilder &one = thread(1), &two = thread(2);
  one.lock(kLock, 100);
  two.enter(kFlush, 110);
  two.exit(kFlush, 190);
  one.unlock(kLock, 200);
  EXPECT_THAT(of(kLock), ElementsAre(Pair(0, 100))) << "no call of the holder was recorded";
}

TEST_F(HeldCallsTest, HoldsThatAreNotOverCountToTheEnd) {
  ThreadBuilder& one = thread(1);
  one.enter(kWork, 100);
  one.lock(kLock, 150);
  one.enter(kFlush, 170);
  thread(2).enter(kFormat, 400);
  thread(2).exit(kFormat, 500);
  EXPECT_THAT(of(kLock), ElementsAre(Pair(kFlush, 330), Pair(kWork, 20)));
  EXPECT_EQ(held(kLock), 350u);
}

// A lock that is taken again by its holder is held once, for the time of the outermost.
TEST_F(HeldCallsTest, RecursiveHoldsCountOnce) {
  ThreadBuilder& one = thread(1);
  one.enter(kWork, 100);
  one.lock(kLock, 110);
  one.lock(kLock, 120);
  one.unlock(kLock, 130);
  one.unlock(kLock, 150);
  one.exit(kWork, 160);
  EXPECT_THAT(of(kLock), ElementsAre(Pair(kWork, 40)));
}

TEST_F(HeldCallsTest, AfterALossNothingIsMadeUp) {
  ThreadBuilder& one = thread(1);
  one.enter(kWork, 100);
  one.lock(kLock, 110);
  one.enter(kFlush, 120);
  one.skip_chunk();
  one.lock(kOther, 200);
  one.unlock(kOther, 230);
  for (const auto& [function, time] : of(kLock)) EXPECT_LE(time, 10u) << function;
}

TEST_F(HeldCallsTest, WithoutCallsThereIsNothing) {
  thread(1).lock(kLock, 100);
  thread(1).unlock(kLock, 200);
  EXPECT_THAT(of(kLock), IsEmpty());
  EXPECT_EQ(analyses_.held_calls, nullptr);
}

}  // namespace
}  // namespace penna::held_calls_test
