// SPDX-License-Identifier: MIT
// Slowdown and NetTimes: factors and times by hand.
#include "model/calls/slowdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/calls/calls.h"
#include "recording_builder.h"

namespace penna::slowdown_test {
namespace {

using testing::HasSubstr;

ProcessEnd end_with(uint64_t cpu_ns, uint64_t calls, uint64_t ps) {
  ProcessEnd end;
  end.cpu_ns = cpu_ns;
  end.costs[PENNA_CALLS] = {calls, ps};
  return end;
}

TEST(Slowdown, IsTheCostAgainstTheRest) {
  EXPECT_DOUBLE_EQ(Slowdown(end_with(3'000'000, 100'000, 10'000)).factor(), 1.5);
  EXPECT_TRUE(Slowdown(end_with(3'000'000, 100'000, 10'000)).is_much());
  EXPECT_FALSE(Slowdown(end_with(4'000'000, 100'000, 10'000)).is_much());
}

TEST(Slowdown, IsFiniteWhateverTheFileSays) {
  EXPECT_DOUBLE_EQ(Slowdown(end_with(1, UINT64_MAX, UINT64_MAX)).factor(), Slowdown::kMostFactor);
  EXPECT_DOUBLE_EQ(Slowdown(end_with(0, 100, 100)).factor(), 1.0);
  EXPECT_DOUBLE_EQ(Slowdown(ProcessEnd{}).factor(), 1.0);
}

TEST(Slowdown, SaysNoMoreThanIsKnown) {
  EXPECT_THAT(slowdown_text(end_with(2'000'000, 100'000, 10'000), "it"),
              HasSubstr("made it about 2.0 times slower: 50 % of its processor time, 20 ns a call; "));
  EXPECT_THAT(slowdown_text(end_with(1'020'000, 100'000, 10'000), "it"),
              HasSubstr("made it about 51 times slower, 8 at least: 98 % of its processor time"));
}

// main(0-100) { leaf(20-30) leaf(40-50) }, and each event took 5.
TEST(NetTimes, AreWithoutWhatWasRecordedInside) {
  constexpr uint64_t kMain = 0x401000, kLeaf = 0x402000;
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& thread = build.thread(process, 1);
  thread.enter(kMain, 1000);
  thread.enter(kLeaf, 1020);
  thread.exit(kLeaf, 1030);
  thread.enter(kLeaf, 1040);
  thread.exit(kLeaf, 1043);  // less than an event took: never below 0, and what is too much is taken later
  thread.exit(kMain, 1100);
  ProcessEnd end = end_with(1'000, 6, 0);
  end.number = process;
  end.costs[PENNA_CALLS].ps = 5000;
  build.end(end);
  const Recording recording = build.open();
  ASSERT_DOUBLE_EQ(recording.time().ns_per_tick(), 1);
  const CodeMap map(recording);
  Calls calls(recording, map);
  NetTimes net(recording);
  ASSERT_TRUE(net.is_known());
  for_each_thread_event(recording, {.classes = kEventClasses}, [&](const Event& event) { calls(net(event)); });
  calls.finish();
  ASSERT_EQ(calls.by_total().size(), 2u);
  EXPECT_EQ(calls.by_total()[0]->total, 100u - 5 * 5);
  EXPECT_EQ(calls.by_total()[1]->total, 5u + 0u);
  EXPECT_EQ(calls.by_total()[0]->self, 75u - 5);
}

TEST(NetTimes, AreNotKnownOfOlderRecordings) {
  RecordingBuilder build;
  build.thread(build.process(100), 1).enter(0x401000, 5);
  EXPECT_FALSE(NetTimes(build.open()).is_known());
}

}  // namespace
}  // namespace penna::slowdown_test
