// SPDX-License-Identifier: MIT
// Facts about blocks besides their stacks: which count, how long they lived, how large they are, who freed them, what
// was live when; and which leaks to ignore.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/blocks/allocation_choice.h"
#include "model/blocks/allocation_groups.h"
#include "model/blocks/block_lifetimes.h"
#include "model/blocks/block_sizes.h"
#include "model/blocks/heap_history.h"
#include "model/names/suppressions.h"
#include "recording_builder.h"

namespace penna::blocks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Functions of 0x100 bytes: f0, f1, ... of every module.
class FakeSymbols : public SymbolSource {
 public:
  std::vector<SourceFrame> code(const NamedFile&, uint64_t address) override {
    if (address >> 8 == 7) return {{"_dl_init", "", 0, false}};
    return {{"f" + std::to_string(address >> 8), "src/app.cc", static_cast<uint32_t>(address & 0xff), false}};
  }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t) override { return std::nullopt; }
  bool is_entry(const NamedFile&, uint64_t) override { return false; }
  std::string problem(const NamedFile&) override { return ""; }
};

class Blocks : public testing::Test {
 protected:
  Blocks() {
    process_ = build_.process(100);
    for (const auto& [path, start] : {std::pair{"/bin/program", 0x100000},
                                      {"/lib/libc.so.6", 0x200000},
                                      {"/lib/libfoo.so", 0x300000},
                                      {"/lib/libtcmalloc_minimal.so.4", 0x400000}}) {
      Module module;
      module.path = path;
      module.bias = module.start = static_cast<uint64_t>(start);
      module.end = module.start + 0x10000;
      build_.module(process_, module);
    }
  }
  // A stack of functions, the innermost first: 0x100001 is f1 of the program at 0x100000.
  uint32_t stack(const std::vector<uint64_t>& functions) {
    std::vector<uint64_t> frames;
    frames.reserve(functions.size());
    for (uint64_t function : functions)
      frames.push_back((function & ~uint64_t{0xff}) + (function & 0xff) * 0x100 + 0x21);
    const uint32_t made = build_.stack(process_, next_stack_, frames);
    next_stack_ += 100;
    return made;
  }
  ThreadBuilder& thread(uint32_t number = 1) { return build_.thread(process_, number); }

  // All events; the result's observer has seen them.
  std::unique_ptr<Allocations> read(const Recording& recording, AllocationOptions options) {
    auto heap = std::make_unique<Allocations>(recording, std::move(options));
    for_each_event(recording, {.classes = kAllocEvents}, *heap);
    heap->finish();
    return heap;
  }

  RecordingBuilder build_;
  uint32_t process_ = 0, next_stack_ = 1;
};

TEST_F(Blocks, FreedBeforeTheNextAllocationIsTemporary) {
  thread().alloc(0xa00, 10, 10);
  thread().alloc(0xb00, 20, 20);
  thread().free(0xb00, 30);  // nothing in between
  thread().free(0xa00, 40);  // one in between
  thread().alloc(0xc00, 40, 50);
  thread(2).free(0xc00, 60);  // by another thread
  const Recording recording = build_.open();
  EXPECT_EQ(read(recording, {})->total().temporary, 1u);
  EXPECT_EQ(read(recording, {})->total().temporary_bytes, 20u);
  AllocationOptions two;
  two.within = 2;
  EXPECT_EQ(read(recording, two)->total().temporary, 2u);
  EXPECT_EQ(read(recording, two)->total().temporary_bytes, 30u);
}

TEST_F(Blocks, OwnPeakIsNotThatOfTheProcess) {
  thread().alloc(0xa00, 100, 10, 1);
  thread().free(0xa00, 20);
  thread().alloc(0xb00, 150, 30, 2);
  const Recording recording = build_.open();
  const auto stacks = read(recording, {})->stacks();
  EXPECT_EQ(stacks[0].own_peak_bytes, 100u);
  EXPECT_EQ(stacks[0].peak_bytes, 0u);
  EXPECT_EQ(stacks[1].own_peak_bytes, 150u);
}

TEST_F(Blocks, OnlyWhatIsChosenCounts) {
  const uint32_t first = stack({0x100001, 0x100002}), second = stack({0x100003, 0x100002});
  thread().alloc(0xa00, 10, 100, first);
  thread().alloc(0xb00, 100, 200, second);
  thread().free(0xa00, 300);
  thread().alloc(0xc00, 1000, 400, first);
  thread().free(0xc00, 1400);
  const Recording recording = build_.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  const auto chosen = [&](const std::function<void(AllocationLimits&)>& set) {
    AllocationLimits limits;
    set(limits);
    AllocationChoice choice(recording, names, limits);
    learn_lifetimes(recording, choice, [] {});
    AllocationOptions options;
    options.choice = &choice;
    const HeapTotals total = read(recording, options)->total();
    EXPECT_EQ(total.allocations + total.left_out, 3u);
    EXPECT_EQ(total.unmatched_frees, 0u);
    EXPECT_EQ(total.live_blocks, total.allocations - total.frees);
    return total.bytes;
  };
  EXPECT_EQ(chosen([](AllocationLimits&) {}), 1110u);
  EXPECT_EQ(chosen([](AllocationLimits& limits) { limits.min_size = 100; }), 1100u);
  EXPECT_EQ(chosen([](AllocationLimits& limits) { limits.max_size = 100; }), 110u);
  EXPECT_EQ(chosen([](AllocationLimits& limits) { limits.stacks.emplace_back("f1"); }), 1010u);
  EXPECT_EQ(chosen([](AllocationLimits& limits) { limits.stacks.emplace_back("f2"); }), 1110u);
  EXPECT_EQ(chosen([](AllocationLimits& limits) { limits.stacks.emplace_back("f4"); }), 0u);
  EXPECT_EQ(chosen([](AllocationLimits& limits) { limits.max_ticks = 200; }), 10u);
  EXPECT_EQ(chosen([](AllocationLimits& limits) { limits.max_ticks = 199; }), 0u);
  EXPECT_EQ(chosen([](AllocationLimits& limits) { limits.min_ticks = 201; }), 1100u);  // never freed: for ever
}

TEST_F(Blocks, PatternsThatMetNothingAreTold) {
  thread().alloc(0xa00, 10, 100, stack({0x100001}));
  const Recording recording = build_.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  AllocationLimits limits;
  limits.stacks = {FunctionPattern("f1"), FunctionPattern("g*")};
  AllocationChoice choice(recording, names, limits);
  AllocationOptions options;
  options.choice = &choice;
  (void)read(recording, options);
  ASSERT_EQ(choice.unmet().size(), 1u);
  EXPECT_EQ(choice.unmet()[0].pattern(), "g*");
}

TEST_F(Blocks, LivesAndWhoFrees) {
  thread().alloc(0xa00, 10, 100);
  thread().alloc(0xb00, 20, 100);
  thread().free(0xa00, 150);
  thread(2).free(0xb00, 2100);
  thread().alloc(0xc00, 30, 3000);
  const Recording recording = build_.open();
  BlockLifetimes lives(recording, true);
  AllocationOptions options;
  options.observer = &lives;
  (void)read(recording, options);
  EXPECT_EQ(lives.of_slot(0).lives.count(), 2u);
  EXPECT_EQ(lives.of_slot(0).lives.max(), 2000u);
  EXPECT_EQ(lives.of_slot(0).elsewhere, 1u);
  ASSERT_EQ(lives.freed_by().size(), 2u);
  EXPECT_EQ(lives.freed_by()[1].thread, 1u);
  EXPECT_EQ(lives.freed_by()[1].bytes, 20u);
  EXPECT_EQ(lives.decades()[0].blocks, 1u);  // 0 to 100 ns
  EXPECT_EQ(lives.decades()[2].ns, 1000);
  EXPECT_EQ(lives.decades()[2].bytes, 20u);
}

// A realloc that fails frees nothing, and its block may be freed later.
TEST_F(Blocks, AFailedReallocIsNoEnd) {
  thread().alloc(0xa00, 10, 100);
  thread().free(0xa00, 150, PENNA_FAMILY_REALLOC);
  thread().realloc_failed(0xa00, 160);
  thread().free(0xa00, 400);
  thread().alloc(0xb00, 10, 500);
  thread().free(0xb00, 510, PENNA_FAMILY_REALLOC);  // the last event: it stands
  const Recording recording = build_.open();
  BlockLifetimes lives(recording, false);
  AllocationOptions options;
  options.observer = &lives;
  const auto heap = read(recording, options);
  EXPECT_EQ(lives.of_slot(0).lives.count(), 2u);
  EXPECT_EQ(lives.of_slot(0).lives.max(), 300u);
  EXPECT_EQ(heap->total().frees, 2u);
}

TEST_F(Blocks, SizesAndTheirWaste) {
  EXPECT_EQ(BlockSizes::waste_of(0), 32u);
  EXPECT_EQ(BlockSizes::waste_of(24), 8u);
  EXPECT_EQ(BlockSizes::waste_of(25), 23u);
  EXPECT_EQ(BlockSizes::waste_of(UINT64_MAX), 0u);
  uint64_t time = 0;
  for (uint32_t size : {0, 1, 3, 3, 24, 1000}) {
    ++time;
    thread().alloc(0x1000 * time, size, time);
  }
  thread().free(0x1000, 10);
  const Recording recording = build_.open();
  BlockSizes sizes;
  AllocationOptions options;
  options.observer = &sizes;
  const auto heap = read(recording, options);
  sizes.add_live(*heap);
  std::vector<uint64_t> powers, live;
  uint64_t bytes = 0;
  for (const SizeCounts& counts : sizes.by_power()) {
    powers.push_back(counts.size);
    live.push_back(counts.live_blocks);
    bytes += counts.bytes;
  }
  EXPECT_THAT(powers, ElementsAre(0, 1, 2, 16, 512));
  EXPECT_THAT(live, ElementsAre(0, 1, 2, 1, 1));
  EXPECT_EQ(bytes, heap->total().bytes);
  EXPECT_EQ(sizes.by_size()[0].size, 3u);
  EXPECT_EQ(sizes.by_size()[0].waste, 58u);
}

TEST_F(Blocks, NoPeakIsTooShortForTheHistory) {
  thread().alloc(0xa00, 100, 1000);
  thread().alloc(0xb00, 900, 5000);
  thread().free(0xb00, 5001);
  thread().free(0xa00, 9000);
  thread().alloc(0xc00, 50, 10'999);
  const Recording recording = build_.open();
  HeapHistory history(1000, 11'000, recording.processes().size());
  AllocationOptions options;
  options.observer = &history;
  (void)read(recording, options);
  EXPECT_EQ(history.peak_bytes(), 1000u);
  EXPECT_EQ(history.peak_time(), 5000u);
  const std::vector<HeapPoint> ten = history.points(10);
  EXPECT_EQ(ten[1].time, 2000u);
  EXPECT_EQ(ten[1].most_bytes, 100u);  // nothing happened in it
  EXPECT_EQ(ten[4].most_bytes, 1000u);
  EXPECT_EQ(ten[4].most_blocks, 2u);
  EXPECT_EQ(ten[4].end_bytes, 100u);
  EXPECT_EQ(ten[8].least_bytes, 0u);
  EXPECT_EQ(ten[9].end_bytes, 50u);
  for (size_t count : {1, 3, 999, 2000}) {
    uint64_t most = 0;
    for (const HeapPoint& point : history.points(count)) most = std::max(most, point.most_bytes);
    EXPECT_EQ(most, 1000u) << count;
  }
}

TEST_F(Blocks, GroupsByThreadAndByCall) {
  const uint64_t main = 0x100000, work = 0x100100;
  const uint32_t anywhere = stack({0x100001});
  thread().alloc(0xa00, 1, 5, anywhere);
  thread().enter(main, 10);
  thread().alloc(0xb00, 10, 20, anywhere);
  thread().enter(work, 30);
  thread().alloc(0xc00, 100, 40, anywhere);
  thread().exit(work, 50);
  thread(2).enter(work, 60);
  thread(2).alloc(0xd00, 1000, 70, anywhere);
  const Recording recording = build_.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  CallTree tree(recording, names.map(), false);
  for (const GroupBy by : {GroupBy::kThread, GroupBy::kCall}) {
    AllocationOptions options;
    options.context = [&](const Event& event) {
      return by == GroupBy::kThread ? event.thread : tree.current(event.thread);
    };
    Allocations heap(recording, options);
    for_each_event(recording, {.classes = kAllocEvents | kCallEvents}, [&](const Event& event) {
      if (by == GroupBy::kCall) tree(event);
      heap(event);
    });
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> bytes;
    for (const AllocationGroup& group : group_allocations(heap, names, {by, &tree, [] {}, {}}).groups)
      bytes[group.context] = {group.self.bytes, group.total.bytes};
    using Map = std::map<uint32_t, std::pair<uint64_t, uint64_t>>;
    // Nodes: 1 = main, 2 = main, work; 3 = work.
    EXPECT_EQ(bytes, by == GroupBy::kThread ? (Map{{0, {111, 111}}, {1, {1000, 1000}}})
                                            : (Map{{0, {1, 1}}, {1, {10, 110}}, {2, {100, 100}}, {3, {1000, 1000}}}));
  }
}

TEST(Suppressions, PatternsOfLeakSanitizer) {
  EXPECT_TRUE(suppression_matches("pay", "shop::pay(int)"));
  EXPECT_FALSE(suppression_matches("^pay", "shop::pay(int)"));
  EXPECT_TRUE(suppression_matches("^shop*int)$", "shop::pay(int)"));
  EXPECT_FALSE(suppression_matches("int$", "shop::pay(int)"));
  EXPECT_TRUE(suppression_matches("^pay$", "pay"));
  EXPECT_FALSE(suppression_matches("^pay$", "pays"));
  EXPECT_TRUE(suppression_matches("a*a", "xaba"));
  EXPECT_FALSE(suppression_matches("a*a", "xab"));
  EXPECT_TRUE(suppression_matches("*ab$", "abcab"));
  EXPECT_TRUE(suppression_matches("^*", ""));
  EXPECT_FALSE(suppression_matches("^a*a$", "a"));
}

TEST(Suppressions, ListsHaveCommentsAndNothingElse) {
  Suppressions list;
  EXPECT_TRUE(list.add("# known\n\n  leak:pay  \r\nleak:lib*.so"));
  EXPECT_EQ(list.size(), 2u);
  const Result<> wrong = list.add("leak:a\nrace:b\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text, HasSubstr("line 2 is no suppression"));
  EXPECT_FALSE(list.add("leak:"));
}

TEST_F(Blocks, LeaksThatAreNoNews) {
  const uint32_t own = stack({0x100001, 0x100002});
  const uint32_t loader = stack({0x200003, 0x200007});                // _dl_init of libc's
  const uint32_t constructor = stack({0x300003, 0x200007});           // of a library, run by it
  const uint32_t allocator = stack({0x400003, 0x200007});             // an allocator for itself
  const uint32_t by_library = stack({0x200003, 0x100001, 0x200007});  // by the program, run by it
  const Recording recording = build_.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  Suppressions none, some;
  LeakSuppressor built_in(recording, names, none, true);
  EXPECT_FALSE(built_in.suppresses(0, own));
  EXPECT_TRUE(built_in.suppresses(0, loader));
  EXPECT_FALSE(built_in.suppresses(0, constructor));
  EXPECT_TRUE(built_in.suppresses(0, allocator));
  EXPECT_FALSE(built_in.suppresses(0, by_library));
  EXPECT_FALSE(LeakSuppressor(recording, names, none, false).suppresses(0, loader));
  for (const char* line : {"leak:^f2$", "leak:app.cc", "leak:/bin/prog"}) {
    Suppressions list;
    ASSERT_TRUE(list.add(line));
    EXPECT_TRUE(LeakSuppressor(recording, names, list, false).suppresses(0, own)) << line;
  }
  ASSERT_TRUE(some.add("leak:f9"));
  EXPECT_FALSE(LeakSuppressor(recording, names, some, false).suppresses(0, own));
}

}  // namespace
}  // namespace penna::blocks_test
