// SPDX-License-Identifier: MIT
// SameStacks: stacks that read the same are one place; those that differ in one word are not.
#include "model/names/same_stacks.h"

#include <gtest/gtest.h>

#include "model/blocks/allocations.h"
#include "recording_builder.h"

namespace penna::same_stacks_test {
namespace {

// Functions of 0x100 bytes, lines of 0x10.
class LineSymbols : public SymbolSource {
 public:
  std::vector<SourceFrame> code(const NamedFile&, uint64_t address) override {
    return {{"f" + std::to_string(address >> 8), "app.c", static_cast<uint32_t>(address >> 4), false}};
  }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t) override { return std::nullopt; }
  bool is_entry(const NamedFile&, uint64_t) override { return false; }
  std::string problem(const NamedFile&) override { return ""; }
};

class SameStacksTest : public testing::Test {
 protected:
  SameStacksTest() {
    for (uint32_t pid : {100, 200}) {
      const uint32_t process = build_.process(pid);
      Module module;
      module.path = "/bin/program";
      module.bias = module.start = 0x100000;
      module.end = 0x110000;
      build_.module(process, module);
    }
    one_ = build_.stack(0, 1, {0x100205, 0x100105});
    unrolled_ = build_.stack(0, 10, {0x100205, 0x100109});
    other_line_ = build_.stack(0, 20, {0x100205, 0x100115});
    deeper_ = build_.stack(0, 30, {0x100205, 0x100105, 0x100105});
    short_ = build_.stack(0, 40, {0x100205, 0x100105}, PENNA_STACK_DEPTH_LIMIT);
    elsewhere_ = build_.stack(1, 1, {0x100205, 0x100105});
  }
  RecordingBuilder build_;
  LineSymbols symbols_;
  uint32_t one_, unrolled_, other_line_, deeper_, short_, elsewhere_;
};

TEST_F(SameStacksTest, OnlyWhatReadsTheSame) {
  const Recording recording = build_.open();
  Names names(recording, symbols_);
  for (const auto of : {SameStacks::Of::kAllProcesses, SameStacks::Of::kEachProcess}) {
    SameStacks same(recording, names, of);
    const StackOfProcess first{0, unrolled_};
    EXPECT_EQ(same.first_like(0, unrolled_), first);
    EXPECT_EQ(same.first_like(0, one_), first);
    EXPECT_EQ(same.first_like(0, unrolled_), first);
    for (const uint32_t own : {other_line_, deeper_, short_})
      EXPECT_EQ(same.first_like(0, own), (StackOfProcess{0, own}));
    EXPECT_EQ(same.first_like(1, elsewhere_), same.joins_processes() ? first : (StackOfProcess{1, elsewhere_}));
    EXPECT_EQ(same.first_like(0, 0), (StackOfProcess{0, 0}));
    EXPECT_EQ(same.first_like(1, 0), (StackOfProcess{same.joins_processes() ? 0u : 1u, 0}));
  }
}

// One row, with a peak of its own that no sum of two could tell.
TEST_F(SameStacksTest, AllocationsOfThemAreOneStack) {
  ThreadBuilder& thread = build_.thread(0, 1);
  thread.alloc(0xa0, 100, 1, one_);
  thread.free(0xa0, 2);
  thread.alloc(0xb0, 100, 3, unrolled_);
  thread.alloc(0xc0, 10, 4, other_line_);
  thread.alloc(0xd0, 1, 5, unrolled_);
  const Recording recording = build_.open();
  Names names(recording, symbols_);
  SameStacks same(recording, names);
  AllocationOptions options;
  options.same = &same;
  Allocations heap(recording, std::move(options));
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  const std::vector<StackAllocations> stacks = heap.stacks();
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].stack, one_);
  EXPECT_EQ(stacks[0].allocations, 3u);
  EXPECT_EQ(stacks[0].own_peak_bytes, 101u);
  EXPECT_EQ(stacks[1].stack, other_line_);
  const std::vector<Leak> leaks = heap.leaks();
  ASSERT_EQ(leaks.size(), 2u);
  EXPECT_EQ(leaks[0].blocks, 2u);
  EXPECT_EQ(leaks[0].bytes, 101u);
}

// Of processes with modules elsewhere, too. One after the other they were never there together.
TEST_F(SameStacksTest, AllocationsOfSeveralProcessesAreOneStack) {
  const uint32_t third = build_.process(300, 100, 50);
  Module module;
  module.path = "/bin/program";
  module.bias = module.start = 0x700000;
  module.end = 0x710000;
  build_.module(third, module);
  const uint32_t moved = build_.stack(third, 1, {0x700205, 0x700105});
  build_.thread(0, 1).alloc(0xa0, 1, 1, other_line_);
  build_.thread(1, 1).alloc(0xa0, 100, 2, elsewhere_);
  build_.thread(1, 1).alloc(0xb0, 60, 3, elsewhere_);
  build_.thread(1, 1).free(0xb0, 4);
  ProcessEnd end;
  end.number = 1;
  end.end_ticks = 20;
  end.how = EndKind::kExited;
  build_.end(end);
  build_.thread(third, 1).alloc(0xa0, 130, 60, moved);
  build_.thread(0, 1).free(0xa0, 70);
  const Recording recording = build_.open();
  Names names(recording, symbols_);
  SameStacks same(recording, names);
  struct Level : AllocationObserver {
    std::vector<std::pair<uint32_t, uint64_t>> of_process;
    void on_live(uint32_t process, uint64_t, uint64_t bytes, uint64_t) override {
      of_process.emplace_back(process, bytes);
    }
  } level;
  AllocationOptions options;
  options.same = &same;
  options.observer = &level;
  Allocations heap(recording, std::move(options));
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  const std::vector<StackAllocations> stacks = heap.stacks();
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].processes, 1u);
  EXPECT_EQ(stacks[0].peak_bytes, 1u);
  EXPECT_EQ(stacks[1].processes, 2u);
  EXPECT_EQ(stacks[1].allocations, 3u);
  EXPECT_EQ(stacks[1].live_bytes, 230u);
  EXPECT_EQ(stacks[1].peak_bytes, 160u);  // at 3, with the one byte
  EXPECT_EQ(stacks[1].own_peak_bytes, 160u);
  EXPECT_EQ(heap.total().peak_bytes, 161u);
  EXPECT_EQ(heap.total().peak_time, 3u);
  EXPECT_EQ(heap.processes()[third].peak_bytes, 130u);
  const std::vector<Leak> leaks = heap.leaks();
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].processes, 2u);
  EXPECT_EQ(leaks[0].holder, 1u);
  using P = std::pair<uint32_t, uint64_t>;
  EXPECT_EQ(level.of_process, (std::vector<P>{{0, 1}, {1, 100}, {1, 160}, {1, 100}, {1, 0}, {third, 130}, {0, 0}}));
}

// Its last event may be later than the end that was noted.
TEST_F(SameStacksTest, AProcessLivesUntilItsLastEvent) {
  build_.thread(1, 1).alloc(0xa0, 100, 2, elsewhere_);
  ProcessEnd end;
  end.number = 1;
  end.end_ticks = 10;
  end.how = EndKind::kExited;
  build_.end(end);
  build_.thread(0, 1).alloc(0xa0, 50, 30, one_);
  build_.thread(1, 1).free(0xa0, 40);
  build_.thread(0, 1).alloc(0xb0, 10, 50, one_);
  const Recording recording = build_.open();
  Names names(recording, symbols_);
  Allocations heap(recording, {});
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  EXPECT_EQ(heap.total().live_bytes, 60u);
  EXPECT_EQ(heap.total().peak_bytes, 150u);
}

TEST_F(SameStacksTest, FreesFromThemAreOneStack) {
  struct Freed : AllocationObserver {
    std::vector<uint32_t> stacks;
    void on_freed(const BlockEnd& end) override { stacks.push_back(end.from.stack); }
  };
  ThreadBuilder& thread = build_.thread(0, 1);
  for (const uint64_t address : {0xa0, 0xb0, 0xc0}) thread.alloc(address, 8, address, deeper_);
  thread.free_stack(0xa0, 0x100, one_);
  thread.free_stack(0xb0, 0x200, unrolled_);
  thread.free_stack(0xc0, 0x300, other_line_);
  const Recording recording = build_.open();
  Names names(recording, symbols_);
  SameStacks same(recording, names);
  Freed freed;
  AllocationOptions options;
  options.same = &same;
  options.observer = &freed;
  Allocations heap(recording, std::move(options));
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  heap.finish();
  EXPECT_EQ(freed.stacks, (std::vector<uint32_t>{one_, one_, other_line_}));
}

}  // namespace
}  // namespace penna::same_stacks_test
