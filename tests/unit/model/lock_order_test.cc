// SPDX-License-Identifier: MIT
// LockOrder: which orders contradict each other, and which of those cannot become a deadlock.
#include "model/locks/lock_order.h"

#include <gtest/gtest.h>

#include <tuple>

#include "lock_events.h"

namespace penna::lock_order_test {
namespace {

constexpr uint64_t kA = 0x5000, kB = 0x6000, kC = 0x7000, kGate = 0x8000;
constexpr uint64_t kRead = uint64_t{PENNA_SYNC_READ} << 56, kWrite = uint64_t{PENNA_SYNC_WRITE} << 56;

struct Ordered {
  explicit Ordered(RecordingBuilder& build) : recording(build.open()), held(recording), order(held) {
    run_locks(recording, held, order);
    order.finish();
  }
  uint64_t address(uint32_t object) const { return held.objects()[object].address; }
  Recording recording;
  HolderTracker held;
  LockOrder order;
};

struct Program {
  RecordingBuilder build;
  uint32_t process = build.process(100);
  ThreadBuilder& thread(uint32_t serial) { return build.thread(process, serial); }
  // Takes them in this order and gives them back; a stack for each, from `stack` on.
  void take(uint32_t serial, std::initializer_list<uint64_t> locks, uint32_t stack = 1) {
    for (const uint64_t lock : locks) lock_at(thread(serial), lock, stack++, now++);
    for (auto lock = std::rbegin(locks); lock != std::rend(locks); ++lock) thread(serial).unlock(*lock, now++);
  }
  uint64_t now = 100;
};

// Where events are missing, nobody knows what the thread still holds.
TEST(LockOrder, WhatWasHeldBeforeALossIsNoOrder) {
  for (const bool is_chunk : {false, true}) {
    Program program;
    program.take(2, {kB, kA}, 5);
    lock_at(program.thread(1), kA, 1, program.now++);
    is_chunk ? program.thread(1).skip_chunk() : program.thread(1).lose_events(1);
    program.take(1, {kB, kC}, 3);
    Ordered seen(program.build);
    EXPECT_TRUE(seen.order.inversions().empty());
    EXPECT_EQ(seen.order.edges().size(), 2u);
  }
}

TEST(LockOrder, TwoThreadsInBothOrdersAreAnInversion) {
  Program program;
  program.take(1, {kA, kB}, 1);
  program.take(1, {kA, kB}, 3);
  program.take(2, {kB, kA}, 5);
  Ordered seen(program.build);
  ASSERT_EQ(seen.order.inversions().size(), 1u);
  const Inversion& inversion = seen.order.inversions()[0];
  EXPECT_FALSE(inversion.one_thread);
  ASSERT_EQ(inversion.edges.size(), 2u);
  const OrderEdge& there = seen.order.edges()[inversion.edges[0]];
  EXPECT_EQ(seen.address(there.from), kA);
  EXPECT_EQ(seen.address(there.to), kB);
  EXPECT_EQ(there.count, 2u);
  EXPECT_EQ(there.first_time, 101u);
  EXPECT_EQ(there.from_stack, 1u);
  EXPECT_EQ(there.to_stack, 2u);
  const OrderEdge& back = seen.order.edges()[inversion.edges[1]];
  EXPECT_EQ(seen.address(back.from), kB);
  EXPECT_EQ(back.thread, 1u);
  EXPECT_EQ(back.from_stack, 5u);
  EXPECT_EQ(seen.order.possible_deadlocks(), 1u);
  EXPECT_EQ(seen.held.locks(), 2u);
}

TEST(LockOrder, OneThreadAloneIsMarkedAsThat) {
  Program program;
  program.take(1, {kA, kB});
  program.take(1, {kB, kA});
  Ordered seen(program.build);
  ASSERT_EQ(seen.order.inversions().size(), 1u);
  EXPECT_TRUE(seen.order.inversions()[0].one_thread);
  EXPECT_EQ(seen.order.possible_deadlocks(), 0u);
}

TEST(LockOrder, OneOrderIsNone) {
  Program program;
  program.take(1, {kA, kB, kC});
  program.take(2, {kA, kC});
  program.take(3, {kB, kC});
  Ordered seen(program.build);
  EXPECT_TRUE(seen.order.inversions().empty());
  EXPECT_EQ(seen.order.edges().size(), 3u);
}

TEST(LockOrder, ThreeInACircleNeedThreeThreads) {
  Program program, of_two;
  for (Program* each : {&program, &of_two}) {
    each->take(1, {kA, kB});
    each->take(2, {kB, kC});
    each->take(each == &program ? 3 : 2, {kC, kA});
  }
  Ordered seen(program.build), less(of_two.build);
  ASSERT_EQ(seen.order.inversions().size(), 1u);
  EXPECT_EQ(seen.order.inversions()[0].edges.size(), 3u);
  EXPECT_FALSE(seen.order.inversions()[0].one_thread);
  ASSERT_EQ(less.order.inversions().size(), 1u);
  EXPECT_TRUE(less.order.inversions()[0].one_thread);
}

TEST(LockOrder, ALongCircleIsFoundToo) {
  Program program;
  constexpr uint64_t kLocks = 9;
  for (uint64_t i = 0; i < kLocks; ++i)
    program.take(static_cast<uint32_t>(1 + i), {0x1000 + i * 0x100, 0x1000 + (i + 1) % kLocks * 0x100});
  Ordered seen(program.build);
  ASSERT_EQ(seen.order.inversions().size(), 1u);
  EXPECT_EQ(seen.order.inversions()[0].edges.size(), kLocks);
  EXPECT_FALSE(seen.order.inversions()[0].one_thread);
}

TEST(LockOrder, InsideOfAGateThereIsNone) {
  Program program;
  program.take(1, {kGate, kA, kB});
  program.take(2, {kGate, kB, kA});
  Ordered seen(program.build);
  EXPECT_TRUE(seen.order.inversions().empty());
  EXPECT_EQ(seen.order.gated(), 1u);

  Program open;
  open.take(1, {kGate, kA, kB});
  open.take(2, {kGate, kB, kA});
  open.take(2, {kB, kA});  // once without: that can meet the first thread
  Ordered once(open.build);
  EXPECT_EQ(once.order.possible_deadlocks(), 1u);
  EXPECT_EQ(once.order.gated(), 0u);
}

TEST(LockOrder, ReadersDoNotWaitForReaders) {
  Program readers, writers;
  readers.take(1, {kRead | kA, kRead | kB});
  readers.take(2, {kRead | kB, kRead | kA});
  writers.take(1, {kRead | kA, kWrite | kB});
  writers.take(2, {kRead | kB, kWrite | kA});
  Ordered none(readers.build), some(writers.build);
  EXPECT_TRUE(none.order.inversions().empty());
  EXPECT_EQ(none.order.of_readers(), 1u);
  EXPECT_EQ(some.order.possible_deadlocks(), 1u);
  EXPECT_EQ(some.held.locks(), 2u);
}

// A writes at one of the locks only: the readers of the other never make each other wait.
TEST(LockOrder, OneLockOfReadersBreaksTheCircle) {
  Program program;
  program.take(1, {kWrite | kA, kRead | kB});
  program.take(2, {kRead | kB, kWrite | kA});
  Ordered seen(program.build);
  EXPECT_EQ(seen.order.of_readers(), 1u);
}

TEST(LockOrder, TheSameLockAgainIsNoOrder) {
  Program program;
  program.take(1, {kA, kA, kB, kA});
  Ordered seen(program.build);
  EXPECT_EQ(seen.order.edges().size(), 1u);
  EXPECT_TRUE(seen.order.inversions().empty());
}

TEST(LockOrder, WhatIsAskedForCountsOnce) {
  Program program;
  lock_at(program.thread(1), kA, 1, 10);
  wait_for(program.thread(1), kB, 2, 20, 30);
  program.thread(1).unlock(kB, 40);
  request(program.thread(1), kC, 3, 50);  // and never got
  Ordered seen(program.build);
  ASSERT_EQ(seen.order.edges().size(), 2u);
  EXPECT_EQ(seen.order.edges()[0].count, 1u);
  EXPECT_EQ(seen.order.edges()[0].to_stack, 2u);
  EXPECT_EQ(seen.address(seen.order.edges()[1].to), kC);
}

// wait() with two mutexes held takes its own one again while it holds the other.
TEST(LockOrder, AConditionWaitTakesItsMutexAgain) {
  Program program;
  ThreadBuilder& thread = program.thread(1);
  lock_at(thread, kA, 1, 10);
  lock_at(thread, kB, 2, 20);
  thread.unlock(kA, 30);
  request(thread, sync_word(PENNA_SYNC_CONDITION, kC), 3, 31);
  thread.cond_wait(kA, kC, 31, 40);
  Ordered seen(program.build);
  ASSERT_EQ(seen.order.inversions().size(), 1u);
  EXPECT_TRUE(seen.order.inversions()[0].one_thread);
}

TEST(LockOrder, WhatIsMadeAnewIsAnotherLock) {
  Program program;
  program.take(1, {kA, kB});
  program.thread(1).record(PENNA_KIND_LOCK_GONE, program.now++, penna_lock{kA});
  program.take(2, {kB, kA});
  Ordered seen(program.build);
  EXPECT_TRUE(seen.order.inversions().empty());
  EXPECT_EQ(seen.held.locks(), 3u);
}

// As std::scoped_lock does it: a lock is waited for, the others are tried.
TEST(LockOrder, WhatIsOnlyTriedMakesNoOrder) {
  constexpr uint64_t kTried = uint64_t{PENNA_SYNC_TRIED} << 56;
  Program program;
  for (const auto& [serial, first, second] : {std::tuple{1u, kA, kB}, std::tuple{2u, kB, kA}}) {
    lock_at(program.thread(serial), first, 1, program.now++);
    lock_at(program.thread(serial), second | kTried, 2, program.now++);
    lock_at(program.thread(serial), kC, 3, program.now++);  // while both are held: two orders
    for (const uint64_t lock : {kC, second, first}) program.thread(serial).unlock(lock, program.now++);
  }
  Ordered seen(program.build);
  EXPECT_EQ(seen.order.edges().size(), 2u);
  EXPECT_TRUE(seen.order.inversions().empty());
}

TEST(LockOrder, SemaphoresAndOnceHaveNoOrder) {
  Program program;
  for (const penna_sync sync : {PENNA_SYNC_SEMAPHORE, PENNA_SYNC_ONCE, PENNA_SYNC_BARRIER}) {
    program.take(1, {kA, sync_word(sync, kB)});
    program.take(2, {sync_word(sync, kB), kA});
  }
  Ordered seen(program.build);
  EXPECT_TRUE(seen.order.edges().empty());
}

// A thousand accounts, taken in the order of the transfer: one place in the code, one line in the report.
TEST(LockOrder, CyclesOfTheSamePlacesAreListedOnce) {
  Program program;
  for (uint64_t i = 0; i < 100; ++i) {
    program.take(1, {0x1000 + i * 0x100, 0x1080 + i * 0x100}, 1);
    program.take(2, {0x1080 + i * 0x100, 0x1000 + i * 0x100}, 1);
  }
  Ordered seen(program.build);
  ASSERT_EQ(seen.order.inversions().size(), 1u);
  EXPECT_EQ(seen.order.inversions()[0].alike, 99u);
}

TEST(LockOrder, OfTwoProcessesAreTwo) {
  RecordingBuilder build;
  const uint32_t first = build.process(100), second = build.process(200);
  for (const auto& [process, one, other] : {std::tuple{first, kA, kB}, std::tuple{second, kB, kA}}) {
    ThreadBuilder& thread = build.thread(process, 1);
    lock_at(thread, one, 1, 10);
    lock_at(thread, other, 2, 20);
  }
  Ordered seen(build);
  EXPECT_EQ(seen.order.edges().size(), 2u);
  EXPECT_TRUE(seen.order.inversions().empty());
}

TEST(LockOrder, ManyLocksHeldAreBounded) {
  Program program;
  constexpr uint64_t kMany = 20'000;
  for (uint64_t i = 0; i < kMany; ++i) program.thread(1).lock(0x10000 + i * 64, 100 + i);
  for (uint64_t i = 0; i < 1000; ++i) program.thread(1).unlock(0x10000 + i * 64, 100 + kMany + i);
  Ordered seen(program.build);
  EXPECT_EQ(seen.held.held_by(0).size(), 0u);
  EXPECT_EQ(seen.held.too_many(), kMany - HolderTracker::kMostHeld);
  EXPECT_EQ(seen.order.edges().size(), LockOrder::kMostOrders);
  EXPECT_GT(seen.order.left_out(), 0u);
  EXPECT_TRUE(seen.order.inversions().empty());
}

// Every lock while every other one is held, by two threads: more cycles than anybody can list.
TEST(LockOrder, TheSearchForCyclesIsBounded) {
  Program program;
  constexpr uint64_t kLocks = 150;
  for (uint64_t i = 0; i < kLocks; ++i)
    for (uint64_t k = 0; k < kLocks; ++k)
      if (i != k)
        program.take(static_cast<uint32_t>(1 + (i < k)), {0x1000 + i * 64, 0x1000 + k * 64},
                     static_cast<uint32_t>(i * kLocks + 1));
  Ordered seen(program.build);
  EXPECT_EQ(seen.order.inversions().size(), LockOrder::kMostInversions);
  EXPECT_TRUE(seen.order.is_cut());
}

}  // namespace
}  // namespace penna::lock_order_test
