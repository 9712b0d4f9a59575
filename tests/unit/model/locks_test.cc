// SPDX-License-Identifier: MIT
// Locks: waits, holds, owners and what does not match, computed by hand over several threads.
#include "model/locks/locks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording_builder.h"

namespace penna::locks_test {
namespace {

using testing::ElementsAre;

constexpr uint64_t kMutex = 0x5000, kOther = 0x6000, kCondition = 0x7000;

struct Analysed {
  explicit Analysed(RecordingBuilder& build) : recording(build.open()), locks(recording) {
    for_each_event(recording, {.classes = kLockEvents}, locks);
    locks.finish();
  }
  const LockStats& of(uint64_t address, uint32_t process = 0) {
    for (const LockStats& lock : locks.all())
      if (lock.address == address && lock.process == process) return lock;
    static const LockStats none;
    return none;
  }
  Recording recording;
  Locks locks;
};

// a holds 10..40; b waits 20..41 and holds 41..50; a takes it again 60..65.
TEST(Locks, TimesWaitsAndHolds) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  a.lock(kMutex, 10);
  a.unlock(kMutex, 40);
  b.lock_wait(kMutex, 20, 41, 7, 1001);
  b.unlock(kMutex, 50);
  a.lock(kMutex, 60);
  a.unlock(kMutex, 65);
  Analysed seen(build);
  const LockStats& lock = seen.of(kMutex);
  EXPECT_EQ(lock.acquisitions, 3u);
  EXPECT_EQ(lock.contended, 1u);
  EXPECT_EQ(lock.wait.sum(), 21u);
  EXPECT_EQ(lock.hold.count(), 3u);
  EXPECT_EQ(lock.hold.sum(), 30u + 9 + 5);
  EXPECT_EQ(lock.hold.max(), 30u);
  EXPECT_THAT(lock.threads, ElementsAre(0u, 1u));
  EXPECT_THAT(lock.waiting_threads, ElementsAre(1u));
  EXPECT_FALSE(lock.held_at_end);
  EXPECT_EQ(seen.locks.counts().wait_time, 21u);
}

// That it was given back may be among what was lost: then it is not taken twice.
TEST(Locks, AHoldIsNotTimedOverALoss) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.lock(kMutex, 10);
  thread.lock(kOther, 11);
  thread.lose_events(1);
  thread.lock(kMutex, 100);
  thread.unlock(kMutex, 110);
  thread.unlock(kOther, 120);
  Analysed seen(build);
  EXPECT_EQ(seen.of(kMutex).recursive, 0u);
  EXPECT_EQ(seen.of(kMutex).hold.count(), 1u);
  EXPECT_EQ(seen.of(kMutex).hold.sum(), 10u);
  EXPECT_EQ(seen.of(kMutex).deepest, 1u);
  EXPECT_EQ(seen.of(kOther).hold.count(), 0u);
  EXPECT_EQ(seen.of(kOther).unmatched_unlocks, 1u);
}

TEST(Locks, ARecursiveLockIsHeldFromTheFirstToTheLast) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.lock(kMutex, 10);
  thread.lock(kMutex, 20);
  thread.unlock(kMutex, 30);
  thread.unlock(kMutex, 50);
  Analysed seen(build);
  EXPECT_EQ(seen.of(kMutex).acquisitions, 2u);
  EXPECT_EQ(seen.of(kMutex).recursive, 1u);
  EXPECT_EQ(seen.of(kMutex).hold.count(), 1u);
  EXPECT_EQ(seen.of(kMutex).hold.sum(), 40u);
}

// wait: unlock at 20, signalled and locked again at 70; another thread had it from 30 to 60.
TEST(Locks, AConditionWaitGivesTheLockBackMeanwhile) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  a.lock(kMutex, 10);
  a.unlock(kMutex, 20);
  a.cond_wait(kMutex, kCondition, 20, 70);
  a.unlock(kMutex, 80);
  b.lock(kMutex, 30);
  b.unlock(kMutex, 60);
  a.lock(kMutex, 90);
  a.unlock(kMutex, 91);
  a.cond_wait(kMutex, kCondition, 91, 191, PENNA_WAIT_TIMEOUT);
  a.unlock(kMutex, 200);
  Analysed seen(build);
  const LockStats& lock = seen.of(kMutex);
  EXPECT_EQ(lock.hold.sum(), 10u + 30 + 10 + 1 + 9);
  EXPECT_EQ(lock.wait.count(), 0u);
  EXPECT_EQ(lock.condition_wait.count(), 2u);
  EXPECT_EQ(lock.condition_wait.sum(), 150u);
  EXPECT_EQ(lock.acquisitions, 5u);
  EXPECT_EQ(lock.missed_unlocks + lock.unmatched_unlocks, 0u);
  ASSERT_EQ(seen.locks.conditions().size(), 1u);
  const LockStats& condition = seen.of(kCondition);
  EXPECT_EQ(condition.kind, LockKind::kCondition);
  EXPECT_EQ(seen.locks.all()[seen.locks.conditions()[0].index].address, kCondition);
  EXPECT_EQ(seen.locks.all()[seen.locks.conditions()[0].lock].address, kMutex);
  EXPECT_EQ(condition.timeouts, 1u);
  EXPECT_EQ(condition.wait.max(), 100u);
}

// Another library where one was before: its locks are others. The same one is what it was.
TEST(Locks, ALibraryIsMappedWhereAnotherOneWas) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  Module module;
  module.bias = module.start = 0x100000;
  module.end = 0x110000;
  for (const auto& [path, ticks] : {std::pair{"/lib/one.so", 5}, {"/lib/one.so", 30}, {"/lib/two.so", 50}}) {
    module.path = path;
    module.ticks = static_cast<uint64_t>(ticks);
    ++module.generation;
    build.module(process, module);
  }
  ThreadBuilder& thread = build.thread(process, 1);
  constexpr uint64_t kStatic = 0x100500;
  for (uint64_t time : {10, 40, 60}) {
    thread.lock(kStatic, time);
    thread.unlock(kStatic, time + 5);
  }
  Analysed seen(build);
  ASSERT_EQ(seen.locks.all().size(), 2u);
  EXPECT_EQ(seen.locks.all()[0].acquisitions, 2u);
  EXPECT_EQ(seen.locks.all()[1].acquisitions, 1u);
}

TEST(Locks, AWaitThatFailsTakesNothing) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  a.lock(kMutex, 10);
  b.busy(kMutex, 12);
  b.lock_wait(kMutex, 15, 25, 3, 0, PENNA_WAIT_TIMEOUT);
  b.lock_wait(kMutex, 26, 27, 3, 0, PENNA_WAIT_ERROR);
  a.unlock(kMutex, 30);
  b.lock_wait(kMutex, 29, 31, 4, 0, PENNA_WAIT_OWNER_DIED);
  Analysed seen(build);
  const LockStats& lock = seen.of(kMutex);
  EXPECT_EQ(lock.busy, 1u);
  EXPECT_EQ(lock.timeouts, 1u);
  EXPECT_EQ(lock.errors, 1u);
  EXPECT_EQ(lock.owner_died, 1u);
  EXPECT_EQ(lock.acquisitions, 2u);
  EXPECT_EQ(lock.contended, 1u);
  EXPECT_EQ(lock.wait.count(), 3u);
  EXPECT_EQ(lock.wait.sum(), 13u);
  EXPECT_EQ(lock.hold.count(), 2u);
  EXPECT_TRUE(lock.held_at_end);
  EXPECT_EQ(lock.wait.max(), 10u);
}

// Thread 1 dies at 30, while 2 waits for its lock; 2 is joined at 70, and its lock is asked for at 90 only; 3 nobody joins.
TEST(Locks, WhoDiedHeldItUntilThen) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  auto& c = build.thread(process, 3);
  auto& d = build.thread(process, 4);
  a.lock(kMutex, 10);
  b.lock_wait(kMutex, 20, 30, 3, 1001, PENNA_WAIT_OWNER_DIED);
  d.waited(ThreadBuilder::of_sync(PENNA_SYNC_JOIN, 0x7200), 50, 70, 5, 1002);
  c.lock_wait(kMutex, 90, 90, 4, 0, PENNA_WAIT_OWNER_DIED);
  d.lock_wait(kMutex, 200, 200, 4, 0, PENNA_WAIT_OWNER_DIED);
  d.unlock(kMutex, 205);
  Analysed seen(build);
  const LockStats& lock = seen.of(kMutex);
  EXPECT_EQ(lock.wait.count(), 1u);
  EXPECT_EQ(lock.contended, 1u);
  EXPECT_EQ(lock.owner_died, 3u);
  EXPECT_EQ(lock.hold.count(), 3u);
  EXPECT_EQ(lock.hold.sum(), 20u + 40 + 5);
  EXPECT_EQ(seen.locks.counts().missed_unlocks, 0u);
}

TEST(Locks, WhatDoesNotMatchIsCountedAndNotTimed) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  a.unlock(kMutex, 5);  // taken before the recording
  a.lock(kMutex, 10);
  b.lock(kMutex, 20);  // a's unlock is missing
  a.unlock(kMutex, 25);
  b.unlock(kMutex, 30);
  b.lock_wait(kOther, 1000, 40);  // begins after its end
  Analysed seen(build);
  const LockStats& lock = seen.of(kMutex);
  EXPECT_EQ(lock.unmatched_unlocks, 2u);
  EXPECT_EQ(lock.missed_unlocks, 1u);
  EXPECT_EQ(lock.hold.count(), 1u);
  EXPECT_EQ(lock.hold.sum(), 10u);
  EXPECT_EQ(seen.locks.counts().impossible, 1u);
  EXPECT_EQ(seen.of(kOther).wait.sum(), 0u);
  EXPECT_EQ(seen.locks.counts().held_at_end, 1u);
}

TEST(Locks, OfTwoProcessesAreTwo) {
  RecordingBuilder build;
  const uint32_t first = build.process(100), second = build.process(200);
  build.thread(first, 1).lock(kMutex, 10);
  build.thread(second, 1).lock(kMutex, 11);
  build.thread(first, 1).unlock(kMutex, 15);
  build.thread(second, 1).unlock(kMutex, 30);
  Analysed seen(build);
  ASSERT_EQ(seen.locks.all().size(), 2u);
  EXPECT_EQ(seen.of(kMutex, 0).hold.sum(), 5u);
  EXPECT_EQ(seen.of(kMutex, 1).hold.sum(), 19u);
  EXPECT_EQ(seen.locks.counts().missed_unlocks, 0u);
}

// pthread_atfork: the parent takes the lock before the fork, and both give it back after.
TEST(Locks, AForkedChildGivesBackWhatWasHeldAtTheFork) {
  RecordingBuilder build;
  const uint32_t parent = build.process(100, 1, 5), child = build.process(200, 100, 50);
  auto& a = build.thread(parent, 1);
  auto& b = build.thread(child, 1);
  a.lock(kMutex, 10);
  a.unlock(kMutex, 80);
  b.unlock(kMutex, 60);
  b.lock(kMutex, 90);
  b.unlock(kMutex, 95);
  b.unlock(kMutex, 99);  // once too often
  Analysed seen(build);
  EXPECT_EQ(seen.of(kMutex, child).inherited_unlocks, 1u);
  EXPECT_EQ(seen.of(kMutex, child).unmatched_unlocks, 1u);
  EXPECT_EQ(seen.of(kMutex, child).hold.count(), 1u);
  EXPECT_EQ(seen.of(kMutex, parent).hold.sum(), 70u);
  EXPECT_EQ(seen.locks.counts().inherited_unlocks, 1u);
}

// The parent went on before the child was heard of; and a recursive lock; and a child of the child.
TEST(Locks, LocksHeldAtTheForkOutliveTheParentsRelease) {
  RecordingBuilder build;
  const uint32_t parent = build.process(100, 1, 5), child = build.process(200, 100, 50);
  const uint32_t grandchild = build.process(300, 200, 70);
  auto& a = build.thread(parent, 1);
  a.lock(kMutex, 10);
  a.lock(kOther, 11);
  a.lock(kOther, 12);
  a.unlock(kMutex, 40);
  build.thread(child, 1).unlock(kMutex, 60);
  build.thread(child, 1).unlock(kOther, 61);
  build.thread(grandchild, 1).unlock(kOther, 75);
  build.thread(grandchild, 1).unlock(kMutex, 76);  // its parent had given it back
  Analysed seen(build);
  EXPECT_EQ(seen.of(kMutex, child).inherited_unlocks, 1u);
  EXPECT_EQ(seen.of(kOther, child).inherited_unlocks, 1u);
  EXPECT_EQ(seen.of(kOther, grandchild).inherited_unlocks, 1u);
  EXPECT_EQ(seen.of(kMutex, grandchild).unmatched_unlocks, 1u);
}

TEST(Locks, OnlyWhatWasHeldAtTheForkIsInherited) {
  RecordingBuilder build;
  const uint64_t later = 1'000'000'000;
  const uint32_t parent = build.process(100, 1, 5), child = build.process(200, 100, later);
  const uint32_t other_program = build.process(100, 1, later + 100, true);
  auto& a = build.thread(parent, 1);
  a.lock(kMutex, 10);
  a.unlock(kMutex, 40);  // a second before
  a.lock(kOther, 50);
  build.thread(child, 1).unlock(kMutex, later + 10);
  build.thread(child, 1).lock(kOther, later + 11);  // made anew with pthread_mutex_init
  build.thread(child, 1).unlock(kOther, later + 12);
  build.thread(child, 1).unlock(kOther, later + 13);
  build.thread(other_program, 1).unlock(kOther, later + 200);
  Analysed seen(build);
  EXPECT_EQ(seen.of(kMutex, child).unmatched_unlocks, 1u);
  EXPECT_EQ(seen.of(kOther, child).unmatched_unlocks, 1u);
  EXPECT_EQ(seen.of(kOther, child).hold.count(), 1u);
  EXPECT_EQ(seen.of(kOther, other_program).unmatched_unlocks, 1u);
  EXPECT_EQ(seen.locks.counts().inherited_unlocks, 0u);
}

TEST(Locks, AreSortedByWaiting) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  for (uint64_t i = 0; i < 3; ++i) {
    thread.lock(kOther, 10 + 2 * i);
    thread.unlock(kOther, 11 + 2 * i);
  }
  thread.lock_wait(kMutex, 20, 30);
  thread.unlock(kMutex, 31);
  Analysed seen(build);
  EXPECT_EQ(seen.locks.by_wait()[0]->address, kMutex);
  EXPECT_EQ(seen.locks.by_wait()[1]->address, kOther);
}

}  // namespace
}  // namespace penna::locks_test
