// SPDX-License-Identifier: MIT
// Condition variables: signals without a waiter, thundering herds, lost wake-ups.
#include "model/locks/condition_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/locks/locks.h"
#include "recording_builder.h"

namespace penna::condition_waits_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kMutex = 0x5000, kAddress = 0x6000;
constexpr uint64_t kCondition = ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, kAddress);

class Conditions : public testing::Test {
 protected:
  Conditions() : process_(build_.process(100)) {}
  ThreadBuilder& thread(uint32_t serial) { return build_.thread(process_, serial); }
  // Takes the mutex, waits from `begin` to `end`, and gives it back a tick later.
  void waits(uint32_t serial, uint64_t begin, uint64_t end, uint32_t how = PENNA_WAIT_GOT) {
    goes_to_wait(serial, begin);
    thread(serial).cond_wait(kMutex, kAddress, begin, end, how);
    thread(serial).unlock(kMutex, end + 1);
  }
  void goes_to_wait(uint32_t serial, uint64_t begin) {
    thread(serial).lock(kMutex, begin - 2);
    thread(serial).unlock(kMutex, begin - 1);
    thread(serial).lock_request(kCondition, begin);
  }
  void ends(EndKind how, uint64_t time = 1000) {
    ProcessEnd end;
    end.how = how;
    end.end_ticks = time;
    build_.end(end);
  }
  const ConditionStats& analyse() {
    recording_.emplace(build_.open());
    locks_.emplace(*recording_);
    for_each_event(*recording_, {.classes = kLockEvents}, *locks_);
    locks_->finish();
    EXPECT_THAT(locks_->conditions(), SizeIs(1));
    return locks_->conditions().at(0);
  }
  RecordingBuilder build_;
  uint32_t process_;
  std::optional<Recording> recording_;
  std::optional<Locks> locks_;
};

TEST_F(Conditions, SignalsAreHeardByThoseThatWait) {
  thread(1).wake(kCondition, 5);  // nobody
  waits(2, 10, 20);
  thread(1).wake(kCondition, 15);
  thread(1).wake(kCondition, 16);  // the only one is awake already
  waits(2, 30, 40);                // spurious
  waits(2, 50, 60, PENNA_WAIT_TIMEOUT);
  thread(1).wake(kCondition, 70, UINT32_MAX);
  const ConditionStats& condition = analyse();
  EXPECT_EQ(condition.signals, 3u);
  EXPECT_EQ(condition.broadcasts, 1u);
  EXPECT_EQ(condition.unheard, 3u);
  EXPECT_EQ(condition.spurious, 1u);
  EXPECT_EQ(locks_->all()[condition.index].timeouts, 1u);
  EXPECT_EQ(locks_->all()[condition.index].wait.sum(), 30u);
  EXPECT_EQ(condition.herds, 0u);
  EXPECT_THAT(locks_->lost_wakeups(), IsEmpty());
}

// The waits are of who woke the threads.
TEST_F(Conditions, AWaitIsOfWhoEndedIt) {
  goes_to_wait(2, 10);
  thread(1).wake(kCondition, 15, 1, 7);
  thread(2).cond_wait(kMutex, kAddress, 10, 20, PENNA_WAIT_GOT, 3);
  analyse();
  ASSERT_THAT(locks_->pairs(), SizeIs(1));
  EXPECT_EQ(locks_->pairs()[0].side, OtherSide::kWoke);
  EXPECT_EQ(locks_->pairs()[0].stack, 3u);
  EXPECT_EQ(locks_->pairs()[0].other_stack, 7u);
}

// Four wake up; three of them find that another one has the mutex.
TEST_F(Conditions, AHerd) {
  for (uint32_t i = 2; i <= 5; ++i) waits(i, 10 * i, 100 + 10 * i);
  thread(1).wake(kCondition, 100, UINT32_MAX);
  const ConditionStats& condition = analyse();
  EXPECT_EQ(condition.herds, 1u);
  EXPECT_EQ(condition.herded, 4u);
}

// Each comes when the mutex was given back by nobody but the thread that woke them.
TEST_F(Conditions, NoHerdWithoutWaitingForTheMutex) {
  for (uint32_t i = 2; i <= 5; ++i) {
    goes_to_wait(i, 10 * i);
    thread(i).cond_wait(kMutex, kAddress, 10 * i, 120 + i);
  }
  thread(1).lock(kMutex, 99);
  thread(1).wake(kCondition, 100, UINT32_MAX);
  thread(1).unlock(kMutex, 110);
  EXPECT_EQ(analyse().herds, 0u);
}

TEST_F(Conditions, ASignalOnTheWayToAWaitIsLost) {
  thread(2).lock(kMutex, 10);
  thread(1).wake(kCondition, 15);
  thread(2).unlock(kMutex, 19);
  thread(2).lock_request(kCondition, 20);
  ends(EndKind::kExited);
  analyse();
  ASSERT_THAT(locks_->lost_wakeups(), SizeIs(1));
  const LostWakeup& lost = locks_->lost_wakeups()[0];
  EXPECT_TRUE(lost.while_locked);
  EXPECT_EQ(recording_->threads()[lost.thread].serial, 2u);
  EXPECT_EQ(recording_->threads()[lost.signaller].serial, 1u);
  EXPECT_EQ(lost.begin - lost.signalled, 5u);
}

TEST_F(Conditions, EarlySignalIsSuspectedWhenTheProgramHung) {
  thread(1).wake(kCondition, 15);
  goes_to_wait(2, 20);
  ends(EndKind::kSignaled);
  analyse();
  ASSERT_THAT(locks_->lost_wakeups(), SizeIs(1));
  EXPECT_FALSE(locks_->lost_wakeups()[0].while_locked);
}

// Workers without work.
TEST_F(Conditions, NoSuspicionWhenTheProgramExited) {
  thread(1).wake(kCondition, 15);
  goes_to_wait(2, 20);
  ends(EndKind::kExited);
  analyse();
  EXPECT_THAT(locks_->lost_wakeups(), IsEmpty());
}

TEST_F(Conditions, NoSuspicionWhenSomebodySignalledLater) {
  thread(1).wake(kCondition, 15);
  goes_to_wait(2, 20);
  goes_to_wait(3, 30);
  thread(1).wake(kCondition, 40);
  ends(EndKind::kSignaled);
  analyse();
  EXPECT_THAT(locks_->lost_wakeups(), IsEmpty());
}

}  // namespace
}  // namespace penna::condition_waits_test
