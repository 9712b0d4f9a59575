// SPDX-License-Identifier: MIT
// The critical path: to the thread that ended the wait, back in time, and it adds up.
#include "model/locks/critical_path.h"

#include <gtest/gtest.h>

#include <random>

#include "lock_events.h"
#include "model/calls/slowest_span.h"

namespace penna::critical_path_test {
namespace {

using What = PathPart::What;
constexpr uint64_t kOuter = 0x5000, kInner = 0x6000, kMutex = 0x7000, kCondition = 0x8000;

struct Walked {
  Walked(RecordingBuilder& build, uint64_t last = 0) : recording(build.open()), held(recording), history(held) {
    run_locks(recording, held, history);
    history.finish(std::vector<uint64_t>(recording.processes().size(), last));
  }
  void walk(uint32_t thread, uint64_t begin, uint64_t end) {
    path = critical_path(history, thread, begin, end);
    uint64_t sum = 0;
    for (const PathPart& part : path.parts) sum += part.time;
    EXPECT_EQ(sum, end - begin);
  }
  uint64_t time(uint32_t thread, What what, uint64_t lock = 0, uint32_t stack = 0) const {
    for (const PathPart& part : path.parts) {
      const uint64_t of = part.object == kNoIndex ? 0 : held.objects()[part.object].address;
      if (part.thread == thread && part.what == what && of == lock && part.stack == stack) return part.time;
    }
    return 0;
  }
  Recording recording;
  HolderTracker held;
  WaitHistory history;
  CriticalPath path;
};

class CriticalPathTest : public LockEventsTest {};

// 1 waits for outer, which 2 holds, which waits for inner, which 3 holds.
TEST_F(CriticalPathTest, FollowsThoseWhoGiveLocksBack) {
  lock_at(thread(3), kInner, 31, 100);
  lock_at(thread(2), kOuter, 21, 150);
  wait_for(thread(2), kInner, 22, 200, 1005);
  wait_for(thread(1), kOuter, 11, 300, 2010);
  thread(3).unlock(kInner, 1000);
  thread(2).unlock(kInner, 1900);
  thread(2).unlock(kOuter, 2000);
  thread(1).unlock(kOuter, 3000);
  Walked seen(build);
  seen.walk(0, 50, 3000);
  EXPECT_EQ(seen.time(0, What::kRan), 3000u - 2010 + 50);  // and 50 before thread 3 began
  EXPECT_EQ(seen.time(0, What::kWaited, kOuter, 11), 10u);
  EXPECT_EQ(seen.time(1, What::kRanHolding, kOuter, 21), 2000u - 1005);
  EXPECT_EQ(seen.time(1, What::kWaited, kInner, 22), 5u);
  EXPECT_EQ(seen.time(2, What::kRanHolding, kInner, 31), 900u);
}

TEST_F(CriticalPathTest, GoesOverToSignalsAndToThreadsThatEnd) {
  const uint64_t condition = sync_word(PENNA_SYNC_CONDITION, kCondition);
  thread(1).lock(kMutex, 10);
  thread(2).lock(kInner, 20);
  request(thread(2), condition, 21, 30);
  thread(3).lock(kInner, 40);
  wake(thread(3), condition, 31, 500);
  thread(2).cond_wait(kMutex, kCondition, 30, 520);
  wait_for(thread(1), sync_word(PENNA_SYNC_JOIN, 0x7f00), 11, 100, 900, 1002);
  Walked seen(build);
  seen.walk(0, 10, 1000);
  EXPECT_EQ(seen.time(1, What::kRan), 900u - 520);
  EXPECT_EQ(seen.time(1, What::kWaited, kCondition, 21), 20u);
  EXPECT_EQ(seen.time(2, What::kRan), 500u - 40);
  EXPECT_EQ(seen.time(0, What::kRan), 100u + 30);
}

TEST_F(CriticalPathTest, AWaitThatNobodyEndedIsTheThreadsOwn) {
  thread(1).lock(kMutex, 10);
  wait_for(thread(1), kInner, 11, 100, 400, 0, PENNA_WAIT_TIMEOUT);
  request(thread(1), kOuter, 12, 600);
  Walked seen(build, 1000);
  seen.walk(0, 10, 1000);
  EXPECT_EQ(seen.time(0, What::kWaited, kInner, 11), 300u);
  EXPECT_EQ(seen.time(0, What::kWaited, kOuter, 12), 400u);
  EXPECT_EQ(seen.time(0, What::kRan), 290u);
}

TEST_F(CriticalPathTest, StaysInItsRange) {
  lock_at(thread(2), kOuter, 21, 10);
  wait_for(thread(1), kOuter, 11, 100, 810);
  thread(2).unlock(kOuter, 800);
  thread(1).unlock(kOuter, 900);
  Walked seen(build);
  seen.walk(0, 500, 850);
  EXPECT_EQ(seen.time(1, What::kRanHolding, kOuter, 21), 300u);
  seen.walk(0, 805, 808);
  EXPECT_EQ(seen.time(0, What::kWaited, kOuter, 11), 3u);
}

TEST_F(CriticalPathTest, AddsUpForAnyRecords) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    RecordingBuilder any;
    const uint32_t only = any.process(100);
    for (uint32_t i = 1; i <= 5; ++i) {
      uint64_t time = 1 + random() % 100;
      for (int k = 0; k < 300; ++k) {
        ThreadBuilder& one = any.thread(only, i);
        time += random() % 20;
        const uint64_t lock = sync_word(static_cast<penna_sync>(random() % PENNA_SYNC_COUNT), random() % 4 * 64);
        switch (random() % 6) {
          case 0: lock_at(one, lock, 1, time); break;
          case 1: one.unlock(lock, time); break;
          case 2: request(one, lock, 2, time, static_cast<uint32_t>(1000 + random() % 6)); break;
          case 3: one.lock_wait(lock, time > 90 ? time - random() % 90 : time + 5, time, 3); break;
          case 4: one.cond_wait(lock, random() % 4 * 64, time, time + random() % 9); break;
          default: wake(one, lock, 4, time);
        }
      }
    }
    Walked seen(any, 9000);
    for (uint32_t thread = 0; thread < 5; ++thread) seen.walk(thread, 500, 2500);
  }
}

TEST_F(CriticalPathTest, TheSlowestSpanOfAName) {
  Site begin;
  begin.id = 1;
  begin.provider = "db";
  begin.name = "query";
  begin.kind = PENNA_SITE_SPAN;
  Site end = begin;
  end.id = 2;
  end.kind = PENNA_SITE_SPAN_END;
  build.site(process, begin);
  build.site(process, end);
  thread(1).point(1, 100);
  thread(1).point(2, 150);
  thread(2).point(1, 100);
  thread(2).point(1, 200);
  thread(2).point(2, 400);
  thread(2).point(2, 450);
  thread(2).point(2, 900);  // of none
  const Recording recording = build.open();
  const auto span = slowest_span(recording, "db:query");
  ASSERT_TRUE(span);
  EXPECT_EQ(span->thread, 1u);
  EXPECT_EQ(span->begin, 100u);
  EXPECT_EQ(span->end, 450u);
  EXPECT_FALSE(slowest_span(recording, "nothing"));
}

}  // namespace
}  // namespace penna::critical_path_test
