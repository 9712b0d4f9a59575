// SPDX-License-Identifier: MIT
// Deadlocks: the waits between threads when the recording ends.
#include "model/locks/deadlocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lock_events.h"

namespace penna::deadlocks_test {
namespace {

using testing::ElementsAre;
using Why = StuckThread::Why;

constexpr uint64_t kA = 0x5000, kB = 0x6000, kC = 0x7000;

struct Stuck {
  explicit Stuck(RecordingBuilder& build) : recording(build.open()), held(recording) {
    run_locks(recording, held, [](const Event&, const LockStep&) {});
    found = find_deadlocks(held);
  }
  Recording recording;
  HolderTracker held;
  Deadlocks found;
};

class DeadlocksTest : public LockEventsTest {};

TEST_F(DeadlocksTest, TwoThreadsThatWaitForEachOther) {
  lock_at(thread(1), kA, 1, 10);
  lock_at(thread(2), kB, 2, 11);
  request(thread(1), kB, 3, 20);
  request(thread(2), kA, 4, 21);
  request(thread(3), kA, 5, 30);
  Stuck seen(build);
  ASSERT_EQ(seen.found.cycles.size(), 1u);
  EXPECT_THAT(seen.found.cycles[0], ElementsAre(0u, 1u));
  ASSERT_EQ(seen.found.waiting.size(), 3u);
  EXPECT_EQ(seen.found.waiting[0].why, Why::kInDeadlock);
  EXPECT_EQ(seen.found.waiting[0].holder, 1u);
  EXPECT_EQ(seen.found.waiting[0].wait.stack, 3u);
  EXPECT_EQ(seen.found.waiting[1].holder, 0u);
  EXPECT_EQ(seen.found.waiting[2].why, Why::kBehind);
  EXPECT_EQ(seen.held.hold_of(0, seen.found.waiting[1].wait.object).stack, 1u);
}

TEST_F(DeadlocksTest, AThreadThatWaitsForItself) {
  lock_at(thread(1), kA, 1, 10);
  request(thread(1), kA, 2, 20, 1001);
  Stuck seen(build);
  ASSERT_EQ(seen.found.cycles.size(), 1u);
  EXPECT_THAT(seen.found.cycles[0], ElementsAre(0u));
  EXPECT_EQ(seen.found.waiting[0].holder, 0u);
}

TEST_F(DeadlocksTest, WhoWaitsForOneThatRunsIsNotStuck) {
  lock_at(thread(1), kA, 1, 10);
  request(thread(2), kA, 2, 20);
  lock_at(thread(1), kB, 3, 30);
  request(thread(3), kC, 4, 40);
  thread(3).lock_wait(kC, 40, 50, 4, 0, PENNA_WAIT_TIMEOUT);
  Stuck seen(build);
  EXPECT_TRUE(seen.found.cycles.empty());
  ASSERT_EQ(seen.found.waiting.size(), 1u);
  EXPECT_EQ(seen.found.waiting[0].why, Why::kWaits);
  EXPECT_EQ(seen.found.waiting[0].holder, 0u);
}

// main joins a thread that waits for a lock that main holds.
TEST_F(DeadlocksTest, AJoinCanCloseTheCircle) {
  lock_at(thread(1), kA, 1, 10);
  request(thread(2), kA, 2, 20);
  request(thread(1), sync_word(PENNA_SYNC_JOIN, 0x7f00), 3, 30, 1002);
  Stuck seen(build);
  ASSERT_EQ(seen.found.cycles.size(), 1u);
  EXPECT_EQ(seen.found.cycles[0].size(), 2u);
}

TEST_F(DeadlocksTest, AWriterWaitsForAllReaders) {
  const uint64_t read = sync_word(PENNA_SYNC_READ, kA), write = sync_word(PENNA_SYNC_WRITE, kA);
  lock_at(thread(1), read, 1, 10);
  lock_at(thread(2), read, 1, 11);
  lock_at(thread(3), kB, 2, 12);
  request(thread(3), write, 3, 20);
  request(thread(2), kB, 4, 21);
  request(thread(4), read, 5, 22);  // waits for nobody who holds it alone
  Stuck seen(build);
  ASSERT_EQ(seen.found.cycles.size(), 1u);
  EXPECT_EQ(seen.found.cycles[0].size(), 2u);
  EXPECT_EQ(seen.found.count(Why::kBehind), 0u);
}

TEST_F(DeadlocksTest, AReaderThatWantsToWriteWaitsForItself) {
  lock_at(thread(1), sync_word(PENNA_SYNC_READ, kA), 1, 10);
  request(thread(1), sync_word(PENNA_SYNC_WRITE, kA), 2, 20);
  Stuck seen(build);
  EXPECT_EQ(seen.found.cycles.size(), 1u);
}

TEST_F(DeadlocksTest, AHolderThatHasEndedIsTold) {
  lock_at(thread(2), kA, 1, 10);
  wait_for(thread(1), sync_word(PENNA_SYNC_JOIN, 0x7f00), 2, 20, 30, 1002);
  request(thread(1), kA, 3, 40);
  Stuck seen(build);
  ASSERT_EQ(seen.found.waiting.size(), 1u);
  EXPECT_EQ(seen.found.waiting[0].why, Why::kHolderEnded);
  EXPECT_EQ(seen.found.waiting[0].holder, 1u);
}

// A thread of the parent held it at the fork; the child has no such thread.
TEST_F(DeadlocksTest, ALockHeldAtTheForkIsHeldForEver) {
  lock_at(thread(2), kA, 1, 10);
  const uint32_t child = build.process(200, 100, 50);
  request(build.thread(child, 1), kA, 2, 60, 1002);
  Stuck seen(build);
  EXPECT_EQ(seen.found.count(Why::kElsewhere), 1u);
  EXPECT_TRUE(seen.found.cycles.empty());
}

// The same, but that thread waits for the child: so they share the locks, taken while the child said nothing yet.
TEST_F(DeadlocksTest, ProcessesThatShareLocksDeadlockAsThreadsDo) {
  lock_at(thread(1), kA, 1, 45);
  const uint32_t child = build.process(200, 100, 50);
  lock_at(build.thread(child, 1), kB, 2, 60);
  request(build.thread(child, 1), kA, 3, 70, 1001);
  request(thread(1), kB, 4, 80, 2001);
  Stuck seen(build);
  EXPECT_EQ(seen.found.count(Why::kElsewhere), 0u);
  ASSERT_EQ(seen.found.cycles.size(), 1u);
  EXPECT_EQ(seen.found.cycles[0].size(), 2u);
}

// What the recording does not say, the waiter does: glibc keeps the tid of the holder.
TEST_F(DeadlocksTest, EarlierLocksAreKnownByTheirWaiters) {
  request(thread(1), kA, 1, 10, 1002);
  request(thread(2), kB, 2, 11, 1001);
  Stuck seen(build);
  EXPECT_EQ(seen.found.cycles.size(), 1u);
}

// A wait whose end was lost: the thread went on.
TEST_F(DeadlocksTest, AThreadThatGoesOnDoesNotWait) {
  lock_at(thread(1), kA, 1, 10);
  lock_at(thread(2), kB, 2, 11);
  request(thread(1), kB, 3, 20);
  request(thread(2), kA, 4, 21);
  thread(1).unlock(kA, 30);
  Stuck seen(build);
  EXPECT_TRUE(seen.found.cycles.empty());
  EXPECT_EQ(seen.held.unfinished(), 1u);
}

// A thousand threads, each of which waits for the next.
TEST_F(DeadlocksTest, ALargeCircleIsOne) {
  constexpr uint32_t kThreads = 1000;
  for (uint32_t i = 0; i < kThreads; ++i) {
    lock_at(thread(1 + i), 0x10000 + i * 64, 1, 10 + i);
    request(thread(1 + i), 0x10000 + (i + 1) % kThreads * 64, 2, 2000 + i);
  }
  Stuck seen(build);
  ASSERT_EQ(seen.found.cycles.size(), 1u);
  EXPECT_EQ(seen.found.cycles[0].size(), kThreads);
}

}  // namespace
}  // namespace penna::deadlocks_test
