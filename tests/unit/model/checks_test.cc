// SPDX-License-Identifier: MIT
// Checks: what is found for each kind of limit, what is blamed for it, and when there is no verdict.
#include "model/verdict/checks.h"

#include <gtest/gtest.h>

#include "../report/sample_recording.h"
#include "blames.h"

namespace penna::checks_test {
namespace {

// Stacks 1 and 2: the process leaks of both; stack 3 only in the second process.
class Checks : public testing::Test {
 protected:
  Checks() {
    auto& thread = build_.thread(build_.process(100), 1);
    thread.alloc(0xa00, 100, 1, 1);
    thread.alloc(0xb00, 10, 2, 2);
    thread.alloc(0xc00, 10, 3, 2);
    thread.alloc(0xd00, 1000, 4, 1);
    thread.free(0xd00, 5);
    auto& other = build_.thread(build_.process(200), 1);
    other.alloc(0xa00, 500, 6, 3);
    other.free(0xa00, 7);
  }
  RecordingBuilder build_;
};

TEST_F(Checks, LeaksInBytesAndInBlocks) {
  const Recording recording = build_.open();
  Allocations heap(recording);
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  const Verdict bytes = check_leak(heap, nullptr, Verdict::Unit::kBytes, 120);
  EXPECT_EQ(bytes.found, 120u);
  EXPECT_FALSE(bytes.is_broken());
  EXPECT_EQ(blames_of(bytes), (Blames{{1, 100}, {2, 20}}));
  const Verdict blocks = check_leak(heap, nullptr, Verdict::Unit::kCount, 2);
  EXPECT_EQ(blocks.found, 3u);
  EXPECT_TRUE(blocks.is_broken());
  EXPECT_EQ(blames_of(blocks), (Blames{{2, 2}, {1, 1}}));
}

TEST_F(Checks, ThePeakIsThatOfTheLargestProcess) {
  const Recording recording = build_.open();
  Allocations heap(recording);
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  const Verdict peak = check_peak(heap, 1119);
  EXPECT_EQ(peak.found, 1120u);
  EXPECT_TRUE(peak.is_broken());
  EXPECT_EQ(blames_of(peak), (Blames{{1, 1100}, {2, 20}}));
  EXPECT_FALSE(check_peak(heap, 1120).is_broken());
}

TEST(ChecksOfWhatIsMissing, WhatTheFileCouldNotTakeIsLostToo) {
  HealthReport health;
  EXPECT_FALSE(check_lost(health, PENNA_ALLOC, "allocation").is_broken());
  health.lost[PENNA_ALLOC] = 3;
  health.write_lost[PENNA_ALLOC] = 4;
  health.write_lost[PENNA_LOCKS] = 5;
  const Verdict lost = check_lost(health, PENNA_ALLOC, "allocation");
  EXPECT_EQ(lost.limit, "lost allocation events");
  EXPECT_EQ(lost.found, 7u);
  EXPECT_TRUE(lost.is_unknown());
  EXPECT_FALSE(lost.is_broken());
}

TEST(ChecksOfWhatIsMissing, AGapInTheRecordingIsUnknown) {
  EXPECT_FALSE(check_gaps({}).has_value());
  const auto with = [](auto change) {
    HealthReport health;
    change(health);
    const std::optional<Verdict> gaps = check_gaps(health);
    return gaps.has_value() && gaps->is_unknown() && !gaps->is_broken();
  };
  EXPECT_TRUE(with([](HealthReport& health) { health.missing_chunks = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.unreadable_chunks = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.recorder.damaged = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.refused_channels = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.damage.blocks = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.damage.cut = true; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.write_unknown = true; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.finished = false; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.target.clock_forbidden = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.target.calls_forbidden = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.target.unfollowed = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.processes_without_end = 1; }));
  EXPECT_TRUE(with([](HealthReport& health) { health.recorder.unknown = 1; }));
  EXPECT_FALSE(with([](HealthReport& health) { health.damage.index = true; }));  // everything else is read all the same
}

TEST(ChecksOfNothing, AreKept) {
  RecordingBuilder build;
  const Recording recording = build.open();
  const Allocations heap(recording);
  EXPECT_FALSE(check_leak(heap, nullptr, Verdict::Unit::kBytes, 0).is_broken());
  EXPECT_FALSE(check_peak(heap, 0).is_broken());
  EXPECT_FALSE(check_alloc_rate(recording, summarize(recording), heap, 0).is_broken());
}

// The sample: main calls work(int), which allocates, also in grow.
class CallChecks : public testing::Test {
 protected:
  CallChecks()
      : recording_(sample_recording(build_)), names_(recording_, symbols_), tree_(recording_, names_.map(), false) {}
  std::vector<Verdict> check(const std::vector<CallLimit>& limits, bool by_call) {
    AllocationOptions options;
    if (by_call) options.context = [this](const Event& event) { return tree_.current(event.thread); };
    Allocations heap(recording_, options);
    for_each_event(recording_, {.classes = kAllocEvents | kCallEvents}, [&](const Event& event) {
      if (by_call) tree_(event);
      heap(event);
    });
    return check_allocations(recording_, heap, names_, by_call ? &tree_ : nullptr, limits);
  }
  RecordingBuilder build_;
  Recording recording_;
  SampleSymbols symbols_;
  Names names_;
  CallTree tree_;
};

TEST_F(CallChecks, AllocationsInsideFunctionsByStack) {
  const auto verdicts =
      check({{FunctionPattern("grow"), 1}, {FunctionPattern("work*"), 3}, {FunctionPattern("no_one"), 0}}, false);
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].found, 2u);
  EXPECT_TRUE(verdicts[0].is_broken());
  EXPECT_TRUE(verdicts[0].doubt.empty());
  EXPECT_EQ(verdicts[1].found, 3u);
  EXPECT_FALSE(verdicts[1].is_broken());
  EXPECT_EQ(verdicts[2].found, 0u);
  EXPECT_EQ(verdicts[2].doubt, "no function of this name allocated: it is kept, if the name is right");
  uint64_t blamed = 0;
  for (const Blame& blame : verdicts[1].blames) blamed += blame.amount;
  EXPECT_EQ(blamed, 3u);
}

TEST_F(CallChecks, AllocationsInsideFunctionsByRecordedCalls) {
  const auto verdicts = check({{FunctionPattern("main"), 0}, {FunctionPattern("no_one"), 0}}, true);
  EXPECT_EQ(verdicts[0].found, 3u);
  EXPECT_EQ(verdicts[1].doubt, "no function of this name was called: it is kept, if the name is right");
}

}  // namespace
}  // namespace penna::checks_test
