// SPDX-License-Identifier: MIT
// for_each_wait() and for_each_hold(): a row for each wait and hold, with the thread on the other side.
#include "model/locks/wait_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "lock_events.h"
#include "model/locks/locks.h"

namespace penna::wait_rows_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kMutex = 0x5000, kOther = 0x6000, kCondition = uint64_t{PENNA_SYNC_CONDITION} << 56 | 0x7000;
constexpr uint64_t kRead = ThreadBuilder::of_sync(PENNA_SYNC_READ, 0x8000);
constexpr uint64_t kWrite = ThreadBuilder::of_sync(PENNA_SYNC_WRITE, 0x8000);
constexpr uint64_t kSemaphore = ThreadBuilder::of_sync(PENNA_SYNC_SEMAPHORE, 0x9000);

// "thread: begin-end how at stack, side other stack"
std::string text(const WaitRow& row) {
  static constexpr const char* kHow[] = {"got", "timeout", "error", "owner died", "left", "open"};
  static constexpr const char* kSides[] = {"held", "gave back", "unknown", "nobody", "woke", "timeout", "broken"};
  const std::string other = row.other == kNoIndex ? "-" : std::to_string(row.other);
  return std::to_string(row.thread) + ": " + std::to_string(row.begin) + "-" + std::to_string(row.end) + " " +
         kHow[static_cast<int>(row.how)] + " at " + std::to_string(row.stack) + ", " +
         kSides[static_cast<int>(row.side)] + " " + other + " " + std::to_string(row.other_stack);
}
// "thread: begin-end taken>given back, longest wait"
std::string text(const HoldRow& row) {
  return std::to_string(row.thread) + ": " + std::to_string(row.begin) + "-" + std::to_string(row.end) +
         (row.open ? " open " : " ") + std::to_string(row.stack) + ">" + std::to_string(row.release_stack) + ", " +
         std::to_string(row.longest_wait);
}

class WaitRowsTest : public LockEventsTest {
 protected:
  WaitRowsTest() {
    for (uint32_t serial = 1; serial <= 3; ++serial) thread(serial);  // in the order of their indices
  }
  std::vector<std::string> waits(const RowOptions& options = {}, size_t most = SIZE_MAX) {
    std::vector<std::string> rows;
    if (!recording) recording.emplace(build.open());
    for_each_wait(*recording, options,
                  [&](const WaitRow& row) { return rows.push_back(text(row)), rows.size() < most; });
    return rows;
  }
  std::vector<std::string> holds(const RowOptions& options = {}) {
    std::vector<std::string> rows;
    if (!recording) recording.emplace(build.open());
    for_each_hold(*recording, options, [&](const HoldRow& row) { return rows.push_back(text(row)), true; });
    return rows;
  }
  std::optional<Recording> recording;
};

TEST_F(WaitRowsTest, AWaitNamesWhoHeldTheLockWhenItBegan) {
  lock_at(thread(1), kMutex, 1, 10);
  request(thread(2), kMutex, 2, 20, 1001);
  thread(1).unlock(kMutex, 50);
  thread(2).lock_wait(kMutex, 20, 55, 2, 1001);
  thread(2).unlock(kMutex, 70);
  EXPECT_THAT(waits(), ElementsAre("1: 20-55 got at 2, held 0 1"));
  EXPECT_THAT(holds(), ElementsAre("0: 10-50 1>0, 30", "1: 55-70 2>0, 0"));
}

TEST_F(WaitRowsTest, ReleaseStandsInForAnUnknownAcquisition) {
  thread(1).lock(kMutex, 10);
  request(thread(2), kMutex, 2, 20, 1001);
  unlock_at(thread(1), kMutex, 7, 50);
  thread(2).lock_wait(kMutex, 20, 55, 2, 1001);
  EXPECT_THAT(waits(), ElementsAre("1: 20-55 got at 2, gave back 0 7"));
}

TEST_F(WaitRowsTest, AHoldKnowsTheLongestWaitAlsoOfOneThatGaveUp) {
  lock_at(thread(1), kMutex, 1, 10);
  request(thread(2), kMutex, 2, 20, 1001);
  request(thread(3), kMutex, 3, 70, 1001);
  thread(2).lock_wait(kMutex, 20, 60, 2, 1001, PENNA_WAIT_TIMEOUT);
  thread(1).unlock(kMutex, 90);
  thread(3).lock_wait(kMutex, 70, 95, 3, 1001);
  EXPECT_THAT(waits(), ElementsAre("1: 20-60 timeout at 2, held 0 1", "2: 70-95 got at 3, held 0 1"));
  EXPECT_EQ(holds().at(0), "0: 10-90 1>0, 40");
}

TEST_F(WaitRowsTest, WriterWaitsForAReader) {
  lock_at(thread(1), kRead, 1, 10);
  lock_at(thread(3), kRead, 3, 15);
  request(thread(2), kWrite, 2, 20);
  thread(1).unlock(kRead, 30);
  thread(3).unlock(kRead, 40);
  thread(2).lock_wait(kWrite, 20, 45, 2);
  EXPECT_THAT(waits(), ElementsAre("1: 20-45 got at 2, held 0 1"));
  EXPECT_THAT(holds(), ElementsAre("0: 10-30 1>0, 10", "2: 15-40 3>0, 20", "1: 45-45 open 2>0, 0"));
}

TEST_F(WaitRowsTest, WhatNobodyHoldsNamesWhoWoke) {
  request(thread(2), kSemaphore, 2, 20);
  unlock_at(thread(1), kSemaphore, 5, 30);
  thread(2).lock_wait(kSemaphore, 20, 33, 2);
  lock_at(thread(3), kMutex, 3, 40);
  thread(3).unlock(kMutex, 49);
  request(thread(3), kCondition, 4, 50);
  wake(thread(1), kCondition, 6, 60);
  thread(3).cond_wait(kMutex, 0x7000, 50, 65, PENNA_WAIT_GOT, 4);
  request(thread(2), kSemaphore, 2, 70);
  thread(2).lock_wait(kSemaphore, 70, 80, 2, 0, PENNA_WAIT_TIMEOUT);
  EXPECT_THAT(waits(), ElementsAre("1: 20-33 got at 2, woke 0 5", "2: 50-65 got at 4, woke 0 6",
                                   "1: 70-80 timeout at 2, unknown - 0"));
}

// Signalled by a thread that holds the mutex: from then on 3 waits for that, unless others have it only briefly, as the
// first time. The second time it changes hands.
TEST_F(WaitRowsTest, TheMutexOfAConditionIsWaitedForFromTheSignalOn) {
  lock_at(thread(3), kMutex, 3, 10);
  thread(3).unlock(kMutex, 19);
  request(thread(3), kCondition, 4, 20);
  lock_at(thread(1), kMutex, 1, 30);
  wake(thread(1), kCondition, 6, 31);
  thread(1).unlock(kMutex, 33);
  thread(3).cond_wait(kMutex, 0x7000, 20, 70, PENNA_WAIT_GOT, 4);
  thread(3).unlock(kMutex, 80);
  request(thread(3), kCondition, 4, 81);
  lock_at(thread(1), kMutex, 1, 90);
  wake(thread(1), kCondition, 6, 100);
  thread(1).unlock(kMutex, 120);
  lock_at(thread(2), kMutex, 2, 121);
  thread(2).unlock(kMutex, 150);
  thread(3).cond_wait(kMutex, 0x7000, 81, 155, PENNA_WAIT_GOT, 4);
  EXPECT_THAT(waits(), ElementsAre("2: 20-70 got at 4, woke 0 6", "2: 81-100 got at 4, woke 0 6",
                                   "2: 100-155 got at 4, held 0 1"));
  Locks locks(*recording);
  for_each_event(*recording, {.classes = kLockEvents}, locks);
  locks.finish();
  EXPECT_EQ(locks.counts().wait_time, 55u);
}

// The record of a release carries the time before it, and follows the calls that it made.
TEST_F(WaitRowsTest, CallsWithinAReleaseDoNotLengthenTheHold) {
  lock_at(thread(1), kMutex, 1, 10);
  thread(1).enter(0x100, 20);
  thread(1).exit(0x100, 90);
  thread(1).unlock(kMutex, 15);
  EXPECT_THAT(holds(), ElementsAre("0: 10-15 1>0, 0"));
  Locks locks(*recording);
  for_each_event(*recording, {.classes = kLockEvents}, locks);
  locks.finish();
  EXPECT_EQ(locks.counts().hold_time, 5u);
}

// record --min-wait found it too short: it took the lock without waiting.
TEST_F(WaitRowsTest, AShortWaitHasNoRow) {
  request(thread(2), kMutex, 2, 20);
  thread(2).lock(kMutex, 25);
  thread(2).unlock(kMutex, 30);
  EXPECT_THAT(waits(), IsEmpty());
  EXPECT_THAT(holds(), ElementsAre("0: 25-30 2>0, 0"));
}

TEST_F(WaitRowsTest, AFreeLockWhoseOwnerDiedWasNotWaitedFor) {
  thread(2).lock_wait(kMutex, 20, 20, 2, 0, PENNA_WAIT_OWNER_DIED);
  EXPECT_THAT(waits(), IsEmpty());
}

TEST_F(WaitRowsTest, RowsDoNotOverlapWhenASignalHandlerWaitsInsideAWait) {
  request(thread(2), kSemaphore, 2, 20);
  wait_for(thread(2), kOther, 3, 40, 50);
  thread(2).unlock(kOther, 55);
  thread(2).lock_wait(kSemaphore, 20, 90, 2);
  EXPECT_THAT(waits(), ElementsAre("0: 20-40 left at 2, unknown - 0", "0: 40-50 got at 3, unknown - 0",
                                   "0: 50-90 got at 2, unknown - 0"));
}

TEST_F(WaitRowsTest, WhatIsOpenAtTheEndComesLast) {
  lock_at(thread(1), kMutex, 1, 10);
  request(thread(2), kMutex, 2, 20, 1001);
  lock_at(thread(3), kOther, 3, 100);
  thread(3).unlock(kOther, 150);
  for (const uint64_t time : {1u, 200u}) ASSERT_TRUE(build.writer().write_clock({time, time, time}));
  EXPECT_THAT(waits(), ElementsAre("1: 20-200 open at 2, held 0 1"));
  EXPECT_THAT(holds(), ElementsAre("2: 100-150 3>0, 0", "0: 10-200 open 1>0, 180"));
}

TEST_F(WaitRowsTest, ARangeGivesWhatOverlapsItWithItsWholeTimes) {
  for (uint64_t time = 100; time < 1000; time += 100) {
    lock_at(thread(1), kMutex, 1, time);
    request(thread(2), kMutex, 2, time + 10, 1001);
    thread(1).unlock(kMutex, time + 50);
    thread(2).lock_wait(kMutex, time + 10, time + 55, 2, 1001);
    thread(2).unlock(kMutex, time + 60);
  }
  EXPECT_THAT(waits({.begin = 320, .end = 415}),
              ElementsAre("1: 310-355 got at 2, held 0 1", "1: 410-455 got at 2, held 0 1"));
  EXPECT_THAT(holds({.begin = 356, .end = 405}), ElementsAre("1: 355-360 2>0, 0", "0: 400-450 1>0, 40"));
  EXPECT_EQ(waits().size(), 9u);
  EXPECT_EQ(waits({}, 3).size(), 3u);  // the visitor stops
}

// The rows add up to what Locks sums up.
TEST_F(WaitRowsTest, TheRowsAreTheWaitsAndHoldsOfTheStatistics) {
  uint64_t now = 100;
  for (int round = 0; round < 50; ++round, now += 100) {
    ThreadBuilder& first = thread(1 + round % 3);
    ThreadBuilder& second = thread(1 + (round + 1) % 3);
    const uint64_t lock = round % 2 != 0 ? kMutex : kOther;
    lock_at(first, lock, 1, now);
    request(second, lock, 2, now + 7);
    first.unlock(lock, now + 20 + static_cast<uint64_t>(round));
    second.lock_wait(lock, now + 7, now + 21 + static_cast<uint64_t>(round), 2, 0,
                     round % 5 == 0 ? PENNA_WAIT_TIMEOUT : PENNA_WAIT_GOT);
    if (round % 5 != 0) second.unlock(lock, now + 90);
  }
  recording.emplace(build.open());
  Locks locks(*recording);
  for_each_event(*recording, {.classes = kLockEvents}, locks);
  locks.finish();
  uint64_t waited = 0, held = 0, wait_count = 0, hold_count = 0;
  for_each_wait(*recording, {}, [&](const WaitRow& row) { return waited += row.end - row.begin, ++wait_count != 0; });
  for_each_hold(*recording, {}, [&](const HoldRow& row) { return held += row.end - row.begin, ++hold_count != 0; });
  EXPECT_EQ(wait_count, 50u);
  EXPECT_EQ(hold_count, 90u);
  EXPECT_EQ(waited, locks.counts().wait_time);
  EXPECT_EQ(held, locks.counts().hold_time);
}

}  // namespace
}  // namespace penna::wait_rows_test
