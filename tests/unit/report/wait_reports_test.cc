// SPDX-License-Identifier: MIT
// The reports about waits between threads, word for word.
#include "report/locks/wait_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "../model/lock_events.h"
#include "report_text.h"
#include "sample_recording.h"

namespace penna::wait_reports_test {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kCounter = kSampleLock, kReady = kSampleCondition;  // that have names
constexpr uint64_t kSecond = 1'000'000'000;

class WaitReports : public testing::Test {
 protected:
  WaitReports() {
    build_.module(process_, sample_module());
    in_main_ = build_.stack(process_, 1, {kSampleCode + 0x10});
    in_work_ = build_.stack(process_, 2, {kSampleCode + 0x120, kSampleCode + 0x10});
  }
  ThreadBuilder& thread(uint32_t serial, const char* name) {
    ThreadBuilder& thread = build_.thread(process_, serial);
    if (named_.insert(serial).second) names_of_threads_.push_back({serial, 1000 + serial, name, 0});
    return thread;
  }
  void open(uint64_t end) {
    if (!build_.writer().write_threads(process_, names_of_threads_)) std::abort();
    recording_.emplace(build_.open());
    names_.emplace(*recording_, symbols_);
    held_.emplace(*recording_);
    order_.emplace(*held_);
    chains_.emplace(*held_);
    history_.emplace(*held_);
    ends_.assign(recording_->processes().size(), end);
    run_locks(*recording_, *held_, [&](const Event& event, const LockStep& step) {
      (*order_)(event, step);
      (*chains_)(event, step);
      (*history_)(event, step);
    });
    order_->finish();
    chains_->finish(ends_);
    history_->finish(ends_);
    deadlocks_ = find_deadlocks(*held_);
  }
  WaitTexts texts() { return {*held_, *names_, nullptr, nullptr, 5, 0}; }
  std::string order() { return report_text(order_report(*order_, deadlocks_, texts(), ends_)); }
  std::string chains() { return report_text(chains_report(*chains_, deadlocks_, texts(), ends_)); }

  RecordingBuilder build_;
  uint32_t process_ = build_.process(100);
  uint32_t in_main_ = 0, in_work_ = 0;
  std::set<uint32_t> named_;
  std::vector<Thread> names_of_threads_;
  SampleSymbols symbols_;
  std::optional<Recording> recording_;
  std::optional<Names> names_;
  std::optional<HolderTracker> held_;
  std::optional<LockOrder> order_;
  std::optional<WaitChains> chains_;
  std::optional<WaitHistory> history_;
  Deadlocks deadlocks_;
  std::vector<uint64_t> ends_;
};

TEST_F(WaitReports, AnInversionShowsBothStacksOfBothOrders) {
  ThreadBuilder& one = thread(1, "one");
  lock_at(one, kCounter, in_main_, 1000);
  lock_at(one, kReady, in_work_, 2000);
  one.unlock(kReady, 3000);
  one.unlock(kCounter, 4000);
  ThreadBuilder& two = thread(2, "two");
  two.lock(kReady, 5000);
  lock_at(two, kCounter, in_work_, 6000);
  open(7000);
  EXPECT_EQ(order(), R"(2 locks are taken in both orders: a deadlock is possible. (2 locks, 2 orders seen)

Locks taken in contradicting orders
CYCLE  COUNT  FIRST AT  THREAD          HELD                  THEN TAKEN
    1      1   2.00 us  one (tid 1001)  mutex `counter_lock`  mutex `ready`
      holds mutex `counter_lock`, taken in
        main (app.c:10) [program]
      and takes mutex `ready` in
        work(int) (app.c:20) [program]
        main (app.c:10) [program]
    1      1   6.00 us  two (tid 1002)  mutex `ready`         mutex `counter_lock`
      holds mutex `ready`, taken in (stack not recorded)
      and takes mutex `counter_lock` in
        work(int) (app.c:20) [program]
        main (app.c:10) [program]
)");
}

TEST_F(WaitReports, NothingIsSaidInASentence) {
  ThreadBuilder& one = thread(1, "one");
  lock_at(one, kCounter, in_main_, 1000);
  lock_at(one, kReady, in_work_, 2000);
  open(3000);
  EXPECT_EQ(order(), "No locks are taken in contradicting orders: 2 locks, 1 order seen.\n");
  EXPECT_EQ(chains(), "No thread is known to have waited for another.\n");
}

TEST_F(WaitReports, WithoutLocksThereIsNoOrder) {
  thread(1, "one").enter(kSampleCode, 10);
  open(100);
  EXPECT_EQ(order(), "No locks were recorded.\n");
}

TEST_F(WaitReports, ADeadlockComesFirst) {
  lock_at(thread(1, "one"), kCounter, in_main_, 1000);
  lock_at(thread(2, "two"), kReady, in_work_, 2000);
  request(thread(1, "one"), kReady, in_work_, 3000);
  request(thread(2, "two"), kCounter, in_main_, 4000);
  request(thread(3, "three"), kCounter, in_main_, 5000);
  open(2 * kSecond);
  EXPECT_THAT(
      order(),
      testing::StartsWith(
          R"(Deadlock of 2 threads: one (tid 1001) waits for mutex `ready`, two (tid 1002) waits for mutex `counter_lock`.
1 thread waits for a deadlocked thread.
2 locks are taken in both orders: a deadlock is possible. (2 locks, 2 orders seen)

Deadlocks
DEADLOCK  WAITS SINCE  THREAD            WAITS FOR             HELD BY
       1       2.00 s  one (tid 1001)    mutex `ready`         two (tid 1002)
      waits for mutex `ready` in
        work(int) (app.c:20) [program]
        main (app.c:10) [program]
      holds mutex `counter_lock`, taken in
        main (app.c:10) [program]
       1       2.00 s  two (tid 1002)    mutex `counter_lock`  one (tid 1001)
      waits for mutex `counter_lock` in
        main (app.c:10) [program]
      holds mutex `ready`, taken in
        work(int) (app.c:20) [program]
        main (app.c:10) [program]
       -       2.00 s  three (tid 1003)  mutex `counter_lock`  one (tid 1001)
)"));
  EXPECT_THAT(chains(), testing::StartsWith("Deadlock of 2 threads: one (tid 1001) waits"));
}

TEST_F(WaitReports, AChainIsToldLinkByLink) {
  lock_at(thread(3, "three"), kReady, in_main_, 10);
  lock_at(thread(2, "two"), kCounter, in_work_, 20);
  wait_for(thread(2, "two"), kReady, in_work_, 1000, 101'000);
  wait_for(thread(1, "one"), kCounter, in_main_, 1001, 201'000);
  thread(3, "three").unlock(kReady, 101'000);
  thread(2, "two").unlock(kReady, 200'999);
  thread(2, "two").unlock(kCounter, 201'000);
  open(300'000);
  EXPECT_EQ(chains(), R"(2 waits of 300 us in all, 300 us of it for locks
The most in one chain: 100 us for mutex `ready` while three (tid 1003) had it.

Waits for locks
BLOCKED   SHARE  TIMES  CHAIN
 100 us  33.3 %      1  mutex `ready` (held by three (tid 1003))
      two (tid 1002) waits for mutex `ready` in
        work(int) (app.c:20) [program]
        main (app.c:10) [program]
      three (tid 1003) has it, taken in
        main (app.c:10) [program]
 100 us  33.3 %      1  mutex `counter_lock` (held by two (tid 1002))
      one (tid 1001) waits for mutex `counter_lock` in
        main (app.c:10) [program]
      two (tid 1002) has it, taken in
        work(int) (app.c:20) [program]
        main (app.c:10) [program]
 100 us  33.3 %      1  mutex `counter_lock` (held by two (tid 1002)) <- mutex `ready` (held by three (tid 1003))
      one (tid 1001) waits for mutex `counter_lock` in
        main (app.c:10) [program]
      two (tid 1002) has it, taken in
        work(int) (app.c:20) [program]
        main (app.c:10) [program]
      and waits for mutex `ready` in
        work(int) (app.c:20) [program]
        main (app.c:10) [program]
      three (tid 1003) has it, taken in
        main (app.c:10) [program]
)");
}

TEST_F(WaitReports, ACriticalPathAddsUp) {
  lock_at(thread(2, "two"), kCounter, in_work_, 1000);
  wait_for(thread(1, "one"), kCounter, in_main_, 1000, 81'000);
  thread(2, "two").unlock(kCounter, 80'000);
  thread(1, "one").unlock(kCounter, 101'000);
  open(300'000);
  const CriticalPath path = critical_path(*history_, 0, 1000, 101'000);
  EXPECT_EQ(
      report_text(path_report(path, texts())),
      R"(Critical path of one (tid 1001), from 0.000001000 to 0.000101000: 100 us. 20.0 us of it ran one (tid 1001) itself, 79.0 us others for which it waited; 1.00 us it waited with no known running thread.

   TIME   SHARE  COUNT  THREAD          WHAT
79.0 us  79.0 %      1  two (tid 1002)  ran, holding mutex `counter_lock`
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
20.0 us  20.0 %      1  one (tid 1001)  ran
1.00 us   1.0 %      1  one (tid 1001)  waited for mutex `counter_lock`
      main (app.c:10) [program]

Who ran may also have slept, or waited for what is not recorded.
)");
}

TEST_F(WaitReports, WhatIsLeftOutIsTold) {
  for (const uint32_t serial : {1, 2}) {
    ThreadBuilder& one = thread(serial, "x");
    uint64_t now = serial * 1000;
    for (const uint64_t lock : {uint64_t{0x9000}, serial == 1 ? kCounter : kReady, serial == 1 ? kReady : kCounter})
      lock_at(one, lock, in_main_, now++);
    for (const uint64_t lock : {kCounter, kReady, uint64_t{0x9000}}) one.unlock(lock, now++);
  }
  ThreadBuilder& one = thread(1, "x");
  lock_at(one, 0xa000, in_main_, 5000);
  lock_at(one, 0xb000, in_main_, 5001);
  one.unlock(0xa000, 5002);
  lock_at(one, 0xa000, in_main_, 5003);
  open(9000);
  const std::string text = order();
  EXPECT_THAT(text, HasSubstr("No locks are taken in contradicting orders"));
  EXPECT_THAT(text, HasSubstr("1 cycle not shown: another lock is always held around them"));
  EXPECT_THAT(text, HasSubstr("1 cycle of too few threads for a deadlock so far"));
}

}  // namespace
}  // namespace penna::wait_reports_test
