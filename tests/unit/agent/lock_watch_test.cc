// SPDX-License-Identifier: MIT
// Which lock acquisitions record a stack (docs/decisions/0020): the first ones, and those around a wait.
#include "agent/hooks/locks/lock_watch.h"

#include <gtest/gtest.h>

// What lifecycle.cc defines in the agent.
namespace penna::agent {
Process process;
__thread Thread thread __attribute__((tls_model("initial-exec"))) = {};
uint32_t after_fork_or_start() { return 0; }
}  // namespace penna::agent

namespace penna::agent::lock_watch_test {
namespace {

constexpr uint64_t kWrite = uint64_t{PENNA_SYNC_WRITE} << 56, kRead = uint64_t{PENNA_SYNC_READ} << 56;

struct LockWatch : testing::Test {
  // Others than those of other tests.
  uint64_t lock = 0x7f0000001000 + 0x1000 * static_cast<uint64_t>(++tests);
  static inline int tests = 0;

  int stacks_of(int acquisitions, uint64_t of) {
    int told = 0;
    for (int i = 0; i < acquisitions; ++i) told += wants_stack(of);
    return told;
  }
  void SetUp() override {
    thread.held_count = 0;
    watch_from_birth(lock);
  }
};

TEST_F(LockWatch, TellsTheFirstAcquisitionsAndIsQuietThen) {
  EXPECT_EQ(stacks_of(8, lock), 8);
  EXPECT_EQ(stacks_of(1000, lock), 0);
}

TEST_F(LockWatch, OneThatIsMadeAnewIsYoungAgain) {
  stacks_of(9, lock);
  watch_from_birth(lock);
  EXPECT_EQ(stacks_of(100, lock), 8);
}

TEST_F(LockWatch, ContendedQuietLockTellsEndOfHoldThenEachAcquisition) {
  stacks_of(9, lock);
  EXPECT_FALSE(wants_end(lock));
  watch_contended(lock);
  EXPECT_TRUE(wants_end(lock));
  end_recorded(lock);
  EXPECT_FALSE(wants_end(lock));
  EXPECT_EQ(stacks_of(100, lock), 100);
}

TEST_F(LockWatch, AYoungLockThatIsWaitedForHasToldItsHolder) {
  EXPECT_TRUE(wants_stack(lock));
  watch_contended(lock);
  EXPECT_FALSE(wants_end(lock));
}

TEST_F(LockWatch, IsNotQuietWhileSomebodyWaits) {
  watch_contended(lock), watch_contended(lock);
  watch_wait_over(lock);
  EXPECT_EQ(stacks_of(1000, lock), 1000);
  watch_wait_over(lock);
  EXPECT_EQ(stacks_of(1000, lock), UINT8_MAX - kContendedLock + 1);
}

TEST_F(LockWatch, IsQuietAgainWhenNobodyWaitsAnyMore) {
  watch_contended(lock);
  watch_wait_over(lock);
  EXPECT_EQ(stacks_of(1000, lock), UINT8_MAX - kContendedLock + 1);
  for (int i = 0; i < 10; ++i) {
    watch_contended(lock);
    watch_wait_over(lock);
    if (wants_end(lock)) end_recorded(lock);
    EXPECT_EQ(stacks_of(100, lock), 100);
  }
}

TEST_F(LockWatch, ReadersAndWritersAreWatchedAsOne) {
  stacks_of(9, lock | kRead);
  EXPECT_EQ(stacks_of(9, lock | kWrite), 0);
  watch_contended(lock | kWrite);
  EXPECT_TRUE(wants_end(lock | kRead));
}

TEST_F(LockWatch, APairTellsOnce) {
  const uint64_t outer = lock + 64, other = lock + 128;
  stacks_of(9, lock), stacks_of(9, outer), stacks_of(9, other);
  holds(outer);
  EXPECT_EQ(stacks_of(100, lock), 1);
  note_release(outer);
  holds(other);
  EXPECT_EQ(stacks_of(100, lock), 1);
  EXPECT_EQ(stacks_of(100, other), 0) << "taking the same lock again is not a lock order";
}

TEST_F(LockWatch, HoldsEndInAnyOrder) {
  for (uint64_t i = 0; i < 5; ++i) holds_since(lock + i * 8, 100 + i);
  EXPECT_EQ(held_since(lock + 16), 102u);
  note_release(lock + 8);
  EXPECT_EQ(thread.held_count, 4u);
  EXPECT_EQ(held_since(lock + 8), UINT64_MAX);
  EXPECT_EQ(held_since(lock + 16), 102u);
  EXPECT_EQ(held_since(lock), 100u);
  note_release(lock + 32), note_release(lock), note_release(lock + 24), note_release(lock + 16);
  EXPECT_EQ(thread.held_count, 0u);
  note_release(lock);  // taken before recording began
  EXPECT_EQ(thread.held_count, 0u);
}

TEST_F(LockWatch, MoreThanItRemembersAreForgotten) {
  for (uint64_t i = 0; i < 3 * kMostHeld; ++i) holds_since(lock + i * 8, i + 1);
  EXPECT_EQ(held_since(lock), UINT64_MAX);
  EXPECT_EQ(held_since(lock + (3 * kMostHeld - 1) * 8), 3 * kMostHeld);
  for (uint64_t i = 3 * kMostHeld; i-- > 0;) note_release(lock + i * 8);
  EXPECT_LE(thread.held_count, 3 * kMostHeld);
}

}  // namespace
}  // namespace penna::agent::lock_watch_test
