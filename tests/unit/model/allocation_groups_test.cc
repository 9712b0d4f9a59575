// SPDX-License-Identifier: MIT
// Allocations by function and module: self adds up to everything, total counts recursion once, C++'s own allocation
// functions are not what a stack is attributed to.
#include "model/blocks/allocation_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "recording_builder.h"

namespace penna::allocation_groups_test {
namespace {

// Functions of 0x100 bytes: f0, f1, ...; f9 is operator new, f10 has std::allocator inlined into f10.
class FakeSymbols : public SymbolSource {
 public:
  std::vector<SourceFrame> code(const NamedFile&, uint64_t address) override {
    const uint64_t number = address >> 8;
    if (number == 9) return {{"operator new(unsigned long)", "", 0, false}};
    const SourceFrame function{"f" + std::to_string(number), "app.cc", static_cast<uint32_t>(address & 0xff), false};
    if (number == 10) return {{"std::allocator<int>::allocate(unsigned long)", "alloc.h", 5, true}, function};
    return {function};
  }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t) override { return std::nullopt; }
  bool is_entry(const NamedFile&, uint64_t) override { return false; }
  std::string problem(const NamedFile&) override { return ""; }
};

struct Numbers {
  uint64_t self, total, self_count, total_live;
  bool operator==(const Numbers&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Numbers& n) {
  return out << "{" << n.self << ", " << n.total << ", " << n.self_count << ", " << n.total_live << "}";
}

class Groups : public testing::Test {
 protected:
  Groups() {
    process_ = build_.process(100);
    module("/bin/program", 0x100000);
    module("/lib/libfoo.so", 0x200000);
  }
  void module(const std::string& path, uint64_t start) {
    Module one;
    one.path = path;
    one.bias = one.start = start;
    one.end = start + 0x10000;
    build_.module(process_, one);
  }
  // One block of `size`, allocated by a stack of these functions, the innermost first; stays.
  void allocate(uint32_t size, const std::vector<uint64_t>& functions, uint64_t base = 0x100000) {
    std::vector<uint64_t> frames;
    frames.reserve(functions.size());
    for (uint64_t function : functions) frames.push_back((function >= 0x100 ? 0 : base) + function * 0x100 + 0x21);
    const uint32_t stack = build_.stack(process_, next_stack_, frames);
    next_stack_ += 100;
    allocate_at(size, stack);
  }
  void allocate_at(uint32_t size, uint32_t stack) {
    ++blocks_;
    build_.thread(process_, 1).alloc(0x10000 + 0x1000 * blocks_, size, blocks_ * 10, stack);
  }
  std::map<std::string, Numbers> grouped(GroupBy by) {
    const Recording recording = build_.open();
    FakeSymbols symbols;
    Names names(recording, symbols);
    Allocations heap(recording);
    for_each_event(recording, {.classes = kAllocEvents}, heap);
    std::map<std::string, Numbers> result;
    uint64_t self = 0, steps = 0;
    for (const AllocationGroup& group : group_allocations(heap, names, {by, nullptr, [&] { ++steps; }, {}}).groups) {
      const NameFrame* frame = group.frame;
      const std::string name = frame == nullptr             ? "?"
                               : by == GroupBy::kFunction   ? frame->function
                               : frame->module == kNoModule ? "elsewhere"
                                                            : names.map().file_name(frame->module);
      result[name] = {group.self.bytes, group.total.bytes, group.self.allocations, group.total.live_bytes};
      self += group.self.bytes;
    }
    EXPECT_EQ(self, heap.total().bytes);
    EXPECT_EQ(steps, heap.stacks().size());
    return result;
  }

  RecordingBuilder build_;
  uint32_t process_ = 0, next_stack_ = 1;
  uint64_t blocks_ = 0;
};

using Map = std::map<std::string, Numbers>;

TEST_F(Groups, SelfAndTotal) {
  allocate(10, {3, 2, 1});
  allocate(100, {2, 1});
  allocate(1000, {3, 1});
  EXPECT_EQ(grouped(GroupBy::kFunction),
            (Map{{"f1", {0, 1110, 0, 1110}}, {"f2", {100, 110, 1, 110}}, {"f3", {1010, 1010, 2, 1010}}}));
}

TEST_F(Groups, RecursionCountsOnceInTotal) {
  allocate(10, {2, 1, 2, 1, 2, 1});
  EXPECT_EQ(grouped(GroupBy::kFunction), (Map{{"f1", {0, 10, 0, 10}}, {"f2", {10, 10, 1, 10}}}));
}

TEST_F(Groups, OperatorNewAndAllocatorsAreNotBlamed) {
  allocate(10, {9, 1});
  allocate(100, {10, 1});
  EXPECT_EQ(grouped(GroupBy::kFunction), (Map{{"f1", {10, 110, 1, 110}},
                                              {"f10", {100, 100, 1, 100}},
                                              {"operator new(unsigned long)", {0, 10, 0, 10}},
                                              {"std::allocator<int>::allocate(unsigned long)", {0, 100, 0, 100}}}));
}

TEST_F(Groups, AStackOfNothingElseStaysWhereItIs) {
  allocate(10, {9});
  EXPECT_EQ(grouped(GroupBy::kFunction), (Map{{"operator new(unsigned long)", {10, 10, 1, 10}}}));
}

TEST_F(Groups, UnknownStacksAreARow) {
  allocate(10, {1});
  allocate_at(100, 0);
  allocate_at(1000, 77'777);
  EXPECT_EQ(grouped(GroupBy::kFunction), (Map{{"?", {1100, 1100, 2, 1100}}, {"f1", {10, 10, 1, 10}}}));
}

TEST_F(Groups, FunctionsOfOneNameInTwoFilesAreTwo) {
  allocate(10, {1});
  allocate(100, {1}, 0x200000);
  const Recording recording = build_.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  Allocations heap(recording);
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  const AllocationGroups made = group_allocations(heap, names, {});
  ASSERT_EQ(made.groups.size(), 2u);
  EXPECT_EQ(made.groups[1].self.bytes, 100u);
  EXPECT_EQ(names.map().file_name(made.groups[1].frame->module), "libfoo.so");
  EXPECT_THAT(made.of_slot, testing::ElementsAre(0, 1));
}

TEST_F(Groups, ByModule) {
  allocate(10, {3, 0x2001, 1});  // the library's function between two of the program
  allocate(100, {1}, 0x200000);
  allocate(1000, {0x9001});
  EXPECT_EQ(
      grouped(GroupBy::kModule),
      (Map{{"program", {10, 10, 1, 10}}, {"libfoo.so", {100, 110, 1, 110}}, {"elsewhere", {1000, 1000, 1, 1000}}}));
}

}  // namespace
}  // namespace penna::allocation_groups_test
