// SPDX-License-Identifier: MIT
// Allocations: leaks, peaks, temporary blocks, failed reallocs and forks, computed by hand.
#include "model/blocks/allocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "recording_builder.h"

namespace penna::allocations_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Analysed {
  explicit Analysed(RecordingBuilder& build) : recording(build.open()), heap(recording) {
    for_each_event(recording, {.classes = kAllocEvents}, heap);
  }
  StackAllocations of_stack(uint32_t stack, uint32_t process = 0) {
    for (const StackAllocations& one : heap.stacks())
      if (one.process == process && one.stack == stack) return one;
    return {};
  }
  Recording recording;
  Allocations heap;
};

TEST(Allocations, WhatIsNotFreedIsALeakOfItsStack) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.alloc(0xa00, 100, 10, 1);
  thread.alloc(0xb00, 50, 20, 2, PENNA_FAMILY_CALLOC);
  thread.alloc(0xc00, 70, 30, 1);
  thread.alloc(0xd00, 30, 40, 1);
  thread.free(0xa00, 50);
  thread.alloc_large(0xe00, uint64_t{5} << 32, 60, 3);
  Analysed seen(build);
  const HeapTotals& totals = seen.heap.processes()[0];
  EXPECT_EQ(totals.allocations, 5u);
  EXPECT_EQ(totals.frees, 1u);
  EXPECT_EQ(totals.bytes, 250u + (uint64_t{5} << 32));
  EXPECT_EQ(totals.live_blocks, 4u);
  EXPECT_THAT(totals.allocations_by_family, ElementsAre(4, 1, 0, 0, 0));
  const auto leaks = seen.heap.leaks();
  ASSERT_EQ(leaks.size(), 3u);
  EXPECT_EQ(leaks[0].stack, 3u);
  EXPECT_EQ(leaks[1].stack, 1u);
  EXPECT_EQ(leaks[1].blocks, 2u);
  EXPECT_EQ(leaks[1].bytes, 100u);
  EXPECT_THAT(leaks[1].sizes, ElementsAre(70, 30));
  EXPECT_EQ(leaks[1].first_time, 30u);
  EXPECT_EQ(leaks[1].last_time, 40u);
  EXPECT_EQ(leaks[1].example, 0xc00u);
  EXPECT_EQ(leaks[2].stack, 2u);
}

TEST(Allocations, AnotherThreadMayFree) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.thread(process, 1).alloc(0xa00, 8, 10);
  build.thread(process, 2).free(0xa00, 20);
  build.thread(process, 1).alloc(0xa00, 8, 30);
  build.thread(process, 2).free(0xa00, 40);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.total().live_blocks, 0u);
  EXPECT_EQ(seen.heap.total().unmatched_frees, 0u);
  EXPECT_EQ(seen.heap.total().temporary, 0u);
}

// Live bytes: 10, 40, 60, 30, 45, 65, 55, 40, 64.
TEST(Allocations, ThePeakIsKnownByStack) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.alloc(0xa, 10, 1, 1);
  thread.alloc(0xb, 30, 2, 2);
  thread.alloc(0xc, 20, 3, 1);  // 60: a peak, but not the last
  thread.free(0xb, 4);
  thread.alloc(0xd, 15, 5, 3);
  thread.alloc(0xe, 20, 6, 3);  // 65: the peak; s1 30, s2 0, s3 35
  thread.free(0xa, 7);
  thread.free(0xd, 8);
  thread.alloc(0xf, 24, 9, 2);  // 64: below it
  Analysed seen(build);
  EXPECT_EQ(seen.heap.total().peak_bytes, 65u);
  EXPECT_EQ(seen.heap.total().peak_blocks, 4u);
  EXPECT_EQ(seen.heap.total().peak_time, 6u);
  EXPECT_EQ(seen.of_stack(1).peak_bytes, 30u);
  EXPECT_EQ(seen.of_stack(1).peak_blocks, 2u);
  EXPECT_EQ(seen.of_stack(2).peak_bytes, 0u);
  EXPECT_EQ(seen.of_stack(3).peak_bytes, 35u);
  EXPECT_EQ(seen.of_stack(1).live_bytes, 20u);
  EXPECT_EQ(seen.of_stack(2).live_bytes, 24u);
}

// Against a model that looks at every stack after every event.
TEST(Allocations, PeaksByStackAgreeWithRecountingThem) {
  std::mt19937 random(3);
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  std::map<uint64_t, std::pair<uint32_t, uint32_t>> live;  // address -> stack, size
  std::map<uint32_t, uint64_t> now, peak;
  uint64_t total = 0, highest = 0;
  for (uint64_t time = 1; time < 20000; ++time) {
    if (live.empty() || random() % 100 < 51) {
      const uint64_t address = time * 16;
      const auto stack = static_cast<uint32_t>(1 + random() % 20), size = static_cast<uint32_t>(1 + random() % 1000);
      thread.alloc(address, size, time, stack);
      live[address] = {stack, size};
      now[stack] += size;
      total += size;
    } else {
      auto one = std::next(live.begin(), static_cast<long>(random() % std::min<size_t>(live.size(), 50)));
      thread.free(one->first, time);
      now[one->second.first] -= one->second.second;
      total -= one->second.second;
      live.erase(one);
    }
    if (total > highest) {
      highest = total;
      peak = now;
    }
  }
  Analysed seen(build);
  EXPECT_EQ(seen.heap.total().peak_bytes, highest);
  for (uint32_t stack = 1; stack <= 20; ++stack) {
    EXPECT_EQ(seen.of_stack(stack).peak_bytes, peak[stack]) << stack;
    EXPECT_EQ(seen.of_stack(stack).live_bytes, now[stack]) << stack;
  }
}

TEST(Allocations, TemporaryMeansFreedNextByTheSameThread) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  a.alloc(0xa0, 8, 1, 1);
  b.alloc(0xb0, 8, 2, 1);  // of another thread: does not count as in between
  a.free(0xa0, 3);         // temporary
  a.alloc(0xc0, 8, 4, 2);
  a.alloc(0xd0, 8, 5, 2);
  a.free(0xc0, 6);  // not: 0xd0 came in between
  a.free(0xd0, 7);  // temporary
  a.alloc(0xe0, 8, 8, 3);
  a.free(0xe0, 9, PENNA_FAMILY_REALLOC);  // grows: not temporary
  a.alloc(0xf0, 80, 10, 3, PENNA_FAMILY_REALLOC);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.total().temporary, 2u);
  EXPECT_EQ(seen.of_stack(1).temporary, 1u);
  EXPECT_EQ(seen.of_stack(2).temporary, 1u);
  EXPECT_EQ(seen.of_stack(3).temporary, 0u);
  EXPECT_THAT(seen.heap.total().frees_by_family, ElementsAre(3, 0, 1, 0, 0));
}

TEST(Allocations, AFailedReallocKeepsItsBlock) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  a.alloc(0xa0, 8, 1, 1);
  a.alloc(0xb0, 8, 2, 1);
  a.free(0xa0, 3, PENNA_FAMILY_REALLOC);
  build.thread(process, 2).alloc(0xc0, 100, 4, 2);  // meanwhile: with 0xa0 still there the peak is 116
  a.realloc_failed(0xa0, 5);
  a.realloc_failed(0xdd0, 6);  // its FREE is missing
  Analysed seen(build);
  const HeapTotals total = seen.heap.total();
  EXPECT_EQ(total.failed_reallocs, 2u);
  EXPECT_EQ(total.frees, 0u);
  EXPECT_EQ(total.frees_by_family[PENNA_FAMILY_REALLOC], 0u);
  EXPECT_EQ(total.live_blocks, 3u);
  EXPECT_EQ(total.peak_bytes, 116u);
  EXPECT_EQ(seen.of_stack(1).live_blocks, 2u);
  EXPECT_EQ(seen.of_stack(1).allocations, 2u);
}

// What its process has, change by change.
struct Levels : AllocationObserver {
  void on_live(uint32_t, uint64_t, uint64_t bytes, uint64_t) override { seen.push_back(bytes); }
  void on_freed(const BlockEnd&) override { ++freed; }
  std::vector<uint64_t> seen;
  int freed = 0;
};

TEST(Allocations, AFailedReallocIsNoDip) {
  RecordingBuilder build;
  auto& a = build.thread(build.process(100), 1);
  a.alloc(0xa0, 8, 1, 1);
  a.free(0xa0, 2, PENNA_FAMILY_REALLOC);
  a.realloc_failed(0xa0, 3);
  a.alloc(0xb0, 4, 4, 1);
  a.free(0xa0, 5, PENNA_FAMILY_REALLOC);  // this one moves it
  a.alloc(0xc0, 10, 6, 1, PENNA_FAMILY_REALLOC);
  const Recording recording = build.open();
  Levels levels;
  AllocationOptions options;
  options.observer = &levels;
  Allocations heap(recording, options);
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  heap.finish();
  EXPECT_THAT(levels.seen, ElementsAre(8, 12, 4, 14));
  EXPECT_EQ(levels.freed, 1);
  EXPECT_EQ(heap.total().failed_reallocs, 1u);
  EXPECT_EQ(heap.total().frees, 1u);
}

// While one thread tries, another has the moment of the peak.
TEST(Allocations, AFailedReallocDoesNotLowerThePeakOfOthers) {
  for (const bool in_two_chunks : {false, true}) {
    RecordingBuilder build;
    const uint32_t process = build.process(100);
    auto& a = build.thread(process, 1);
    auto& b = build.thread(process, 2);
    a.alloc(0xa0, 8, 1, 1);
    a.free(0xa0, 3, PENNA_FAMILY_REALLOC);
    b.alloc(0xc0, 100, 4, 2);
    b.free(0xc0, 5);
    if (in_two_chunks) a.new_chunk();
    a.realloc_failed(0xa0, 6);
    Analysed seen(build);
    EXPECT_EQ(seen.heap.total().peak_bytes, 108u) << in_two_chunks;
    EXPECT_EQ(seen.heap.total().peak_blocks, 2u);
    EXPECT_EQ(seen.heap.total().peak_time, 4u);
    EXPECT_EQ(seen.of_stack(1).peak_bytes, 8u);
    EXPECT_EQ(seen.of_stack(2).peak_bytes, 100u);
    EXPECT_EQ(seen.heap.total().live_bytes, 8u);
  }
}

// An address that the thread itself has freed before, in an earlier life.
TEST(Allocations, AFailedReallocTakesBackNoOlderFree) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  a.alloc(0xa0, 8, 1, 1);
  a.free(0xa0, 2);
  build.thread(process, 2).alloc(0xa0, 50, 3, 2);
  a.free(0xa0, 4, PENNA_FAMILY_REALLOC);
  a.realloc_failed(0xa0, 5);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.total().live_bytes, 50u);
  EXPECT_EQ(seen.heap.total().frees, 1u);
  EXPECT_EQ(seen.heap.total().replaced, 0u);
  EXPECT_EQ(seen.heap.total().peak_bytes, 50u);
}

TEST(Allocations, WhatDoesNotMatchIsCounted) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.free(0xa0, 1);  // allocated before the recording
  thread.alloc(0xb0, 8, 2, 1);
  thread.alloc(0xb0, 16, 3, 2);  // its free is missing
  thread.free(0xb0, 4);
  thread.free(0xb0, 5);
  thread.free(0xc0, 6, PENNA_FAMILY_REALLOC);
  thread.realloc_failed(0xc0, 7);  // so that one was not freed after all
  thread.alloc(0xd0, 1, 8, 0);
  thread.alloc(0xe0, 1, 9, 1, 77);
  Analysed seen(build);
  const HeapTotals total = seen.heap.total();
  EXPECT_EQ(total.unmatched_frees, 2u);
  EXPECT_EQ(total.replaced, 1u);
  EXPECT_EQ(total.unknown_stacks, 1u);
  EXPECT_EQ(total.allocations_by_family[PENNA_FAMILY_COUNT], 1u);
  EXPECT_EQ(total.allocations - total.frees - total.replaced, total.live_blocks);
  EXPECT_EQ(seen.of_stack(1).live_bytes, 1u);
}

TEST(Allocations, AForkedChildFreesWhatItInherited) {
  RecordingBuilder build;
  const uint32_t parent = build.process(100), child = build.process(200, 100, 1'000'000'000);
  auto& p = build.thread(parent, 1);
  auto& c = build.thread(child, 1);
  p.alloc(0xa0, 8, 10, 1);
  p.alloc(0xb0, 8, 11, 1);
  p.alloc(0xc0, 8, 12, 1);
  p.free(0xc0, 13);                    // long before the fork
  p.free(0xb0, 1'000'000'100);         // after the fork: the child still has its copy
  p.alloc(0xd0, 8, 1'000'000'200, 1);  // after the fork
  c.free(0xa0, 2'000'000'000);
  c.free(0xa0, 2'000'000'001);  // twice: not inherited any more
  c.free(0xb0, 2'000'000'002);
  c.free(0xc0, 2'000'000'003);
  c.free(0xd0, 2'000'000'004);
  c.alloc(0xe0, 24, 2'000'000'005, 5);
  Analysed seen(build);
  const HeapTotals& of_child = seen.heap.processes()[child];
  EXPECT_EQ(of_child.inherited_frees, 2u);
  EXPECT_EQ(of_child.unmatched_frees, 3u);
  EXPECT_EQ(of_child.frees, 0u);
  const auto leaks = seen.heap.leaks(child);
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].bytes, 24u);
  // The parent's own books are as if there were no child.
  EXPECT_EQ(seen.heap.processes()[parent].live_blocks, 2u);
  EXPECT_EQ(seen.heap.processes()[parent].inherited_frees, 0u);
}

// The parent runs on while the child is being set up: what it frees meanwhile was there at the fork.
TEST(Allocations, TheParentMayRunAheadOfItsChild) {
  RecordingBuilder build;
  const uint32_t parent = build.process(100), child = build.process(200, 100, 1'000'000'000);
  build.thread(parent, 1).alloc(0xa0, 8, 10);
  build.thread(parent, 1).free(0xa0, 999'000'000);
  build.thread(child, 1).free(0xa0, 1'000'000'500);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.processes()[child].inherited_frees, 1u);
}

TEST(Allocations, AGrandchildInheritsThroughItsParent) {
  constexpr uint64_t kSecond = 1'000'000'000;
  RecordingBuilder build;
  const uint32_t first = build.process(100), second = build.process(200, 100, kSecond);
  const uint32_t third = build.process(300, 200, 3 * kSecond);
  build.thread(first, 1).alloc(0xa0, 8, 10);
  build.thread(first, 1).alloc(0xb0, 8, 11);
  build.thread(first, 1).alloc(0xc0, 8, 12);
  build.thread(second, 1).alloc(0xd0, 8, 2 * kSecond);
  build.thread(second, 1).free(0xb0, 2 * kSecond + 1);  // so the grandchild has it no more
  build.thread(second, 1).free(0xc0, 4 * kSecond);      // but it has this one
  for (uint64_t address : {0xa0, 0xb0, 0xc0, 0xd0}) build.thread(third, 1).free(address, 5 * kSecond);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.processes()[second].inherited_frees, 2u);
  EXPECT_EQ(seen.heap.processes()[third].inherited_frees, 3u);
  EXPECT_EQ(seen.heap.processes()[third].unmatched_frees, 1u);
}

TEST(Allocations, AnExecBeginsWithAnEmptyHeap) {
  RecordingBuilder build;
  const uint32_t before = build.process(100), after = build.process(100, 1, 1'000'000'000, true);
  build.thread(before, 1).alloc(0xa0, 8, 10);
  build.thread(after, 1).free(0xa0, 2'000'000'000);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.processes()[after].inherited_frees, 0u);
  EXPECT_EQ(seen.heap.processes()[after].unmatched_frees, 1u);
  EXPECT_EQ(seen.heap.processes()[before].live_blocks, 1u);
}

TEST(Allocations, InheritedBlockSurvivesFailedRealloc) {
  RecordingBuilder build;
  const uint32_t parent = build.process(100), child = build.process(200, 100, 1000);
  build.thread(parent, 1).alloc(0xa0, 8, 10);
  auto& c = build.thread(child, 1);
  c.free(0xa0, 2000, PENNA_FAMILY_REALLOC);
  c.realloc_failed(0xa0, 2001);
  c.free(0xa0, 2002);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.processes()[child].inherited_frees, 1u);
  EXPECT_EQ(seen.heap.processes()[child].unmatched_frees, 0u);
}

// Processes that name each other as parents, or themselves.
TEST(Allocations, ImpossibleFamiliesDoNoHarm) {
  RecordingBuilder build;
  const uint32_t a = build.process(100, 200), b = build.process(200, 100), c = build.process(300, 300);
  for (uint32_t process : {a, b, c}) build.thread(process, 1).free(0xa0, 10);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.total().unmatched_frees, 3u);
}

TEST(Allocations, WithoutEventsThereIsNothing) {
  RecordingBuilder build;
  build.process(100);
  Analysed seen(build);
  EXPECT_THAT(seen.heap.leaks(), IsEmpty());
  EXPECT_THAT(seen.heap.stacks(), IsEmpty());
  EXPECT_EQ(seen.heap.total().peak_bytes, 0u);
}

}  // namespace
}  // namespace penna::allocations_test
