// SPDX-License-Identifier: MIT
// The reports of waits and holds, word for word, and the sentences about problems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/reports.h"
#include "report_text.h"
#include "sample_recording.h"

namespace penna::lock_reports_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kLock = kSampleLock;
constexpr uint64_t kCondition = ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, kSampleCondition);

bool has_no_rows(const Report& report) {
  return std::all_of(report.tables.begin(), report.tables.end(), [](const Table& table) { return table.rows.empty(); });
}

class LockReports : public testing::Test {
 protected:
  LockReports() : process_(build_.process(100)) {
    build_.module(process_, sample_module());
    work_ = build_.stack(process_, 1, {kSampleCode + 0x120, kSampleCode + 0x10});
    take_ = build_.stack(process_, 3, {kSampleCode + 0x320, kSampleCode + 0x10});
  }
  ThreadBuilder& thread(uint32_t serial) { return build_.thread(process_, serial); }
  void open(const LockOptions& options = {}) {
    recording_.emplace(build_.open());
    names_.emplace(*recording_, symbols_);
    locks_.emplace(*recording_, options);
    for_each_event(*recording_, {.classes = kLockEvents}, *locks_);
    locks_->finish();
  }
  // work() holds the lock for 10 ms, take_lock() waits 8 ms of them.
  void contended() {
    thread(1).lock_at(kLock, 1'000'000, work_);
    thread(2).waited(kLock, 3'000'000, 11'500'000, take_, 1001);
    thread(1).unlock(kLock, 11'000'000);
    thread(2).unlock(kLock, 11'600'000);
  }
  std::vector<std::string> findings() {
    open();
    return locks_report(*recording_, *locks_, *names_).tail;
  }

  RecordingBuilder build_;
  uint32_t process_, work_, take_;
  SampleSymbols symbols_;
  std::optional<Recording> recording_;
  std::optional<Names> names_;
  std::optional<Locks> locks_;
};

// A program whose own locks are of futexes is not judged by the others; those that are called alike count together.
TEST_F(LockReports, FutexesThatCostMoreThanTheWorstLockAreNamedBesideIt) {
  constexpr uint64_t kFirst = ThreadBuilder::of_sync(PENNA_SYNC_FUTEX, 0x700),
                     kSecond = ThreadBuilder::of_sync(PENNA_SYNC_FUTEX, 0x720);
  contended();
  thread(3).waited(kFirst, 20'000'000, 36'000'000, take_);
  thread(4).waited(kSecond, 20'000'000, 30'000'000, take_);
  open();
  const std::string head = locks_report(*recording_, *locks_, *names_).head[0];
  EXPECT_THAT(head,
              HasSubstr("held it. 2 threads waited 26.0 ms for 2 futexes first used in take_lock (app.c:40), whose "
                        "holder is unknown: if a lock"));
  EXPECT_THAT(head, HasSubstr("1 thread lost 8.50 ms"));
}
TEST_F(LockReports, FutexesThatCostLessThanTheWorstLockAreNot) {
  contended();
  thread(3).waited(ThreadBuilder::of_sync(PENNA_SYNC_FUTEX, 0x700), 20'000'000, 36'000'000, take_);
  open();
  EXPECT_THAT(locks_report(*recording_, *locks_, *names_).head[0], Not(HasSubstr("whose holder is unknown")));
}

// At one place of a stack there may be another condition each time.
TEST_F(LockReports, WhatSaysTheSameIsSaidOnce) {
  for (uint64_t i = 0; i < 3; ++i) {
    thread(1).lock_made(kCondition, 1000 + 100 * i, work_);
    thread(1).wake(kCondition, 1010 + 100 * i);
  }
  const std::vector<std::string> found = findings();
  EXPECT_EQ(std::count_if(found.begin(), found.end(),
                          [](const std::string& one) { return one.find("came while no thread") != one.npos; }),
            1);
  EXPECT_THAT(found, Contains("The same of 2 more condition variables."));
}

TEST_F(LockReports, HowWaitsForLocksEndedIsAFinding) {
  thread(1).lock_at(kLock, 1000, work_);
  thread(2).waited(kLock, 1500, 2000, take_, 1001, PENNA_WAIT_TIMEOUT);
  thread(2).waited(kLock, 2500, 3000, take_, 1001, PENNA_WAIT_OWNER_DIED);
  const std::vector<std::string> found = findings();
  EXPECT_THAT(found, Contains("1 of 2 waits for counter_lock ended by time-out."));
  EXPECT_THAT(found, Contains("A thread that held counter_lock died: the next thread to take it got EOWNERDEAD."));
}

TEST_F(LockReports, ShortWaitsCountAmongTimedOutOnes) {
  thread(1).lock_at(kLock, 1000, work_);
  thread(2).waited(kLock, 1500, 2000, take_, 1001, PENNA_WAIT_TIMEOUT);
  open({.min_wait = 1000});
  EXPECT_THAT(locks_report(*recording_, *locks_, *names_).tail,
              Contains("1 of 1 wait for counter_lock ended by time-out."));
}

// A fork gives conditions of one name, at one address, to several processes.
TEST_F(LockReports, FindingsSayOfWhichProcessTheyAre) {
  const uint32_t other = build_.process(101);
  for (ThreadBuilder* one : {&thread(1), &build_.thread(other, 1)}) one->wake(kCondition, 1000);
  const std::vector<std::string> found = findings();
  EXPECT_THAT(found, Contains(HasSubstr("of pid 100 came while no thread waited")));
  EXPECT_THAT(found, Contains(HasSubstr("of pid 101 came while no thread waited")));
}

TEST_F(LockReports, WaitsShowBothStacks) {
  contended();
  open();
  EXPECT_EQ(
      report_text(waits_report(*recording_, *locks_, *names_)),
      R"(1 thread lost 8.50 ms of its 8.60 ms waiting for counter_lock, 94.1 % of it while work(int) (app.c:20) held it.
1 lock taken 2 times, 1 after waiting, 8.50 ms in all

   WAIT  WAITS      MAX  LOCK          WAITED IN
8.00 ms      1  8.00 ms  counter_lock  take_lock (app.c:40) [program]
      main (app.c:10) [program]
    held by tid 1001, taken in
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
 500 us      1   500 us  counter_lock  take_lock (app.c:40) [program]
      main (app.c:10) [program]
    not held: already released, the thread had not resumed yet
)");
}

TEST_F(LockReports, HoldsSayHowLongOthersWaited) {
  contended();
  open({0, 200'000});
  EXPECT_EQ(
      report_text(holds_report(*recording_, *locks_, *names_)),
      R"(1 thread lost 8.50 ms of its 8.60 ms waiting for counter_lock, 94.1 % of it while work(int) (app.c:20) held it.
1 lock taken 2 times, 1 after waiting, 8.50 ms in all
1 hold left out as shorter than --min-hold

   HOLD  HOLDS      P99      MAX  OTHERS WAITED  LOCK          TAKEN IN
10.0 ms      1  10.0 ms  10.0 ms        8.00 ms  counter_lock  work(int) (app.c:20) [program]
      main (app.c:10) [program]
)");
}

// Names of locks: as a glob, and what is said when none is met.
TEST_F(LockReports, OneLockCanBeChosen) {
  contended();
  thread(3).lock(0x700, 12'000'000);
  thread(4).waited(0x700, 13'000'000, 13'500'000, take_, 1003, PENNA_WAIT_TIMEOUT);
  open();
  LockView view;
  view.lock = "counter*";
  const Report one = locks_report(*recording_, *locks_, *names_, view);
  EXPECT_EQ(one.tables.at(0).rows.size(), 1u);
  EXPECT_EQ(one.head.at(1), "1 lock taken 2 times, 1 after waiting, 8.50 ms in all");
  EXPECT_THAT(one.tail, IsEmpty());
  EXPECT_THAT(locks_report(*recording_, *locks_, *names_).tail, Contains(HasSubstr("ended by time-out")));
  view.lock = "nobody";
  const Report none = locks_report(*recording_, *locks_, *names_, view);
  EXPECT_EQ(none.head.at(0), "No lock is called nobody: 'penna report locks' without --lock lists them.");
  EXPECT_TRUE(has_no_rows(none));
}

TEST_F(LockReports, WhatNobodyWaitedForAndNothing) {
  thread(1).lock(kLock, 10);
  thread(1).unlock(kLock, 20);
  open();
  EXPECT_EQ(locks_report(*recording_, *locks_, *names_).head.at(0), "1 lock taken 1 time, and never waited for.");
  const Report waits = waits_report(*recording_, *locks_, *names_);
  EXPECT_THAT(waits.head, Contains("No lock was waited for."));
  EXPECT_TRUE(has_no_rows(waits));
  RecordingBuilder empty;
  Recording nothing = empty.open();
  Names names(nothing, symbols_);
  Locks locks(nothing);
  locks.finish();
  EXPECT_EQ(locks_report(nothing, locks, names).head.at(0), "No locks were recorded.");
}

// Without a symbol: where it was made, else where it was first taken.
TEST_F(LockReports, LocksAreCalledByWhereTheyWereMade) {
  thread(1).lock_made(0x700, 5, work_);
  thread(1).lock(0x700, 10);
  thread(1).lock_at(0x800, 20, take_);
  open();
  Report report = locks_report(*recording_, *locks_, *names_);
  const std::string text = report_text(std::move(report));
  EXPECT_THAT(text, HasSubstr("made in work(int) (app.c:20)"));
  EXPECT_THAT(text, HasSubstr("first taken in take_lock (app.c:40)"));
}

TEST_F(LockReports, OfQtTheyTellWhatIsNotSeen) {
  Module qt;
  qt.path = "/usr/lib/libQt6Core.so.6";
  qt.start = 0x7f0000000000;
  qt.end = qt.start + 4096;
  build_.module(process_, qt);
  contended();
  open();
  EXPECT_THAT(locks_report(*recording_, *locks_, *names_).head,
              Contains(HasSubstr("Of Qt's QMutex only waits are seen")));
}

TEST_F(LockReports, WaitsAddedUpByWhatIsAskedFor) {
  contended();
  open();
  const auto by = [&](WaitsBy what) { return report_text(waits_by_report(*recording_, *locks_, *names_, what)); };
  EXPECT_THAT(by(WaitsBy::kFunction), HasSubstr("8.50 ms  100.0 %      1  8.50 ms  8.50 ms  take_lock\n"));
  EXPECT_THAT(by(WaitsBy::kHolder), HasSubstr("8.00 ms  94.1 %      1  8.00 ms  8.00 ms  work(int)\n"));
  EXPECT_THAT(by(WaitsBy::kLock), HasSubstr("8.50 ms  100.0 %      1  8.50 ms  8.50 ms  counter_lock\n"));
  EXPECT_THAT(by(WaitsBy::kThread), HasSubstr("8.50 ms  100.0 %      1  8.50 ms  8.50 ms  tid 100"));
}

TEST_F(LockReports, OthersAreTheirOwnTable) {
  const uint64_t semaphore = ThreadBuilder::of_sync(PENNA_SYNC_SEMAPHORE, 0x700);
  const uint64_t join = ThreadBuilder::of_sync(PENNA_SYNC_JOIN, 0x900);
  thread(1).waited(semaphore, 1000, 6000, take_);
  thread(2).unlock_at(semaphore, 5900, work_);
  thread(1).waited(join, 7000, 27'000, take_, 1002);
  open();
  EXPECT_EQ(
      report_text(waits_report(*recording_, *locks_, *names_)),
      R"(No locks were recorded, but other waits. 1 thread waited 5.00 us for the semaphore first used in take_lock (app.c:40) (0x700), whose holder is unknown.
No lock was waited for.

Waits for objects without a holder
   WAIT  WAITS      MAX  KIND       WHAT                                WAITED IN
20.0 us      1  20.0 us  join       threads that were joined            take_lock (app.c:40) [program]
      main (app.c:10) [program]
    until tid 1002 ended
5.00 us      1  5.00 us  semaphore  first used in take_lock (app.c:40)  take_lock (app.c:40) [program]
      main (app.c:10) [program]
    woken by tid 1002, in
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
)");
}

TEST_F(LockReports, AConvoy) {
  // Four threads in a circle: each holds for 10 and waits for the 30 of the others.
  constexpr uint64_t kRounds = 20;
  for (uint64_t i = 0; i < 4 * kRounds; ++i) {
    ThreadBuilder& next = thread(1 + static_cast<uint32_t>(i % 4));
    const uint64_t begin = 1000 + 10 * i;
    i < 4 ? next.waited(kLock, 990 + i, begin, take_) : next.waited(kLock, begin - 29, begin, take_);
    next.unlock(kLock, begin + 9);
  }
  EXPECT_THAT(findings(), Contains(HasSubstr("Convoy: 4 threads queue for counter_lock again and again: in ")));
}

TEST_F(LockReports, NoConvoyOfTwo) {
  for (uint64_t i = 0; i < 100; ++i) {
    ThreadBuilder& next = thread(1 + static_cast<uint32_t>(i % 2));
    next.waited(kLock, 1000 + 10 * i - (i == 0 ? 0 : 9), 1000 + 10 * i, take_);
    next.unlock(kLock, 1000 + 10 * i + 9);
  }
  EXPECT_THAT(findings(), Not(Contains(HasSubstr("Convoy"))));
}

TEST_F(LockReports, Conditions) {
  thread(1).wake(kCondition, 500);
  for (uint32_t i = 2; i <= 5; ++i) {
    thread(i).lock(kLock, 1000 + 10 * i);
    thread(i).unlock(kLock, 1001 + 10 * i);
    thread(i).lock_request(kCondition, 1002 + 10 * i);
    thread(i).cond_wait(kLock, kSampleCondition, 1002 + 10 * i, 2010 + 10 * i);
    thread(i).unlock(kLock, 2011 + 10 * i);
  }
  thread(1).wake(kCondition, 2000, UINT32_MAX);
  thread(1).wake(kCondition, 3000);
  thread(2).lock(kLock, 3010);
  thread(2).unlock(kLock, 3011);
  thread(2).lock_request(kCondition, 3012);
  ProcessEnd end;
  end.how = EndKind::kSignaled;
  end.end_ticks = 10'000;
  build_.end(end);
  const std::vector<std::string> all = findings();
  EXPECT_THAT(all, Contains("2 of 3 signals and broadcasts of ready came while no thread waited for it."));
  EXPECT_THAT(all,
              Contains("Thundering herd: after 1 of 1 broadcast of ready, all but one of the threads that woke up (4 "
                       "on average) waited for counter_lock again."));
  EXPECT_THAT(all, Contains("Lost wake-up? tid 1002 still waits for ready; tid 1001 had signalled it 12 ns before that "
                            "wait began, while no thread waited."));
}

// A program with thousands of them has a page that can be read, too.
TEST_F(LockReports, OfManyFindingsOfAKindTheWorstAreShown) {
  for (uint64_t i = 0; i < 1000; ++i)
    for (uint64_t k = 0; k <= i; k += 100)
      thread(1).wake(ThreadBuilder::of_sync(PENNA_SYNC_CONDITION, 0x900000 + 64 * i), 1000 * i + k);
  const std::vector<std::string> all = findings();
  EXPECT_LE(all.size(), 8u);
  EXPECT_THAT(all, Contains(HasSubstr("10 of 10 signals and broadcasts of")));
  EXPECT_THAT(all, Contains("The same of 995 more condition variables."));
}

}  // namespace
}  // namespace penna::lock_reports_test
