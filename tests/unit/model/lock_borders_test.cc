// SPDX-License-Identifier: MIT
// Waits at the limits of what is known: of a recorder that was killed, of locks held by another process, of a range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysed_waits.h"

namespace penna::lock_borders_test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Analysed = AnalysedWaits;

constexpr uint64_t kMutex = 0x5000;
constexpr uint64_t kWrite = ThreadBuilder::of_sync(PENNA_SYNC_WRITE, 0x6000);

class LockBorders : public WaitsTest {};

// The recorder was killed, and nobody told of an end: who waited did so at least until the last clocks were written.
TEST_F(LockBorders, OpenCallsOfAKilledRecorderEndAtItsLastClocks) {
  thread(0).lock_at(kMutex, 10, 1);
  thread(1).lock_request(kMutex, 30, 2, 1001);
  for (const uint64_t time : {1u, 130u})
    if (!build_.writer().write_clock({time, time, time})) std::abort();
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), ElementsAre("2 x 1 held: 1 100 100"));
}

// A lock in memory that two processes share, which lies elsewhere in each, at the same place of a page. 1001 of the first holds it and its
// own; a thread of the second waits, as later when nobody says who the owner is.
TEST_F(LockBorders, HolderInAnotherProcessIsKnownWithItsStack) {
  constexpr uint64_t kShared = 0x7f0000003040, kThere = 0x7e0000009040, kOther = 0x7f0000003080;
  ThreadBuilder& waiter = build_.thread(build_.process(200, 1), 1);
  thread(0).lock_at(kShared, 10, 1);
  thread(0).lock_at(kOther, 11, 7);
  waiter.waited(kThere, 20, 61, 1, 1001);
  thread(0).unlock(kShared, 60);
  thread(1).lock_at(kShared, 70, 3);
  waiter.unlock(kThere, 65);
  waiter.waited(kThere, 75, 95, 1);
  thread(1).unlock(kShared, 90);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("1 x 1 held: 1 40 40", "1 x 3 held: 1 15 15", "1 x 0 nobody: 2 6 5"));
  EXPECT_EQ(other_process(seen.of(kThere), seen.locks.pairs()[0]), 0u);
  EXPECT_EQ(seen.locks.groups()[0].waited, 40u);
}

TEST_F(LockBorders, HolderInAnotherProcessMayStillHoldIt) {
  constexpr uint64_t kShared = 0x7f0000003040, kThere = 0x7e0000009040;
  ThreadBuilder& waiter = build_.thread(build_.process(200, 1), 1);
  thread(0).lock_at(kShared, 10, 1);
  waiter.waited(kThere, 20, 50, 2, 1001, PENNA_WAIT_TIMEOUT);
  waiter.lock_request(kThere, 60, 3, 1001);
  thread(0).lock_at(kMutex, 100, 9);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("2 x 1 held: 1 30 30", "3 x 1 held: 1 40 40"));
}

// A semaphore and a condition in memory that a forked process shares.
TEST_F(LockBorders, WakerInAnotherProcessIsKnownWithItsStack) {
  constexpr uint64_t kSemaphore = ThreadBuilder::of_sync(PENNA_SYNC_SEMAPHORE, 0x7000),
                     kCondition = ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, 0x8000);
  const uint32_t child = build_.process(200, 100, 5);
  build_.thread(child, 1).waited(kSemaphore, 10, 31, 2);
  thread(0).unlock_at(kSemaphore, 30, 1);
  build_.thread(child, 1).lock_request(kCondition, 40, 3);
  thread(0).wake(kCondition, 50, 1, 4);
  Analysed seen(build_);
  EXPECT_EQ(seen.pairs()[0], "2 x 1 woke: 1 21 21");
  EXPECT_EQ(seen.locks.pairs()[0].other_process, 0u);
  for (const ConditionStats& one : seen.locks.conditions()) EXPECT_EQ(one.unheard, 0u);
}

// 0 holds it from 10 to 60, 1 waits from 20 to 61: of a range that begins at 50, 10 and 11. Its holder is known from before.
TEST_F(LockBorders, RangeCountsItsOwnWaitsAndKnowsEarlierHolders) {
  thread(0).lock_at(kMutex, 10, 1);
  thread(0).lock_at(kWrite, 11, 9);
  thread(0).unlock(kWrite, 12);
  thread(1).waited(kMutex, 20, 61, 2, 1001);
  thread(0).unlock(kMutex, 60);
  Recording recording = build_.open();
  CallRules rules;
  rules.begin = 50;
  select_calls(recording, rules);
  Locks locks(recording);
  visit_past(recording, kLockEvents, locks);
  for_each_event(recording, {.classes = kLockEvents}, locks);
  locks.finish();
  ASSERT_EQ(locks.pairs().size(), 2u);
  EXPECT_EQ(locks.pairs()[0].side, OtherSide::kHeld);
  EXPECT_EQ(locks.pairs()[0].other_stack, 1u);
  EXPECT_EQ(locks.pairs()[0].time, 10u);
  EXPECT_EQ(locks.pairs()[1].time, 1u);
  ASSERT_EQ(locks.by_wait().size(), 1u);  // the other one was used before
  EXPECT_EQ(locks.by_wait()[0]->wait.sum(), 11u);
  EXPECT_EQ(locks.by_wait()[0]->hold.max(), 10u);
  EXPECT_EQ(locks.by_wait()[0]->acquisitions, 1u);
  EXPECT_EQ(locks.counts().locks, 1u);
}

}  // namespace
}  // namespace penna::lock_borders_test
