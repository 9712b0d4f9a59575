// SPDX-License-Identifier: MIT
// Filters before the analyses: what a recording's rules leave, thread by thread and merged, however far ahead they
// read.
#include "filter/sifted_chunks.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "model/calls/calls.h"
#include "model/events/events.h"
#include "recording_builder.h"

namespace penna::sifted_chunks_test {
namespace {

std::string story(const Recording& recording, uint32_t classes = kEventClasses) {
  std::string text;
  for_each_event(recording, {.classes = classes}, [&](const Event& event) {
    const uint32_t kind = event.record.kind;
    text += kind == PENNA_KIND_CALL_ENTRY ? "+" : kind == PENNA_KIND_CALL_EXIT ? "-" : "*";
    text += std::to_string(event.record.pc) + "@" + std::to_string(event.time) + " ";
  });
  return text;
}

TEST(SiftedChunks, ThreadsAreSiftedApartAndMerged) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto &one = build.thread(process, 1), &two = build.thread(process, 2);
  one.enter(1, 10);
  one.enter(2, 12);
  one.alloc(0x70, 8, 13);
  one.exit(2, 14);
  one.exit(1, 90);
  two.enter(2, 11);
  two.exit(2, 80);
  Recording recording = build.open();
  CallRules rules;
  rules.min_ticks = 50;
  select_calls(recording, rules);
  EXPECT_EQ(story(recording), "+1@10 +2@11 *0@13 -2@80 -1@90 ");
  rules.begin = 12;
  rules.end = 85;
  select_calls(recording, rules);
  EXPECT_EQ(story(recording), "+1@12 +2@12 *0@13 -2@80 -1@85 ");
  rules.begin = 14;
  select_calls(recording, rules);
  EXPECT_EQ(story(recording), "+1@14 +2@14 -2@80 -1@85 ");
  EXPECT_EQ(story(recording, kAllocEvents), "") << "time passes even where no call is recorded";
}

TEST(SiftedChunks, InheritedCallsAreAroundThoseOfAForkedProcess) {
  RecordingBuilder build;
  auto& parent = build.thread(build.process(100), 1);
  const uint32_t child = build.forked(101, 100, 1, 20);
  parent.enter(1, 10);
  parent.enter(2, 11);
  parent.exit(2, 40);
  parent.exit(1, 41);
  auto& thread = build.thread(child, 1);
  thread.enter(3, 30);
  thread.exit(3, 31);
  thread.exit(2, 32);
  Recording recording = build.open();
  EXPECT_EQ(story(recording), "+1@10 +2@11 +1@20 +2@20 +3@30 -3@31 -2@32 -2@40 -1@41 ");
  CallRules rules;
  rules.depth = 2;
  select_calls(recording, rules);
  EXPECT_EQ(story(recording), "+1@10 +2@11 +1@20 +2@20 -2@32 -2@40 -1@41 ");
  rules = {};
  rules.inside_callers = true;
  rules.ask = [](uint32_t, uint64_t pc, uint64_t) {
    FunctionTraits traits;
    traits.caller = pc == 2;
    return traits;
  };
  select_calls(recording, rules);
  EXPECT_EQ(story(recording), "+2@11 +2@20 +3@30 -3@31 -2@32 -2@40 ");
  rules = {};
  rules.begin = 25;
  select_calls(recording, rules);
  EXPECT_EQ(story(recording), "+1@25 +2@25 +1@25 +2@25 +3@30 -3@31 -2@32 -2@40 -1@41 ");
}

TEST(SiftedChunks, ReadsAheadAsFarAsItMust) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  const uint64_t chunks = 3 * SiftedChunks::kMostHeld;
  thread.enter(1, 0);
  for (uint64_t i = 1; i <= chunks; ++i) {
    thread.new_chunk();
    thread.enter(2, 10 * i);
    thread.alloc(0x70, 8, 10 * i + 1);
    thread.exit(2, 10 * i + 2);
  }
  thread.exit(1, 10 * chunks + 10);
  Recording recording = build.open();
  CallRules rules;
  rules.min_ticks = 10 * chunks + 11;
  select_calls(recording, rules);
  uint64_t allocations = 0, calls = 0;
  const auto count = [&](const Event& event) { ++(event.record.is_call() ? calls : allocations); };
  WalkReport walk = for_each_thread_event(recording, {}, count);
  EXPECT_EQ(calls, 0u);
  EXPECT_EQ(allocations, chunks);
  EXPECT_EQ(walk.chunks, chunks + 1);
  --rules.min_ticks;
  select_calls(recording, rules);
  allocations = calls = 0;
  walk = for_each_thread_event(recording, {}, count);
  EXPECT_EQ(calls, 2u);
  EXPECT_EQ(allocations, chunks);
}

TEST(SiftedChunks, CallsCutByTheRangeFillChunksOfTheirOwn) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  constexpr uint64_t kDepth = 10'000;
  for (uint64_t i = 0; i < kDepth; ++i) thread.enter(1 + i, i);
  thread.alloc(0x70, 8, 2 * kDepth);
  thread.alloc(0x70, 8, 4 * kDepth);
  Recording recording = build.open();
  CallRules rules;
  rules.begin = 2 * kDepth;
  rules.end = 3 * kDepth;
  select_calls(recording, rules);
  CodeMap map(recording);
  Calls calls(recording, map);
  for_each_thread_event(recording, {}, calls);
  calls.finish();
  EXPECT_EQ(calls.counts().calls, kDepth);
  EXPECT_EQ(calls.counts().open + calls.counts().unwound + calls.counts().stray_exits, 0u);
  for (const FunctionCalls* function : calls.by_total()) ASSERT_EQ(function->total, kDepth);
}

// A child's calls from before the fork are not its own, wherever the range begins: after the fork (at 30), before it.
TEST(SiftedChunks, WhatAForkInheritsStaysInheritedInARange) {
  RecordingBuilder build;
  auto& parent = build.thread(build.process(100), 1);
  parent.enter(1, 10);
  parent.enter(2, 20);  // the fork
  parent.exit(2, 40);
  parent.exit(1, 100);
  auto& child = build.thread(build.forked(200, 100, 1, 30), 1);
  child.alloc(0x70, 8, 55);
  child.exit(2, 60);
  child.enter(3, 65);
  child.exit(3, 80);
  child.exit(1, 90);
  Recording recording = build.open();
  const auto of_range = [&](uint64_t begin, uint64_t end) {
    CallRules rules;
    rules.begin = begin;
    rules.end = end;
    select_calls(recording, rules);
    CodeMap map(recording);
    Calls calls(recording, map);
    for_each_thread_event(recording, {}, calls);
    calls.finish();
    EXPECT_EQ(calls.counts().unwound + calls.counts().open + calls.counts().stray_exits, 0u);
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> sums;  // by address: calls and time, of both processes
    for (const FunctionCalls* function : calls.by_total()) {
      auto& [count, time] = sums[calls.functions().place(function->function).address];
      count += function->calls;
      time += function->total;
    }
    std::string text;
    for (const auto& [address, sum] : sums)
      text += std::to_string(address) + ":" + std::to_string(sum.first) + "x" + std::to_string(sum.second) + " ";
    return text;
  };
  EXPECT_EQ(of_range(0, UINT64_MAX), "1:1x150 2:1x50 3:1x15 ");
  EXPECT_EQ(of_range(50, UINT64_MAX), "1:1x90 2:0x10 3:1x15 ");
  EXPECT_EQ(of_range(50, 70), "1:1x40 2:0x10 3:1x5 ");
  EXPECT_EQ(of_range(52, 58), "1:1x12 2:0x6 ") << "the child left and entered nothing";
  EXPECT_EQ(of_range(25, 35), "1:1x15 2:1x15 ");
}

// run(10) { saves; work(20) { leaf(30) -- jump at 35 -- } leaf }: who is left out does not change where the jump leads.
TEST(SiftedChunks, AJumpEndsWhatItLeavesWhateverIsLeftOut) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(1, 10);
  thread.jump(PENNA_JUMP_SAVE, 0x7000, 12);
  thread.enter(2, 20);
  thread.enter(3, 30);
  thread.jump(PENNA_JUMP_GO, 0x7000, 35);
  thread.enter(3, 40);
  thread.exit(3, 41);
  thread.exit(1, 50);
  Recording recording = build.open();
  const auto calls_of = [&](const CallRules& rules) {
    select_calls(recording, rules);
    CodeMap map(recording);
    Calls calls(recording, map);
    for_each_thread_event(recording, {.classes = kCallEvents}, calls);
    calls.finish();
    EXPECT_EQ(calls.counts().unwound + calls.counts().open + calls.counts().stray_exits, 0u);
    std::string text;
    for (const FunctionCalls* function : calls.by_total())
      text += std::to_string(calls.functions().place(function->function).address) + ":" +
              std::to_string(function->calls) + "x" + std::to_string(function->total) + " ";
    return text;
  };
  EXPECT_EQ(calls_of({}), "1:1x40 2:1x15 3:2x6 ");
  CallRules rules;
  rules.min_ticks = 6;
  EXPECT_EQ(calls_of(rules), "1:1x40 2:1x15 ");
  rules.min_ticks = 0;
  rules.depth = 2;
  EXPECT_EQ(calls_of(rules), "1:1x40 2:1x15 3:1x1 ");
  rules.depth = UINT32_MAX;
  rules.inside_callers = true;
  rules.ask = [](uint32_t, uint64_t pc, uint64_t) {
    FunctionTraits traits;
    traits.caller = pc == 2;
    return traits;
  };
  EXPECT_EQ(calls_of(rules), "2:1x15 3:1x5 ") << "the second leaf is outside the range";
}

// Two stacks: what runs on one is not inside of what waits on the other.
TEST(SiftedChunks, ContextsAreJudgedApart) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  constexpr uint64_t kMain = 0x8000, kOther = 0x9000;
  thread.enter(1, 1);
  thread.jump(PENNA_JUMP_MAKE, kOther, 2);
  thread.jump(PENNA_JUMP_SWITCH, kOther, 3, kMain);
  thread.enter(2, 4);
  thread.enter(3, 5);
  thread.jump(PENNA_JUMP_SWITCH, kMain, 6, kOther);
  thread.enter(3, 7);
  thread.exit(3, 8);
  thread.jump(PENNA_JUMP_SWITCH, kOther, 9, kMain);
  thread.exit(3, 10);
  thread.exit(2, 11);
  thread.jump(PENNA_JUMP_SWITCH, kMain, 12, kOther);
  thread.exit(1, 13);
  Recording recording = build.open();
  CallRules rules;
  rules.depth = 1;
  select_calls(recording, rules);
  std::string text;
  for_each_event(recording, {.classes = kCallEvents}, [&](const Event& event) {
    if (event.record.is_call())
      text += (event.record.kind == PENNA_KIND_CALL_ENTRY ? "+" : "-") + std::to_string(event.record.pc) + " ";
  });
  EXPECT_EQ(text, "+1 +2 -2 -1 ");
}

TEST(SiftedChunks, AMissingChunkIsALoss) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(1, 10);
  thread.skip_chunk();
  thread.exit(1, 12);
  thread.enter(2, 13);
  thread.exit(2, 14);
  Recording recording = build.open();
  CallRules rules;
  rules.min_ticks = 50;
  select_calls(recording, rules);
  EXPECT_EQ(story(recording), "+1@10 -1@12 ");
}

}  // namespace
}  // namespace penna::sifted_chunks_test
