// SPDX-License-Identifier: MIT
// SameStacks: what reads the same is one place; what differs in one word is not.
#include "model/same_stacks.h"

#include <gtest/gtest.h>

#include "model/allocations.h"
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
  SameStacks same(recording, names);
  EXPECT_EQ(same.first_like(0, unrolled_), unrolled_);
  EXPECT_EQ(same.first_like(0, one_), unrolled_);
  EXPECT_EQ(same.first_like(0, unrolled_), unrolled_);
  for (const uint32_t own : {other_line_, deeper_, short_}) EXPECT_EQ(same.first_like(0, own), own);
  EXPECT_EQ(same.first_like(1, elsewhere_), elsewhere_);
  EXPECT_EQ(same.first_like(0, 0), 0u);
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

TEST_F(SameStacksTest, FreesFromThemAreOneStack) {
  struct Freed : AllocationObserver {
    std::vector<uint32_t> stacks;
    void on_freed(const BlockEnd& end) override { stacks.push_back(end.stack); }
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
