// SPDX-License-Identifier: MIT
// Calls and CallTree: durations computed by hand, also where entries or exits are missing.
#include "model/calls.h"

#include <gtest/gtest.h>

#include "model/call_tree.h"
#include "recording_builder.h"

namespace penna {
namespace {

constexpr uint64_t kMain = 0x401000, kWork = 0x402000, kLeaf = 0x403000;

struct Analysed {
  explicit Analysed(RecordingBuilder& build) : recording(build.open()), map(recording), calls(recording, map) {
    for_each_thread_event(recording, {.classes = kCallEvents}, calls);
    calls.finish();
  }
  const FunctionCalls& of(uint64_t pc, uint32_t process = 0) {
    for (const FunctionCalls* one : calls.by_total())
      if (calls.functions().place(one->function) == map.locate(process, pc, 0)) return *one;
    static const FunctionCalls none;
    return none;
  }
  Recording recording;
  CodeMap map;
  Calls calls;
};

TEST(Calls, CountsTimeAndSelfTime) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kMain, 0);
  thread.enter(kWork, 10);
  thread.enter(kLeaf, 12);
  thread.exit(kLeaf, 15);
  thread.exit(kWork, 20);
  thread.enter(kWork, 30);
  thread.exit(kWork, 37);
  thread.exit(kMain, 50);
  Analysed seen(build);
  EXPECT_EQ(seen.of(kMain).calls, 1u);
  EXPECT_EQ(seen.of(kMain).total, 50u);
  EXPECT_EQ(seen.of(kMain).self, 33u);
  EXPECT_EQ(seen.of(kWork).calls, 2u);
  EXPECT_EQ(seen.of(kWork).total, 17u);
  EXPECT_EQ(seen.of(kWork).self, 14u);
  EXPECT_EQ(seen.of(kWork).duration.min(), 7u);
  EXPECT_EQ(seen.of(kWork).duration.max(), 10u);
  EXPECT_EQ(seen.of(kWork).duration.average(), 8.5);
  EXPECT_EQ(seen.of(kLeaf).total, 3u);
  EXPECT_EQ(seen.calls.by_total().front()->function, seen.of(kMain).function);
  EXPECT_EQ(seen.calls.counts().calls, 4u);
  EXPECT_EQ(seen.calls.counts().open + seen.calls.counts().unwound + seen.calls.counts().stray_exits, 0u);
}

// work(0) { leaf(2-3) work(5) { work(6-8) } } : its total is that of the outermost call alone.
TEST(Calls, RecursionCountsOnceInTotal) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kWork, 0);
  thread.enter(kLeaf, 2);
  thread.exit(kLeaf, 3);
  thread.enter(kWork, 5);
  thread.enter(kWork, 6);
  thread.exit(kWork, 8);
  thread.exit(kWork, 9);
  thread.exit(kWork, 10);
  thread.enter(kWork, 20);
  thread.exit(kWork, 21);
  Analysed seen(build);
  EXPECT_EQ(seen.of(kWork).calls, 4u);
  EXPECT_EQ(seen.of(kWork).total, 11u);
  EXPECT_EQ(seen.of(kWork).self, 10u);
  EXPECT_EQ(seen.of(kWork).duration.max(), 10u);
  EXPECT_EQ(seen.of(kWork).duration.sum(), 10u + 4 + 2 + 1);
}

// main(0) { work(10) { leaf(20) -- longjmp to main -- } exit of main at 40.
TEST(Calls, LongjmpEndsTheInnerCallsWithTheOuterOne) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kMain, 0);
  thread.enter(kWork, 10);
  thread.enter(kLeaf, 20);
  thread.exit(kMain, 40);
  thread.enter(kMain, 50);
  thread.exit(kMain, 52);
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().unwound, 2u);
  EXPECT_EQ(seen.of(kLeaf).unwound, 1u);
  EXPECT_EQ(seen.of(kLeaf).total, 20u);
  EXPECT_EQ(seen.of(kWork).self, 10u);
  EXPECT_EQ(seen.of(kMain).self, 10u + 2);
  EXPECT_EQ(seen.of(kMain).unwound, 0u);
}

TEST(Calls, AStrayExitChangesNothingElse) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.exit(kLeaf, 1);
  thread.enter(kMain, 10);
  thread.exit(kLeaf, 12);  // never entered
  thread.enter(kLeaf, 13);
  thread.exit(kLeaf, 14);
  thread.exit(kLeaf, 15);  // entered, but left already
  thread.exit(kMain, 20);
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().stray_exits, 3u);
  EXPECT_EQ(seen.of(kMain).total, 10u);
  EXPECT_EQ(seen.of(kLeaf).calls, 1u);
}

TEST(Calls, OpenCallsLastUntilTheLastEvent) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kMain, 0);
  thread.enter(kWork, 10);
  thread.enter(kLeaf, 20);
  thread.exit(kLeaf, 25);
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().open, 2u);
  EXPECT_EQ(seen.of(kMain).total, 25u);
  EXPECT_EQ(seen.of(kMain).open, 1u);
  EXPECT_EQ(seen.of(kWork).self, 10u);
}

TEST(Calls, ThreadsAreKeptApartAndAddedUp) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  a.enter(kWork, 0);
  b.enter(kWork, 5);
  b.exit(kWork, 6);
  a.exit(kWork, 10);
  b.enter(kWork, 20);
  b.exit(kWork, 23);
  Analysed seen(build);
  EXPECT_EQ(seen.of(kWork).calls, 3u);
  EXPECT_EQ(seen.of(kWork).total, 14u);
  const auto of_b = seen.calls.of_thread(1);
  ASSERT_EQ(of_b.size(), 1u);
  EXPECT_EQ(of_b[0].calls, 2u);
  EXPECT_EQ(of_b[0].total, 4u);
  EXPECT_EQ(of_b[0].min, 1u);
  EXPECT_EQ(of_b[0].max, 3u);
  EXPECT_EQ(seen.calls.of_thread(0)[0].total, 10u);
}

// Two processes with the same program at different addresses: one function.
TEST(Calls, TheSameFunctionOfTwoProcessesIsOne) {
  RecordingBuilder build;
  const uint32_t first = build.process(100), second = build.process(200);
  Module module;
  module.path = "/bin/program";
  module.build_id = {1, 2, 3};
  module.bias = 0x10000;
  module.start = 0x10000;
  module.end = 0x20000;
  build.module(first, module);
  module.bias = 0x70000;
  module.start = 0x70000;
  module.end = 0x80000;
  build.module(second, module);
  build.thread(first, 1).enter(0x11000, 10);
  build.thread(first, 1).exit(0x11000, 11);
  build.thread(second, 1).enter(0x71000, 20);
  build.thread(second, 1).exit(0x71000, 22);
  Analysed seen(build);
  ASSERT_EQ(seen.calls.by_total().size(), 1u);
  EXPECT_EQ(seen.of(0x71000, 1).calls, 2u);
  EXPECT_EQ(seen.calls.functions().place(0).address, 0x1000u);
}

// dlclose and dlopen put another library at the same address: the same pc is two functions.
TEST(Calls, ReusedAddressesAreToldApartByTime) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  Module module;
  module.start = 0x10000;
  module.end = 0x20000;
  module.bias = 0x10000;
  module.path = "/lib/one.so";
  build.module(process, module);
  module.path = "/lib/two.so";
  module.ticks = 50;
  build.module(process, module);
  auto& thread = build.thread(process, 1);
  for (uint64_t begin : {10, 60, 80}) {
    thread.enter(0x11000, begin);
    thread.exit(0x11000, begin + 1);
  }
  Analysed seen(build);
  EXPECT_TRUE(seen.map.time_matters(process));
  ASSERT_EQ(seen.calls.by_total().size(), 2u);
  EXPECT_EQ(seen.calls.by_total()[0]->calls, 2u);
  EXPECT_EQ(seen.calls.by_total()[1]->calls, 1u);
}

// Deeper than the stack that is kept: what is beyond is counted, and what is inside still pairs.
TEST(Calls, DepthIsBounded) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  const uint64_t depth = CallMatcher::kMaxDepth + 100;
  for (uint64_t i = 0; i < depth; ++i) thread.enter(kWork, i);
  for (uint64_t i = 0; i < depth; ++i) thread.exit(kWork, depth + i);
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().too_deep, 100u);
  EXPECT_EQ(seen.calls.counts().calls, depth);
  EXPECT_EQ(seen.of(kWork).total, 2 * depth - 1);
  EXPECT_EQ(seen.calls.counts().open + seen.calls.counts().stray_exits, 0u);
}

TEST(CallTree, HasANodeForEachWayOfBeingCalled) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kMain, 0);
  for (uint64_t begin : {10, 20}) {
    thread.enter(kWork, begin);
    thread.enter(kLeaf, begin + 1);
    thread.exit(kLeaf, begin + 3);
    thread.exit(kWork, begin + 5);
  }
  thread.enter(kLeaf, 30);
  thread.exit(kLeaf, 31);
  thread.exit(kMain, 40);
  Recording recording = build.open();
  CodeMap map(recording);
  CallTree tree(recording, map, false);
  for_each_thread_event(recording, {.classes = kCallEvents}, tree);
  tree.finish();
  ASSERT_EQ(tree.nodes().size(), 5u);
  const auto children = tree.children();
  ASSERT_EQ(children[0].size(), 1u);
  const CallNode& main = tree.nodes()[children[0][0]];
  EXPECT_EQ(main.total, 40u);
  EXPECT_EQ(main.self, 29u);
  EXPECT_EQ(main.depth, 1u);
  ASSERT_EQ(children[children[0][0]].size(), 2u);
  const CallNode& work = tree.nodes()[children[children[0][0]][0]];
  EXPECT_EQ(work.calls, 2u);
  EXPECT_EQ(work.total, 10u);
  EXPECT_EQ(work.self, 6u);
  const CallNode& leaf = tree.nodes()[children[children[0][0]][1]];
  EXPECT_EQ(leaf.calls, 1u);
  EXPECT_EQ(leaf.total, 1u);
  EXPECT_EQ(tree.nodes()[0].total, 40u);
  EXPECT_EQ(tree.nodes()[0].function, kNoFunction);
}

TEST(CallTree, CanHaveARootForEachThread) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  for (uint32_t serial : {1, 2}) {
    build.thread(process, serial).enter(kWork, 10);
    build.thread(process, serial).exit(kWork, 10 + serial);
  }
  Recording recording = build.open();
  CodeMap map(recording);
  for (bool by_thread : {false, true}) {
    CallTree tree(recording, map, by_thread);
    for_each_event(recording, {.classes = kCallEvents}, tree);
    tree.finish();
    const auto children = tree.children();
    EXPECT_EQ(children[0].size(), by_thread ? 2u : 1u);
    EXPECT_EQ(tree.nodes()[0].total, 3u);
    if (by_thread) {
      EXPECT_EQ(tree.nodes()[children[0][0]].thread, 1u);
      EXPECT_EQ(tree.nodes()[children[0][0]].total, 2u);
    }
  }
}

}  // namespace
}  // namespace penna
