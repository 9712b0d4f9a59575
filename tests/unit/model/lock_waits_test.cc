// SPDX-License-Identifier: MIT
// Waits and the holders they are charged to: consecutive holders, readers, unknown holders, endless waits, successive
// locks at one address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analysed_waits.h"

namespace penna::lock_waits_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr uint64_t kMutex = 0x5000;
constexpr uint64_t kRead = ThreadBuilder::of_sync(PENNA_SYNC_READ, 0x6000);
constexpr uint64_t kWrite = ThreadBuilder::of_sync(PENNA_SYNC_WRITE, 0x6000);
constexpr uint64_t kSemaphore = ThreadBuilder::of_sync(PENNA_SYNC_SEMAPHORE, 0x7000);

using Analysed = AnalysedWaits;
class Waits : public WaitsTest {};

// 0 holds 10..40 and 1 holds 45..80, both while 2 waits 20..82: the lock is free for 5 and then for 2.
TEST_F(Waits, EachHolderIsChargedWithItsOwnTime) {
  thread(0).lock_at(kMutex, 10, 1);
  thread(2).waited(kMutex, 20, 82, 3, 1001);
  thread(0).unlock(kMutex, 40);
  thread(1).lock_at(kMutex, 45, 2);
  thread(1).unlock(kMutex, 80);
  thread(2).unlock(kMutex, 90);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("3 x 1 held: 1 20 20", "3 x 2 held: 1 35 35", "3 x 0 nobody: 1 7 7"));
  for (const WaitPair& pair : seen.locks.pairs()) {
    EXPECT_EQ(pair.waker, 1u);
    EXPECT_EQ(pair.thread, 2u);
  }
  std::vector<std::pair<uint32_t, uint64_t>> waited;
  for (const HoldGroup& group : seen.locks.groups()) waited.emplace_back(group.stack, group.waited);
  EXPECT_THAT(waited, UnorderedElementsAre(std::pair(1u, 20u), std::pair(2u, 35u), std::pair(3u, 0u)));
}

// The stack of a holder is where it took the lock: by LOCK_AT, by the end of its own wait; else where it gave it back.
TEST_F(Waits, WhereTheHolderTookTheLock) {
  thread(0).lock(kMutex, 10);
  thread(1).waited(kMutex, 20, 41, 5);
  thread(0).unlock_at(kMutex, 40, 9);
  thread(2).waited(kMutex, 30, 61, 6);
  thread(1).unlock(kMutex, 60);
  thread(2).unlock(kMutex, 70);
  thread(0).lock(kMutex, 80);
  thread(1).waited(kMutex, 85, 95, 5, 1001, PENNA_WAIT_TIMEOUT);
  thread(0).unlock(kMutex, 100);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(),
              UnorderedElementsAre("5 x 9 gave back: 1 20 20", "5 x 0 nobody: 1 1 1", "6 x 9 gave back: 1 10 10",
                                   "6 x 5 held: 1 19 19", "6 x 0 nobody: 1 2 2", "5 x 0 unknown: 1 10 10"));
  EXPECT_EQ(seen.of(kMutex).timeouts, 1u);
}

// 0 and 1 read 10..50 and 20..70; 2 writes after waiting 30..71: 20 for the reader that was there first, 20 for the other.
TEST_F(Waits, ReadersShareALock) {
  thread(0).lock_at(kRead, 10, 1);
  thread(1).lock_at(kRead, 20, 2);
  thread(0).unlock(kRead, 50);
  thread(1).unlock(kRead, 70);
  thread(2).waited(kWrite, 30, 71, 3);
  thread(2).unlock(kWrite, 90);
  thread(3).lock(kRead, 95);
  thread(3).unlock(kRead, 96);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("3 x 1 held: 1 20 20", "3 x 2 held: 1 20 20", "3 x 0 nobody: 1 1 1"));
  const LockStats& lock = seen.of(0x6000);
  EXPECT_EQ(lock.kind, LockKind::kRwlock);
  EXPECT_EQ(lock.acquisitions, 4u);
  EXPECT_EQ(lock.shared, 3u);
  EXPECT_EQ(lock.hold.sum(), 40u + 50 + 19 + 1);
  EXPECT_EQ(lock.missed_unlocks + lock.unmatched_unlocks, 0u);
}

TEST_F(Waits, AWriterAmongReadersMeansThatUnlocksAreMissing) {
  thread(0).lock(kRead, 10);
  thread(1).lock(kRead, 20);
  thread(2).lock(kWrite, 30);
  thread(0).unlock(kRead, 40);
  thread(2).unlock(kWrite, 50);
  Analysed seen(build_);
  EXPECT_EQ(seen.of(0x6000).missed_unlocks, 2u);
  EXPECT_EQ(seen.of(0x6000).unmatched_unlocks, 1u);
  EXPECT_EQ(seen.of(0x6000).hold.sum(), 20u);
}

// It held the lock since before the recording.
TEST_F(Waits, WhoGivesBackWhatItWasNotSeenToTakeHadHeldIt) {
  thread(1).waited(kMutex, 20, 52, 5);
  thread(0).unlock_at(kMutex, 50, 7);
  thread(1).unlock(kMutex, 60);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("5 x 7 gave back: 1 30 30", "5 x 0 nobody: 1 2 2"));
  EXPECT_EQ(seen.of(kMutex).unmatched_unlocks, 1u);
}

// Waits and holds that are still open count up to the end of the process.
// 1 waits for a condition from 10 on; 0 signals it at 30, and holds the mutex until 130: 100 of the wait are for the mutex.
TEST_F(Waits, WhoSignalsAndHoldsOnIsWaitedFor) {
  constexpr uint64_t kCondition = ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, 0x8000);
  thread(1).lock_request(kCondition, 10, 2);
  thread(0).lock_at(kMutex, 20, 1);
  thread(0).wake(kCondition, 30, 1, 3);
  thread(0).unlock(kMutex, 130);
  thread(1).cond_wait(kMutex, 0x8000, 10, 132, PENNA_WAIT_GOT, 2);
  thread(1).unlock(kMutex, 140);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(),
              UnorderedElementsAre("2 x 3 woke: 1 20 20", "2 x 1 held: 1 100 100", "2 x 0 nobody: 1 2 2"));
  EXPECT_EQ(seen.of(kMutex).wait.sum(), 102u);
  EXPECT_EQ(seen.of(kMutex).contended, 1u);
  EXPECT_EQ(seen.of(kMutex).acquisitions, 2u);
  EXPECT_EQ(seen.of(0x8000).wait.sum(), 20u);
  EXPECT_EQ(seen.locks.groups()[0].waited, 100u);
}

// Three are woken at 30, when 0 gives the mutex back; each holds it for 50, and those behind wait for all in front of them.
TEST_F(Waits, AHerdWaitsForEachOther) {
  constexpr uint64_t kCondition = ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, 0x8000);
  for (uint32_t i = 1; i <= 3; ++i) thread(i).lock_request(kCondition, 10 + i, 10 * i);
  thread(0).lock_at(kMutex, 20, 1);
  thread(0).wake(kCondition, 30, UINT32_MAX, 3);
  thread(0).unlock(kMutex, 31);
  for (uint32_t i = 1; i <= 3; ++i) {
    thread(i).cond_wait(kMutex, 0x8000, 10 + i, 50 * i, PENNA_WAIT_GOT, 10 * i);
    thread(i).unlock(kMutex, 50 * i + 49);
  }
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(),
              UnorderedElementsAre("10 x 3 woke: 1 39 39", "20 x 3 woke: 1 18 18", "30 x 3 woke: 1 17 17",
                                   "20 x 10 held: 1 49 49", "20 x 1 held: 1 1 1", "20 x 0 nobody: 1 20 20",
                                   "30 x 10 held: 1 49 49", "30 x 20 held: 1 49 49", "30 x 1 held: 1 1 1",
                                   "30 x 0 nobody: 1 21 21"));
}

// 1 is signalled, and 2 holds the mutex 41 times before 1 has it: after some such waits all of the next one's holds are known.
TEST_F(Waits, ManyHoldsBetweenASignalAndTheMutex) {
  constexpr uint64_t kCondition = ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, 0x8000), kHolds = 40;
  for (const uint64_t begin : {0u, 1000u, 2000u, 3000u}) {
    thread(1).lock_request(kCondition, begin + 10, 2);
    thread(2).lock_at(kMutex, begin + 20, 5);
    thread(0).wake(kCondition, begin + 30, 1, 3);
    for (uint64_t i = 0; i < kHolds; ++i) {
      thread(2).unlock(kMutex, begin + 40 + 10 * i);
      thread(2).lock_at(kMutex, begin + 41 + 10 * i, 5);
    }
    thread(2).unlock(kMutex, begin + 500);
    thread(1).cond_wait(kMutex, 0x8000, begin + 10, begin + 501, PENNA_WAIT_GOT, 2);
    thread(1).unlock(kMutex, begin + 510);
  }
  Analysed seen(build_);
  EXPECT_EQ(seen.of(kMutex).wait.sum(), 4 * 471u);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("2 x 3 woke: 4 80 20", "2 x 5 held: 4 1277 430",
                                                 "2 x 0 unknown: 2 525 402", "2 x 0 nobody: 2 82 41"));
}

// A wait that does not end, in a program that hangs: which mutex it goes with is known all the same.
TEST_F(Waits, ConditionsMutexIsTheOneReleasedForIt) {
  thread(0).lock(kMutex, 10);
  thread(0).unlock(kMutex, 20);
  thread(0).lock_request(ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, 0x8000), 21, 2);
  Analysed seen(build_);
  ASSERT_EQ(seen.locks.conditions().size(), 1u);
  ASSERT_NE(seen.locks.conditions()[0].lock, kNoIndex);
  EXPECT_EQ(seen.locks.all()[seen.locks.conditions()[0].lock].address, kMutex);
}

// The same, but it takes longer to wake up than the mutex is held: that is no wait for it.
TEST_F(Waits, WakingUpIsNoWaitForTheMutex) {
  constexpr uint64_t kCondition = ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, 0x8000);
  thread(1).lock_request(kCondition, 10, 2);
  thread(0).lock_at(kMutex, 20, 1);
  thread(0).wake(kCondition, 30, 1, 3);
  thread(0).unlock(kMutex, 40);
  thread(1).cond_wait(kMutex, 0x8000, 10, 132, PENNA_WAIT_GOT, 2);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("2 x 3 woke: 1 122 122"));
  EXPECT_EQ(seen.of(kMutex).wait.count(), 0u);
  EXPECT_EQ(seen.of(0x8000).wait.sum(), 122u);
}

// 0 is stamped giving it back at 20, and is not let run until 70: 1 still finds it locked.
TEST_F(Waits, WhoIsAboutToGiveItBackHoldsIt) {
  thread(0).lock_at(kMutex, 10, 1);
  thread(0).unlock(kMutex, 20);
  thread(1).waited(kMutex, 30, 71, 2, 1001);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), ElementsAre("2 x 1 held: 1 41 41"));
}

TEST_F(Waits, WhatIsOpenAtTheEnd) {
  thread(0).lock_at(kMutex, 10, 1);
  thread(1).lock_request(kMutex, 30, 2, 1001);
  ProcessEnd end;
  end.end_ticks = 130;
  build_.end(end);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), ElementsAre("2 x 1 held: 1 100 100"));
  EXPECT_EQ(seen.locks.pairs()[0].open, 1u);
  const LockStats& lock = seen.of(kMutex);
  EXPECT_EQ(lock.open_waits, 1u);
  EXPECT_EQ(lock.wait.sum(), 100u);
  EXPECT_TRUE(lock.held_at_end);
  EXPECT_EQ(lock.hold.sum(), 120u);
  ASSERT_EQ(seen.locks.groups().size(), 1u);
  EXPECT_EQ(seen.locks.groups()[0].open, 1u);
  EXPECT_EQ(seen.locks.groups()[0].time.sum(), 120u);
}

TEST_F(Waits, CallLeftWithoutARecordIsCountedButNotTimed) {
  thread(0).lock(kMutex, 10);
  thread(1).lock_request(kMutex, 20, 2);  // cancelled, say
  thread(1).waited(kMutex, 50, 61, 2);
  thread(0).unlock(kMutex, 60);
  Analysed seen(build_);
  EXPECT_EQ(seen.locks.counts().unended, 1u);
  EXPECT_EQ(seen.of(kMutex).wait.sum(), 11u);
}

TEST_F(Waits, ShortOnesAreLeftOutAndCounted) {
  thread(0).lock_at(kMutex, 10, 1);
  thread(1).waited(kMutex, 35, 41, 2);
  thread(0).unlock(kMutex, 40);
  thread(1).unlock(kMutex, 100);
  thread(0).lock_at(kMutex, 200, 1);
  thread(1).waited(kMutex, 210, 261, 2);
  thread(0).unlock(kMutex, 260);
  thread(1).unlock(kMutex, 265);
  Analysed seen(build_, {20, 50});
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("2 x 1 held: 1 50 50", "2 x 0 nobody: 1 1 1"));
  EXPECT_EQ(seen.of(kMutex).short_waits, 1u);
  EXPECT_EQ(seen.of(kMutex).wait.count(), 1u);
  EXPECT_EQ(seen.of(kMutex).short_holds, 2u);
  uint64_t holds = 0;
  for (const HoldGroup& group : seen.locks.groups()) holds += group.time.count();
  EXPECT_EQ(holds, 2u);  // of 59 and of 60
  EXPECT_EQ(seen.of(kMutex).hold.count(), 4u);
}

// Nobody holds a semaphore, a barrier, a thread: who ended the wait is named.
TEST_F(Waits, OfWhatNobodyHolds) {
  const uint64_t barrier = ThreadBuilder::of_sync(PENNA_SYNC_BARRIER, 0x7100);
  const uint64_t join = ThreadBuilder::of_sync(PENNA_SYNC_JOIN, 0x7200);
  thread(0).waited(kSemaphore, 10, 31, 1);
  thread(1).unlock_at(kSemaphore, 30, 2);
  thread(0).lock(kSemaphore, 40);
  thread(0).waited(kSemaphore, 50, 60, 1, 0, PENNA_WAIT_TIMEOUT);
  thread(0).waited(kSemaphore, 61, 65, 1, 0, PENNA_WAIT_ERROR);
  thread(0).waited(barrier, 70, 91, 3);
  thread(2).wake(barrier, 90, UINT32_MAX, 4);
  thread(0).waited(join, 100, 150, 5, 1003);
  thread(0).waited(join, 160, 167, 6, 1003, PENNA_WAIT_TIMEOUT);  // pthread_timedjoin_np
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("1 x 2 woke: 1 21 21", "1 x 0 timeout: 1 10 10", "1 x 0 broken: 1 4 4",
                                                 "3 x 4 woke: 1 21 21", "5 x 0 woke: 1 50 50", "6 x 0 timeout: 1 7 7"));
  const LockStats& semaphore = seen.of(0x7000);
  EXPECT_EQ(semaphore.acquisitions, 2u);
  EXPECT_EQ(semaphore.contended, 1u);
  EXPECT_EQ(semaphore.given, 1u);
  EXPECT_EQ(semaphore.timeouts, 1u);
  EXPECT_EQ(semaphore.hold.count(), 0u);
  EXPECT_FALSE(semaphore.held_at_end);
  EXPECT_EQ(seen.of(0).kind, LockKind::kJoin);
  EXPECT_EQ(seen.locks.pairs()[4].other_thread, 2u);
  EXPECT_EQ(seen.locks.counts().locks, 0u);
}

// Two wait, two others post before either of them has run again.
TEST_F(Waits, EachPostOfASemaphoreWakesOne) {
  thread(0).lock_request(kSemaphore, 10, 1);
  thread(1).lock_request(kSemaphore, 11, 2);
  thread(2).unlock_at(kSemaphore, 20, 3);
  thread(3).unlock_at(kSemaphore, 21, 4);
  thread(0).lock_wait(kSemaphore, 10, 30, 1, 0, PENNA_WAIT_GOT);
  thread(1).lock_wait(kSemaphore, 11, 32, 2, 0, PENNA_WAIT_GOT);
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), UnorderedElementsAre("1 x 3 woke: 1 20 20", "2 x 4 woke: 1 21 21"));
}

TEST_F(Waits, NestingIsOfTheThread) {
  thread(0).lock(0x100, 10);
  thread(0).lock(0x200, 20);
  thread(0).lock(0x200, 21);  // recursive
  thread(0).lock(0x300, 30);
  thread(1).lock(0x400, 31);
  thread(0).unlock(0x300, 40);
  thread(0).unlock(0x200, 41);
  thread(0).unlock(0x200, 42);
  thread(0).unlock(0x100, 50);
  thread(0).lock(0x300, 60);
  Analysed seen(build_);
  EXPECT_EQ(seen.of(0x100).deepest, 1u);
  EXPECT_EQ(seen.of(0x200).deepest, 2u);
  EXPECT_EQ(seen.of(0x300).deepest, 3u);
  EXPECT_EQ(seen.of(0x400).deepest, 1u);
}

// Acquisitions that stand for others, because only a sample was recorded.
TEST_F(Waits, SamplesStandForAll) {
  build_.options({"sample-locks=10"});
  thread(0).lock(kMutex, 10);
  thread(0).unlock(kMutex, 15);
  thread(0).lock_at(kMutex, 20, 1);
  thread(1).waited(kMutex, 25, 31, 2);
  thread(0).unlock(kMutex, 30);
  thread(1).unlock(kMutex, 35);
  thread(1).unlock_at(kMutex, 90, 3);  // taken without being recorded
  Analysed seen(build_);
  const LockStats& lock = seen.of(kMutex);
  EXPECT_EQ(lock.acquisitions, 12u);
  EXPECT_EQ(lock.contended, 1u);
  EXPECT_EQ(lock.hold.count(), 12u);
  EXPECT_EQ(lock.hold.sum(), 50u + 10 + 4);
  EXPECT_EQ(lock.unmatched_unlocks, 0u);
}

// record --min-wait: the wait that was asked for ended like a free acquisition.
TEST_F(Waits, AWaitThatRecordFoundTooShortIsNone) {
  thread(0).lock(kMutex, 10);
  thread(1).lock_request(kMutex, 11, 2);
  thread(0).unlock(kMutex, 12);
  thread(1).lock_at(kMutex, 13, 2);
  thread(1).unlock(kMutex, 20);
  Analysed seen(build_);
  const LockStats& lock = seen.of(kMutex);
  EXPECT_EQ(lock.acquisitions, 2u);
  EXPECT_EQ(lock.contended, 0u);
  EXPECT_EQ(lock.wait.count(), 0u);
  EXPECT_EQ(lock.short_waits, 1u);
  EXPECT_EQ(lock.open_waits, 0u);
}

// Of a lock function that cannot be tried a wait is known when it is over: it is charged to all who had the lock meanwhile.
TEST_F(Waits, AWaitWithoutARequestIsChargedToAllItsHolders) {
  thread(0).lock_at(kMutex, 10, 1);
  thread(0).unlock(kMutex, 20);
  thread(1).lock_wait(kMutex, 12, 21, 2);
  thread(1).unlock(kMutex, 40);
  thread(2).lock_wait(kMutex, 13, 42, 3);
  thread(2).unlock(kMutex, 50);
  Analysed seen(build_);
  const auto charged = [&](uint32_t waiter, OtherSide side, uint32_t holder) {
    for (const WaitPair& one : seen.locks.pairs())
      if (one.stack == waiter && one.side == side && one.other_stack == holder) return one.time;
    return uint64_t{0};
  };
  EXPECT_EQ(charged(2, OtherSide::kHeld, 1), 8u);
  EXPECT_EQ(charged(2, OtherSide::kFree, 0), 1u);
  EXPECT_EQ(charged(3, OtherSide::kHeld, 1), 7u);
  EXPECT_EQ(charged(3, OtherSide::kHeld, 2), 19u);
  EXPECT_EQ(charged(3, OtherSide::kFree, 0), 3u);
}

// The thread of a hold without a stack is known, and is not charged with what nothing is known of.
TEST_F(Waits, WhatNothingIsKnownOfIsNoThreads) {
  thread(0).lock(kMutex, 10);
  thread(0).unlock(kMutex, 20);
  thread(1).lock(kMutex, 30);
  thread(1).unlock(kMutex, 40);
  thread(2).lock_wait(kMutex, 5, 41, 3);
  Analysed seen(build_);
  std::map<uint32_t, uint64_t> by_thread;
  for (const WaitPair& one : seen.locks.pairs()) by_thread[one.other_thread] += one.time;
  EXPECT_EQ(by_thread[1], 10u);
  EXPECT_EQ(by_thread[kNoIndex], 26u);
}

TEST_F(Waits, SeveralThreadsThatTookItInOnePlaceAreMany) {
  thread(0).lock_at(kMutex, 10, 1);
  thread(2).lock_request(kMutex, 12, 5);
  thread(0).unlock(kMutex, 20);
  thread(1).lock_at(kMutex, 21, 1);
  thread(1).unlock(kMutex, 30);
  thread(2).waited(kMutex, 12, 31, 5);
  Analysed seen(build_);
  const auto& pairs = seen.locks.pairs();
  const auto held = std::find_if(pairs.begin(), pairs.end(), [](const WaitPair& one) { return one.other_stack == 1; });
  ASSERT_NE(held, pairs.end());
  EXPECT_TRUE(held->many_others);
  EXPECT_FALSE(held->many_threads);
}

TEST_F(Waits, WhoWaitedForTheFirstCallDoesNotHoldIt) {
  const uint64_t once = ThreadBuilder::of_sync(PENNA_SYNC_ONCE, kMutex);
  thread(0).lock_at(once, 10, 1);
  thread(0).unlock(once, 50);
  thread(1).waited(once, 20, 51, 2);
  thread(2).waited(once, 21, 52, 2);
  Analysed seen(build_);
  EXPECT_EQ(seen.of(kMutex).contended, 2u);
  EXPECT_EQ(seen.of(kMutex).missed_unlocks, 0u);
  EXPECT_FALSE(seen.of(kMutex).held_at_end);
}

// How many waits began while two others waited.
// Thread 0 calls at 10 and 30, both left by exceptions; 1 calls at 50, until 60.
TEST_F(Waits, AFirstCallThatWasLeftIsNotGoingOn) {
  const uint64_t once = ThreadBuilder::of_sync(PENNA_SYNC_ONCE, 0x7100);
  thread(0).lock_at(once, 10, 1);
  thread(0).lock_at(once, 30, 1);
  thread(1).lock_at(once, 50, 2);
  thread(1).unlock(once, 60);
  Analysed seen(build_);
  EXPECT_EQ(seen.of(0x7100).acquisitions, 3u);
  EXPECT_EQ(seen.of(0x7100).recursive, 0u);
  EXPECT_EQ(seen.of(0x7100).hold.count(), 1u);
  EXPECT_EQ(seen.of(0x7100).hold.sum(), 10u);
  EXPECT_EQ(seen.locks.counts().missed_unlocks, 0u);
}

TEST_F(Waits, QueuesAreCounted) {
  thread(0).lock(kMutex, 10);
  for (size_t i = 1; i < 4; ++i) thread(i).waited(kMutex, 10 + i, 40 + 10 * i);
  thread(0).unlock(kMutex, 45);
  for (size_t i = 1; i < 4; ++i) thread(i).unlock(kMutex, 45 + 10 * i);
  Analysed seen(build_);
  EXPECT_EQ(seen.of(kMutex).queued_waits, 1u);
  EXPECT_EQ(seen.of(kMutex).wait.count(), 3u);
}

// ---- Locks that come after others at their address

std::vector<uint64_t> taken_of(const Analysed& seen, uint64_t address) {
  std::vector<uint64_t> taken;
  for (const LockStats& lock : seen.locks.all())
    if (lock.address == address) taken.push_back(lock.acquisitions);
  return taken;
}

TEST_F(Waits, ADestroyedLockGivesWayToAnother) {
  thread(0).lock_made(kMutex, 5, 8);
  thread(0).lock(kMutex, 10);
  thread(0).unlock(kMutex, 11);
  thread(0).lock_gone(kMutex, 12);
  thread(0).lock_made(kMutex, 20, 9);
  thread(0).lock(kMutex, 21);
  thread(0).unlock(kMutex, 22);
  thread(0).lock(kMutex, 23);  // made anew without being destroyed, and while it was held
  thread(0).lock_made(kMutex, 30, 9);
  thread(1).lock(kMutex, 31);
  Analysed seen(build_);
  EXPECT_THAT(taken_of(seen, kMutex), ElementsAre(1u, 2u, 1u));
  EXPECT_EQ(seen.locks.all()[0].made_stack, 8u);
  EXPECT_EQ(seen.locks.all()[1].made_stack, 9u);
  EXPECT_EQ(seen.locks.counts().missed_unlocks, 0u);
  EXPECT_EQ(seen.locks.all()[2].deepest, 1u);
}

TEST_F(Waits, ALockInANewBlockIsAnother) {
  thread(0).alloc(0x4ff0, 64, 1);
  thread(0).lock(kMutex, 10);
  thread(0).unlock(kMutex, 11);
  thread(0).free(0x4ff0, 12);
  thread(1).alloc(0x4000, 0x2000, 20);
  thread(1).lock(kMutex, 21);
  thread(1).unlock(kMutex, 22);
  thread(1).free(0x4000, 30, PENNA_FAMILY_REALLOC);  // grows where it is: the same lock
  thread(1).alloc(0x4000, 0x3000, 31, 1, PENNA_FAMILY_REALLOC);
  thread(1).lock(kMutex, 32);
  Analysed seen(build_);
  EXPECT_THAT(taken_of(seen, kMutex), ElementsAre(1u, 2u));
}

TEST_F(Waits, KindsAtOneAddressAreDifferentLocks) {
  thread(0).lock(kMutex, 10);
  thread(0).unlock(kMutex, 11);
  thread(0).lock(ThreadBuilder::of_sync(PENNA_SYNC_SPIN, kMutex), 12);
  thread(0).unlock(ThreadBuilder::of_sync(PENNA_SYNC_SPIN, kMutex), 13);
  Analysed seen(build_);
  EXPECT_THAT(taken_of(seen, kMutex), ElementsAre(1u, 1u));
  EXPECT_EQ(seen.locks.all()[1].kind, LockKind::kSpin);
}

TEST_F(Waits, OfNobodyForNothing) {
  Analysed seen(build_);
  EXPECT_THAT(seen.pairs(), IsEmpty());
  EXPECT_EQ(seen.locks.counts().locks, 0u);
}

}  // namespace
}  // namespace penna::lock_waits_test
