// SPDX-License-Identifier: MIT
// Limits on locks: what is found, which stacks are blamed, and when that is doubtful.
#include "model/verdict/lock_checks.h"

#include <gtest/gtest.h>

#include "../report/sample_recording.h"
#include "blames.h"

namespace penna::lock_checks_test {
namespace {

// 0x500 is waited for 30 in stack 2 and 8 in stack 3, and held for 40 and 12; 0x600 is waited for 20 in stack 3.
class LockChecks : public testing::Test {
 protected:
  LockChecks() {
    const uint32_t process = build_.process(100);
    auto& a = build_.thread(process, 1);
    auto& b = build_.thread(process, 2);
    a.lock_at(0x500, 10, 1);
    b.waited(0x500, 20, 50, 2);
    a.unlock(0x500, 49);
    b.unlock(0x500, 60);
    a.lock_at(0x500, 70, 1);
    b.waited(0x500, 75, 83, 3);
    a.unlock(0x500, 82);
    b.unlock(0x500, 90);
    a.lock_at(0x600, 100, 1);
    b.waited(0x600, 110, 130, 3);
    a.unlock(0x600, 129);
    b.unlock(0x600, 131);
    b.cond_wait(0x500, 0x700, 140, 900);  // its purpose
    recording_.emplace(build_.open());
    locks_.emplace(*recording_);
    for_each_event(*recording_, {.classes = kLockEvents}, *locks_);
    locks_->finish();
  }
  RecordingBuilder build_;
  std::optional<Recording> recording_;
  std::optional<Locks> locks_;
};

TEST_F(LockChecks, TheLongestWait) {
  const Verdict verdict = check_longest_wait(*recording_, *locks_, 19);
  EXPECT_EQ(verdict.unit, Verdict::Unit::kTime);
  EXPECT_EQ(verdict.found, 30u);
  EXPECT_TRUE(verdict.is_broken());
  EXPECT_EQ(blames_of(verdict), (Blames{{2, 30}, {3, 20}}));
  EXPECT_FALSE(check_longest_wait(*recording_, *locks_, 30).is_broken());
}

TEST_F(LockChecks, ThePercentileIsOfTheWorstLock) {
  const Verdict verdict = check_wait_p99(*recording_, *locks_, 5);
  EXPECT_EQ(verdict.found, 30u);
  EXPECT_EQ(blames_of(verdict), (Blames{{2, 30}, {3, 8}}));
  EXPECT_FALSE(check_wait_p99(*recording_, *locks_, 30).is_broken());
}

TEST_F(LockChecks, TheLongestHold) {
  const Verdict verdict = check_longest_hold(*recording_, *locks_, 20);
  EXPECT_EQ(verdict.found, 39u);
  EXPECT_EQ(blames_of(verdict), (Blames{{1, 39}}));
  EXPECT_FALSE(check_longest_hold(*recording_, *locks_, 39).is_broken());
}

TEST(LocksOfNothing, KeepAllLimits) {
  RecordingBuilder build;
  const Recording recording = build.open();
  Locks locks(recording);
  locks.finish();
  EXPECT_FALSE(check_longest_wait(recording, locks, 0).is_broken());
  EXPECT_FALSE(check_wait_p99(recording, locks, 0).is_broken());
  EXPECT_FALSE(check_longest_hold(recording, locks, 0).is_broken());
}

// The sample: "main" takes counter_lock in main(), "worker" waits for it in take_lock() and takes it again without a stack.
class LocksIn : public testing::Test {
 protected:
  LocksIn()
      : recording_(sample_recording(build_)), names_(recording_, symbols_), tree_(recording_, names_.map(), false) {}
  std::vector<Verdict> check(const std::vector<CallLimit>& limits, bool by_call) {
    LockPlaces places(by_call ? &tree_ : nullptr);
    for_each_event(recording_, {.classes = kLockEvents | kCallEvents}, [&](const Event& event) {
      if (by_call) tree_(event);
      places(event);
    });
    if (by_call) tree_.finish();
    return check_locks_in(recording_, places, names_, by_call ? &tree_ : nullptr, limits);
  }
  RecordingBuilder build_;
  Recording recording_;
  SampleSymbols symbols_;
  Names names_;
  CallTree tree_;
};

TEST_F(LocksIn, FunctionsOfTheStack) {
  const auto verdicts = check({{FunctionPattern("take_*"), 0}, {FunctionPattern("work"), 0}}, false);
  EXPECT_EQ(verdicts[0].found, 1u);
  EXPECT_TRUE(verdicts[0].is_broken());
  EXPECT_EQ(verdicts[0].blames.size(), 1u);
  EXPECT_EQ(verdicts[1].found, 0u);
  EXPECT_EQ(verdicts[1].doubt,
            "2 times a lock was taken without its stack being recorded: recorded calls (-k calls,locks) tell where");
}

TEST_F(LocksIn, FunctionsThatWereCalled) {
  const auto verdicts =
      check({{FunctionPattern("main"), 0}, {FunctionPattern("work"), 0}, {FunctionPattern("x"), 0}}, true);
  EXPECT_EQ(verdicts[0].found, 1u);
  EXPECT_EQ(verdicts[1].found, 0u);
  EXPECT_EQ(verdicts[1].doubt, "");
  EXPECT_EQ(verdicts[2].doubt, "no function of this name was called: it is kept, if the name is right");
}

}  // namespace
}  // namespace penna::lock_checks_test
