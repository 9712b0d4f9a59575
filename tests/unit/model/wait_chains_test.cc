// SPDX-License-Identifier: MIT
// WaitChains: transitive waits, and that every tick of waiting is in one chain.
#include "model/locks/wait_chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "lock_events.h"

namespace penna::wait_chains_test {
namespace {

constexpr uint64_t kOuter = 0x5000, kInner = 0x6000, kMutex = 0x7000, kCondition = 0x8000;
constexpr uint64_t kMs = 1'000'000;

struct Chained {
  explicit Chained(RecordingBuilder& build, uint64_t end = 0) : recording(build.open()), held(recording), chains(held) {
    run_locks(recording, held, chains);
    chains.finish(std::vector<uint64_t>(recording.processes().size(), end));
  }
  // Of the chain of these objects and stacks, outermost first; 0: there is none.
  uint64_t time(std::vector<std::pair<uint64_t, uint32_t>> wanted) const {
    uint64_t sum = 0;
    for (const uint32_t index : chains.by_time()) {
      std::vector<std::pair<uint64_t, uint32_t>> links;
      for (uint32_t at = index; at != kNoIndex; at = chains.links()[at].next) {
        const ChainLink& link = chains.links()[at];
        links.push_back({link.object == kNoIndex ? 0 : held.objects()[link.object].address, link.stack});
      }
      if (links == wanted) sum += chains.links()[index].time;
    }
    return sum;
  }
  const ChainLink& worst() const { return chains.links()[chains.by_time().at(0)]; }
  uint64_t total() const {
    uint64_t sum = 0;
    for (const ChainLink& link : chains.links()) sum += link.time;
    return sum;
  }
  Recording recording;
  HolderTracker held;
  WaitChains chains;
};

class WaitChainsTest : public LockEventsTest {};

// 3 holds inner for 100 ms; 2 holds outer and waits for it; 1 waits for outer, 200 ms.
TEST_F(WaitChainsTest, ThreeThreadsInAChain) {
  lock_at(thread(3), kInner, 31, 0 + 1);
  lock_at(thread(2), kOuter, 21, 2);
  wait_for(thread(2), kInner, 22, 10, 100 * kMs + 5);
  wait_for(thread(1), kOuter, 11, 10, 200 * kMs + 5);
  thread(3).unlock(kInner, 100 * kMs);
  thread(2).unlock(kInner, 200 * kMs - 10);
  thread(2).unlock(kOuter, 200 * kMs);
  thread(1).unlock(kOuter, 300 * kMs);
  Chained seen(build);
  EXPECT_EQ(seen.time({{kInner, 31}}), 100 * kMs - 10);
  EXPECT_EQ(seen.time({{kOuter, 21}, {kInner, 31}}), 100 * kMs - 10);
  EXPECT_EQ(seen.time({{kOuter, 21}, {kInner, 0}}), 5u);  // inner was free for 5 ns
  EXPECT_EQ(seen.time({{kOuter, 21}}), 100 * kMs - 5);
  EXPECT_EQ(seen.time({{kOuter, 0}}), 5u);
  EXPECT_EQ(seen.chains.wait_time(), 300 * kMs - 10);
  EXPECT_EQ(seen.total(), seen.chains.wait_time());
  EXPECT_EQ(seen.chains.waits(), 2u);
}

// The same from 150 ms on: outer is held by one that waits no more, and whose stack is known from before.
TEST_F(WaitChainsTest, OfARangeCountsWhatLiesInIt) {
  lock_at(thread(3), kInner, 31, 0 + 1);
  lock_at(thread(2), kOuter, 21, 2);
  wait_for(thread(2), kInner, 22, 10, 100 * kMs + 5);
  wait_for(thread(1), kOuter, 11, 10, 200 * kMs + 5);
  thread(3).unlock(kInner, 100 * kMs);
  thread(2).unlock(kInner, 200 * kMs - 10);
  thread(2).unlock(kOuter, 200 * kMs);
  Recording recording = build.open();
  CallRules rules;
  rules.begin = 150 * kMs;
  select_calls(recording, rules);
  HolderTracker held(recording);
  WaitChains chains(held);
  struct Both {
    HolderTracker& held;
    WaitChains& chains;
    void operator()(const Event& event) { chains(event, held.take(event)); }
    void begin_range(uint64_t begin) { chains.begin_range(begin), held.begin_range(begin); }
  } both{held, chains};
  visit_past(recording, kLockEvents, both);
  for_each_event(recording, {.classes = kLockEvents}, both);
  chains.finish(std::vector<uint64_t>(1, 0));
  EXPECT_EQ(chains.wait_time(), 50 * kMs + 5);
  EXPECT_EQ(chains.waits(), 1u);
  const ChainLink& worst = chains.links()[chains.by_time().at(0)];
  EXPECT_EQ(worst.time, 50 * kMs);
  EXPECT_EQ(worst.stack, 21u);
  EXPECT_EQ(worst.times, 1u);
  EXPECT_EQ(held.locks(), 2u);  // inner is given back
}

// In memory that a forked process shares: its parent took the lock after that.
TEST_F(WaitChainsTest, WhereAThreadOfAnotherProcessTookALockIsKnown) {
  ThreadBuilder& child = build.thread(build.process(200, 100, 5), 1);
  lock_at(thread(1), kOuter, 31, 10);
  request(child, kOuter, 7, 20, 1001);
  Chained seen(build, 100);
  EXPECT_EQ(seen.worst().holder, 0u);
  EXPECT_EQ(seen.worst().stack, 0u);  // a number of its own process
  EXPECT_EQ(seen.worst().holder_stack, 31u);
  EXPECT_EQ(seen.worst().time, 80u);
}

TEST_F(WaitChainsTest, ALinkKnowsItsThreadsAndStacks) {
  lock_at(thread(3), kInner, 31, 1);
  lock_at(thread(2), kOuter, 21, 2);
  request(thread(2), kInner, 22, 10);
  request(thread(1), kOuter, 11, 20);
  Chained seen(build, 1000);
  const auto& links = seen.chains.links();
  const auto chain =
      std::find_if(links.begin(), links.end(), [](const ChainLink& one) { return one.next != kNoIndex; });
  ASSERT_NE(chain, links.end());
  EXPECT_EQ(chain->waiter, 0u);
  EXPECT_EQ(chain->waiter_stack, 11u);
  EXPECT_EQ(chain->holder, 1u);
  EXPECT_EQ(chain->holder_wait_stack, 22u);
  EXPECT_EQ(links[chain->next].holder, 2u);
  EXPECT_EQ(chain->time, 980u);
  EXPECT_EQ(seen.chains.still_waiting(), 2u);
}

// All of them lose what the one at the end holds.
TEST_F(WaitChainsTest, EveryWaiterCounts) {
  lock_at(thread(1), kOuter, 1, 10);
  for (uint32_t i = 2; i < 12; ++i) request(thread(i), kOuter, 2, 100);
  thread(1).unlock(kOuter, 200);
  Chained seen(build, 200);
  EXPECT_EQ(seen.time({{kOuter, 1}}), 1000u);
  EXPECT_EQ(seen.worst().times, 1u);
  EXPECT_TRUE(seen.worst().more_waiters);
}

TEST_F(WaitChainsTest, SignalLinksToItsSendersWait) {
  const uint64_t condition = sync_word(PENNA_SYNC_CONDITION, kCondition);
  lock_at(thread(3), kInner, 31, 10);
  request(thread(1), condition, 11, 100);
  wait_for(thread(2), kInner, 21, 200, 700);
  thread(3).unlock(kInner, 700);
  wake(thread(2), condition, 22, 900);
  thread(1).cond_wait(kMutex, kCondition, 100, 1000);
  Chained seen(build);
  EXPECT_EQ(seen.time({{kCondition, 22}, {kInner, 31}}), 500u);
  EXPECT_EQ(seen.time({{kCondition, 22}}), 400u);
  EXPECT_EQ(seen.total(), 900u + 500);
}

// Who signals and holds on to the mutex is who is waited for from then on.
TEST_F(WaitChainsTest, AfterASignalTheMutexIsWaitedFor) {
  const uint64_t condition = sync_word(PENNA_SYNC_CONDITION, kCondition);
  request(thread(1), condition, 11, 100);
  lock_at(thread(2), kMutex, 21, 150);
  wake(thread(2), condition, 22, 200);
  thread(2).unlock(kMutex, 800);
  thread(1).cond_wait(kMutex, kCondition, 100, 810, PENNA_WAIT_GOT, 11);
  Chained seen(build);
  EXPECT_EQ(seen.time({{kCondition, 22}}), 100u);
  EXPECT_EQ(seen.time({{kMutex, 21}}), 600u);
  EXPECT_EQ(seen.time({{kMutex, 0}}), 10u);  // it was free
  EXPECT_EQ(seen.total(), 710u);
  EXPECT_EQ(seen.chains.wait_time(), 710u);
}

// Of those that a broadcast woke each waits for all in front of it, and not for the last one alone.
TEST_F(WaitChainsTest, AHerdWaitsForEachHolder) {
  const uint64_t condition = sync_word(PENNA_SYNC_CONDITION, kCondition);
  for (uint32_t i = 1; i <= 3; ++i) request(thread(i), condition, 10 + i, 100);
  lock_at(thread(9), kMutex, 91, 190);
  wake(thread(9), condition, 92, 200);
  thread(9).unlock(kMutex, 300);
  for (uint32_t i = 1; i <= 3; ++i) {
    thread(i).cond_wait(kMutex, kCondition, 100, 110 + 200 * i, PENNA_WAIT_GOT, 10 + i);
    thread(i).unlock(kMutex, 300 + 200 * i);
  }
  Chained seen(build);
  EXPECT_EQ(seen.time({{kCondition, 92}}), 300u);
  EXPECT_EQ(seen.time({{kMutex, 91}}), 300u);
  EXPECT_EQ(seen.time({{kMutex, 11}}), 380u);
  EXPECT_EQ(seen.time({{kMutex, 12}}), 190u);
  EXPECT_EQ(seen.time({{kMutex, 0}}), 60u);
  EXPECT_EQ(seen.total(), seen.chains.wait_time());
}

TEST_F(WaitChainsTest, ATimeoutIsNobodysWake) {
  const uint64_t condition = sync_word(PENNA_SYNC_CONDITION, kCondition);
  request(thread(1), condition, 11, 100);
  wake(thread(2), condition, 22, 150);
  thread(1).cond_wait(kMutex, kCondition, 100, 300, PENNA_WAIT_TIMEOUT);
  Chained seen(build);
  EXPECT_EQ(seen.worst().kind, LinkKind::kTimedOut);
  EXPECT_EQ(seen.worst().time, 200u);
}

// A signal handler, or the unwinding of a thread that is cancelled while it waits, takes locks, too: the wait goes on.
TEST_F(WaitChainsTest, AWaitThatIsInterruptedIsOne) {
  const uint64_t condition = sync_word(PENNA_SYNC_CONDITION, kCondition);
  request(thread(1), condition, 11, 100);
  lock_at(thread(1), kInner, 12, 250);
  thread(1).unlock(kInner, 260);
  thread(1).cond_wait(kMutex, kCondition, 100, 300, PENNA_WAIT_ERROR, 11);
  Chained seen(build);
  EXPECT_EQ(seen.total(), 200u);
  EXPECT_EQ(seen.chains.wait_time(), 200u);
  EXPECT_EQ(seen.chains.waits(), 1u);
  EXPECT_EQ(seen.held.unfinished(), 0u);
}

// Cancelled, or woken by another process.
TEST_F(WaitChainsTest, AWaitThatIsOverWasEndedBySomebody) {
  const uint64_t condition = sync_word(PENNA_SYNC_CONDITION, kCondition);
  request(thread(1), condition, 11, 100);
  thread(1).cond_wait(kMutex, kCondition, 100, 300, PENNA_WAIT_ERROR, 11);
  Chained over(build);
  EXPECT_EQ(over.worst().kind, LinkKind::kUnknownWaker);

  RecordingBuilder other;
  request(other.thread(other.process(100), 1), condition, 11, 100);
  Chained waiting(other, 300);
  EXPECT_EQ(waiting.worst().kind, LinkKind::kNotWoken);
}

TEST_F(WaitChainsTest, AJoinWaitsForWhatItsThreadWaitsFor) {
  lock_at(thread(3), kInner, 31, 10);
  wait_for(thread(1), sync_word(PENNA_SYNC_JOIN, 0x7f00), 11, 100, 1000, 1002);
  wait_for(thread(2), kInner, 21, 300, 700);
  thread(3).unlock(kInner, 700);
  Chained seen(build);
  EXPECT_EQ(seen.time({{0x7f00, 0}, {kInner, 31}}), 400u);
  EXPECT_EQ(seen.time({{0x7f00, 0}}), 500u);
}

// The lock had never been contended: where it was taken is not known, but where it is given back.
TEST_F(WaitChainsTest, AHoldWithoutStackIsKnownByItsEnd) {
  thread(1).lock(kOuter, 10);
  wait_for(thread(2), kOuter, 21, 100, 205);
  unlock_at(thread(1), kOuter, 12, 200);
  Chained seen(build);
  EXPECT_EQ(seen.time({{kOuter, 12}}), 100u);
  EXPECT_EQ(seen.worst().kind, LinkKind::kReleased);
  EXPECT_EQ(seen.worst().times, 1u);
  EXPECT_EQ(seen.total(), 105u);
}

TEST_F(WaitChainsTest, WithoutRequestsAllOfAWaitIsOfTheLastHolder) {
  lock_at(thread(1), kOuter, 1, 10);
  thread(1).unlock(kOuter, 200);
  thread(2).lock_wait(kOuter, 100, 210, 2, 1001);
  thread(2).lock_wait(kInner, 900, 300, 2);  // ends before it begins
  Chained seen(build);
  EXPECT_EQ(seen.time({{kOuter, 1}}), 110u);
  EXPECT_EQ(seen.chains.impossible(), 1u);
  EXPECT_EQ(seen.total(), 110u);
}

// record --min-wait: the end of a short wait is a LOCK.
TEST_F(WaitChainsTest, AShortWaitEndsWithAnAcquisition) {
  lock_at(thread(1), kOuter, 1, 10);
  request(thread(2), kOuter, 21, 100);
  thread(1).unlock(kOuter, 150);
  thread(2).lock(kOuter, 151);
  request(thread(3), kOuter, 31, 200);
  Chained seen(build, 300);
  EXPECT_EQ(seen.time({{kOuter, 1}}), 50u);
  EXPECT_EQ(seen.time({{kOuter, 21}}), 100u);
  EXPECT_EQ(seen.held.unfinished(), 0u);
}

// Who reads the owner while it gives the lock back, reads one that was.
TEST_F(WaitChainsTest, WhatIsBeingHandedOverHasNoHolder) {
  lock_at(thread(1), kOuter, 1, 10);
  thread(1).unlock(kOuter, 100);
  wait_for(thread(2), kOuter, 21, 101, 111, 1001);
  Chained seen(build);
  EXPECT_EQ(seen.worst().kind, LinkKind::kFree);
  EXPECT_EQ(seen.worst().time, 10u);
}

// A lock in memory that processes share. That the thread took it before itself does not mean that it is being handed over.
TEST_F(WaitChainsTest, AThreadOfAnotherProcessMayHaveIt) {
  const uint32_t other = build.process(200, 100, 5);
  ThreadBuilder& holder = build.thread(other, 7);
  lock_at(thread(1), kOuter, 1, 10);
  thread(1).unlock(kOuter, 20);
  lock_at(holder, kOuter, 2, 30);
  wait_for(thread(1), kOuter, 11, 100, 150, 2007);
  holder.unlock(kOuter, 140);
  wait_for(thread(1), kInner, 12, 200, 230, 4444);
  Chained seen(build);
  const ChainLink& link = seen.worst();
  EXPECT_EQ(link.kind, LinkKind::kHeld);
  ASSERT_NE(link.holder, kNoIndex);
  EXPECT_EQ(seen.recording.threads()[link.holder].tid, 2007u);
  EXPECT_EQ(link.time, 50u);
  // One that was not recorded.
  EXPECT_EQ(seen.chains.links()[seen.chains.by_time()[1]].kind, LinkKind::kUnknownHolder);
  EXPECT_EQ(seen.total(), 80u);
}

TEST_F(WaitChainsTest, ADeadlockIsAChainOfBoundedLength) {
  lock_at(thread(1), kOuter, 1, 10);
  lock_at(thread(2), kInner, 2, 11);
  request(thread(1), kInner, 3, 20);
  request(thread(2), kOuter, 4, 30);
  Chained seen(build, 1030);
  EXPECT_EQ(seen.total(), 10u + 2000);
  for (const ChainLink& link : seen.chains.links()) EXPECT_LE(link.length, WaitChains::kMostLinks);
}

// Whatever is in the recording: every tick of waiting is in one chain, and chains end.
TEST_F(WaitChainsTest, TheSumsAreRightForAnyRecords) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    RecordingBuilder any;
    const uint32_t first = any.process(100), second = any.process(200, 100, 300);
    for (uint32_t i = 0; i < 8; ++i) {
      ThreadBuilder& one = any.thread(i < 6 ? first : second, i + 1);
      uint64_t time = random() % 100;
      for (int k = 0; k < 500; ++k) {
        time += random() % 20;
        const auto sync = static_cast<penna_sync>(random() % 3 == 0 ? random() % 12 : 0);
        const uint64_t lock = sync_word(sync, random() % 6 * 64);
        const auto stack = static_cast<uint32_t>(random() % 3);
        switch (random() % 9) {
          case 0: one.lock(lock, time); break;
          case 1: lock_at(one, lock, stack, time); break;
          case 2: one.unlock(lock, time); break;
          case 3: unlock_at(one, lock, stack, time); break;
          case 4: request(one, lock, stack, time, static_cast<uint32_t>(1000 + random() % 9)); break;
          case 5: one.lock_wait(lock, time - random() % 30, time, stack, 0, static_cast<uint32_t>(random() % 5)); break;
          case 6: one.cond_wait(lock, random() % 6 * 64, time - random() % 30, time); break;
          case 7: wake(one, lock, stack, time); break;
          default:
            one.record(random() % 2 ? PENNA_KIND_LOCK_GONE : PENNA_KIND_LOCK_MADE, time, penna_lock_at{lock, 0, 0});
        }
      }
    }
    Chained seen(any, 20000);
    EXPECT_EQ(seen.total(), seen.chains.wait_time()) << seed;
    for (const ChainLink& link : seen.chains.links()) {
      EXPECT_LE(link.length, WaitChains::kMostLinks);
      EXPECT_LT(link.times, 100'000u);
    }
  }
}

}  // namespace
}  // namespace penna::wait_chains_test
