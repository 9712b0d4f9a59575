// SPDX-License-Identifier: MIT
// Calls and CallTree: durations computed by hand, including missing entries or exits.
#include "model/calls/calls.h"

#include <gtest/gtest.h>

#include "model/calls/call_tree.h"
#include "recording_builder.h"

namespace penna::calls_test {
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

// Recursion, out of which longjmp goes back to its middle: work(10) { saves; work(20) { leaf(30) -- jump at 35 -- } } exit at 50.
// Without the jump's record, the exit at 50 would be taken for the inner call's.
TEST(Calls, AToldLongjmpEndsCallsWhenItHappens) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kMain, 0);
  thread.enter(kWork, 10);
  thread.jump(PENNA_JUMP_SAVE, 0x7000, 12);
  thread.enter(kWork, 20);
  thread.enter(kLeaf, 30);
  thread.jump(PENNA_JUMP_GO, 0x7000, 35);
  thread.exit(kWork, 50);
  thread.exit(kMain, 60);
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().jumped, 2u);
  EXPECT_EQ(seen.calls.counts().unwound + seen.calls.counts().open + seen.calls.counts().stray_exits, 0u);
  EXPECT_EQ(seen.of(kLeaf).total, 5u);
  EXPECT_EQ(seen.of(kWork).duration.max(), 40u);
  EXPECT_EQ(seen.of(kWork).duration.min(), 15u);
  EXPECT_EQ(seen.of(kMain).self, 60u - 40u);
}

TEST(Calls, AJumpToAnUnknownBufferChangesNothing) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kMain, 0);
  thread.jump(PENNA_JUMP_GO, 0x7000, 5);
  thread.record(PENNA_KIND_JUMP, 6, penna_jump{0x7000, 0, 77, 0});
  thread.exit(kMain, 10);
  Analysed seen(build);
  EXPECT_EQ(seen.of(kMain).total, 10u);
  EXPECT_EQ(seen.calls.counts().jumped, 0u);
}

// main on its own stack; work on another one, which is left in the middle, and which at its end goes back to main.
TEST(Calls, ContextsHaveOpenCallsOfTheirOwn) {
  constexpr uint64_t kMainContext = 0x8000, kOther = 0x9000;
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kMain, 0);
  thread.jump(PENNA_JUMP_SAVE, kOther, 1);
  thread.jump(PENNA_JUMP_MAKE, kOther, 2, kMainContext);
  thread.jump(PENNA_JUMP_SWITCH, kOther, 3, kMainContext);
  thread.enter(kWork, 10);
  thread.enter(kLeaf, 11);
  thread.jump(PENNA_JUMP_SWITCH, kMainContext, 15, kOther);
  thread.enter(kLeaf, 20);  // main's own
  thread.exit(kLeaf, 21);
  thread.jump(PENNA_JUMP_SWITCH, kOther, 25, kMainContext);
  thread.exit(kLeaf, 30);
  thread.exit(kWork, 31);  // and by its link back to main
  thread.exit(kMain, 40);
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().unwound + seen.calls.counts().open + seen.calls.counts().stray_exits, 0u);
  EXPECT_EQ(seen.calls.counts().jumped, 0u);
  EXPECT_EQ(seen.of(kLeaf).calls, 2u);
  EXPECT_EQ(seen.of(kLeaf).duration.max(), 19u);
  EXPECT_EQ(seen.of(kWork).total, 21u);
  EXPECT_EQ(seen.of(kMain).total, 40u);
  EXPECT_EQ(seen.of(kMain).self, 39u);  // what happens on another stack is not inside
}

TEST(Calls, AContextThatIsNeverGoneBackToIsOpenAtTheEnd) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(kMain, 0);
  thread.jump(PENNA_JUMP_MAKE, 0x9000, 2);
  thread.jump(PENNA_JUMP_SWITCH, 0x9000, 3, 0x8000);
  thread.enter(kWork, 10);
  thread.jump(PENNA_JUMP_SWITCH, 0x8000, 15, 0x9000);
  thread.exit(kMain, 40);
  Analysed seen(build);
  EXPECT_EQ(seen.of(kMain).total, 40u);
  EXPECT_EQ(seen.of(kWork).open, 1u);
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

TEST(Calls, AForkedProcessLeavesWhatItsParentEntered) {
  RecordingBuilder build;
  const uint32_t parent = build.process(100), child = build.process(101, 100, 15),
                 program = build.process(101, 100, 40, true);
  build.thread(parent, 1).enter(kMain, 10);
  auto& thread = build.thread(child, 1);
  thread.enter(kLeaf, 20);
  thread.exit(kWork, 21);  // nobody was in there: leaf is open
  thread.exit(kLeaf, 22);
  thread.exit(kWork, 23);
  thread.exit(kMain, 24);
  build.thread(child, 2).exit(kMain, 25);    // no other thread is forked
  build.thread(program, 1).exit(kMain, 50);  // nor does one survive an exec
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().inherited, 2u);
  EXPECT_EQ(seen.calls.counts().stray_exits, 3u);
}

TEST(Calls, ForkedChildInheritsOpenCalls) {
  RecordingBuilder build;
  const uint32_t parent = build.process(100), child = build.forked(101, 100, 2, 20),
                 grandchild = build.forked(102, 101, 1, 30);
  build.thread(parent, 1).enter(kLeaf, 5);  // another thread's
  auto& forks = build.thread(parent, 2);
  forks.enter(kMain, 10);
  forks.enter(kLeaf, 11);
  forks.exit(kLeaf, 12);
  forks.enter(kWork, 20);
  forks.exit(kWork, 26);  // after the fork
  forks.exit(kMain, 40);
  auto& forked = build.thread(child, 1);
  forked.enter(kLeaf, 28);
  forked.exit(kLeaf, 35);
  forked.exit(kWork, 36);
  forked.exit(kMain, 50);
  build.thread(child, 2).exit(kMain, 50);       // not the thread that was forked
  build.thread(grandchild, 1).exit(kLeaf, 33);  // of those that its parent has inherited, and one of its own
  build.thread(grandchild, 1).exit(kWork, 34);
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().calls, 5u);
  EXPECT_EQ(seen.calls.counts().stray_exits, 1u);
  EXPECT_EQ(seen.calls.counts().inherited, 0u);
  EXPECT_EQ(seen.calls.counts().open, 1u) << "the first thread's leaf is still open";
  EXPECT_EQ(seen.of(kMain, parent).calls, 1u);
  EXPECT_EQ(seen.of(kMain, parent).total, 30u);
  EXPECT_EQ(seen.of(kMain, child).total, 30u) << "the child counts from the fork";
  EXPECT_EQ(seen.of(kMain, child).self, 30u - 16u);
  EXPECT_EQ(seen.of(kMain, child).calls, 0u);
  EXPECT_EQ(seen.of(kMain, grandchild).total, 4u);
  EXPECT_EQ(seen.of(kWork, parent).calls, 1u);
}

TEST(Calls, WhatAForkedProcessSaysOfItsParentIsNotTrusted) {
  RecordingBuilder build;
  const uint32_t parent = build.process(100);
  build.thread(parent, 1).enter(kMain, 10);
  build.thread(build.forked(101, 100, 7, 20), 1).exit(kMain, 30);        // there is no such thread
  build.thread(build.forked(102, 999, 1, 20), 1).exit(kMain, 30);        // nor such a process
  build.thread(build.forked(103, 103, 1, 20), 1).exit(kMain, 30);        // it is its own
  build.thread(build.forked(104, 100, 1, 1u << 20), 1).exit(kMain, 30);  // forked after it began
  build.forked(105, 100, 1, 20);                                         // it has told nothing
  Analysed seen(build);
  EXPECT_EQ(seen.calls.counts().calls, 1u);
  EXPECT_EQ(seen.calls.counts().inherited + seen.calls.counts().stray_exits, 3u);
  EXPECT_EQ(seen.of(kMain, parent).total, 0u);
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
  EXPECT_EQ(seen.of(kWork).duration.min(), 1u);
  EXPECT_EQ(seen.of(kWork).duration.max(), 10u);
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
}  // namespace penna::calls_test
