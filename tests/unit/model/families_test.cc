// SPDX-License-Identifier: MIT
// Families of blocks: mappings that are cut, overmapped and unmapped in other pieces, compared with an array of pages;
// pools; and frees that match nothing.
#include "model/blocks/block_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "model/blocks/allocation_choice.h"
#include "model/blocks/allocations.h"
#include "model/blocks/block_lifetimes.h"
#include "model/blocks/unmatched_frees.h"
#include "no_symbols.h"
#include "recording_builder.h"

namespace penna::families_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kPage = 4096, kBase = 0x7f0000000000;

struct Analysed {
  explicit Analysed(RecordingBuilder& build, const std::string& name = "maps", AllocationOptions options = {})
      : recording(build.open()), unmatched(recording), heap(recording, with_family(std::move(options), name)) {
    for_each_event(recording, {.classes = kAllocEvents}, heap);
    heap.finish();
  }
  AllocationOptions with_family(AllocationOptions options, const std::string& name) {
    options.family = *BlockFamily::find(recording, name);
    options.unmatched = &unmatched;
    return options;
  }
  StackAllocations of_stack(uint32_t stack) {
    for (const StackAllocations& one : heap.stacks())
      if (one.stack == stack) return one;
    return {};
  }
  Recording recording;
  UnmatchedFrees unmatched;
  Allocations heap;
};

void map(ThreadBuilder& thread, uint64_t page, uint64_t pages, uint64_t time, uint32_t stack,
         uint16_t how = PENNA_MAP_MMAP, uint16_t flags = 0) {
  thread.record(PENNA_KIND_MAP, time, penna_map{kBase + page * kPage, pages * kPage, stack, how, flags});
}
void unmap(ThreadBuilder& thread, uint64_t page, uint64_t pages, uint64_t time) {
  thread.record(PENNA_KIND_UNMAP, time, penna_unmap{kBase + page * kPage, pages * kPage, 0, 0});
}

TEST(Mappings, AHoleLeavesTwoPieces) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  map(thread, 0, 10, 1, 1);
  unmap(thread, 3, 2, 2);
  map(thread, 8, 4, 3, 2);  // over the last two, and two more
  unmap(thread, 40, 1, 4);  // nobody's
  Analysed seen(build);
  const HeapTotals& totals = seen.heap.processes()[0];
  EXPECT_EQ(totals.allocations, 2u);
  EXPECT_EQ(totals.bytes, 14 * kPage);
  EXPECT_EQ(totals.splits, 1u);
  EXPECT_EQ(totals.frees, 0u);
  EXPECT_EQ(totals.unmatched_frees, 1u);
  EXPECT_EQ(totals.live_blocks, 3u);
  EXPECT_EQ(totals.live_bytes, 10 * kPage);
  EXPECT_EQ(totals.peak_bytes, 10 * kPage);
  EXPECT_EQ(totals.peak_time, 1u);
  EXPECT_EQ(seen.of_stack(1).live_bytes, 6 * kPage);
  EXPECT_EQ(seen.of_stack(1).live_blocks, 2u);
  EXPECT_EQ(seen.of_stack(2).live_bytes, 4 * kPage);
  const auto leaks = seen.heap.leaks();
  ASSERT_EQ(leaks.size(), 2u);
  EXPECT_EQ(leaks[0].bytes, 6 * kPage);
  EXPECT_EQ(leaks[0].example, kBase);
  EXPECT_THAT(seen.heap.others().mappings, 0u);
}

TEST(Mappings, ProcessesHaveAddressesOfTheirOwn) {
  RecordingBuilder build;
  auto& one = build.thread(build.process(100), 1);
  auto& other = build.thread(build.process(200), 1);
  map(one, 0, 1, 1, 1);
  unmap(other, 0, 1, 2);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.processes()[0].live_bytes, kPage);
  EXPECT_EQ(seen.heap.processes()[1].unmatched_frees, 1u);
}

TEST(Mappings, AChildUnmapsWhatItsParentMapped) {
  RecordingBuilder build;
  auto& parent = build.thread(build.process(100), 1);
  auto& child = build.thread(build.process(200, 100, 1'000'000'000), 1);
  map(parent, 0, 4, 1, 1);
  unmap(parent, 0, 1, 2);  // what is left begins at another address
  unmap(child, 1, 3, 1'000'000'010);
  Analysed seen(build);
  EXPECT_EQ(seen.heap.processes()[1].inherited_frees, 1u);
  EXPECT_EQ(seen.heap.processes()[1].unmatched_frees, 0u);
  EXPECT_EQ(seen.heap.processes()[0].live_bytes, 3 * kPage);
}

TEST(Mappings, RangesAtTheEndOfTheAddressSpace) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.record(PENNA_KIND_MAP, 1, penna_map{UINT64_MAX - 10, UINT64_MAX, 1, 77, 99});
  thread.record(PENNA_KIND_MAP, 2, penna_map{0x1000, 0, 1, 0, 0});
  thread.record(PENNA_KIND_UNMAP, 3, penna_unmap{0, UINT64_MAX, 0, 0});
  Analysed seen(build);
  EXPECT_EQ(seen.heap.total().allocations, 1u);
  EXPECT_EQ(seen.heap.total().live_bytes, 0u);
  EXPECT_EQ(seen.heap.total().live_blocks, 0u);
}

TEST(Mappings, MremapKeepsTheKindAndIsNotTemporary) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  map(thread, 0, 1, 1, 1, PENNA_MAP_MMAP, PENNA_MAP_FILE);
  unmap(thread, 0, 1, 2);
  map(thread, 50, 2, 3, 2, PENNA_MAP_MREMAP);
  map(thread, 10, 1, 4, 3);
  unmap(thread, 10, 1, 5);  // this one is
  map(thread, 70, 1, 7, 5, PENNA_MAP_BRK);
  AllocationOptions options;
  options.by_kind = true;
  Analysed seen(build, "maps", options);
  EXPECT_EQ(seen.heap.total().temporary, 1u);
  EXPECT_EQ(seen.of_stack(1).temporary, 0u);
  EXPECT_EQ(seen.of_stack(1).temporary_bytes, 0u);
  EXPECT_EQ(seen.of_stack(3).temporary_bytes, kPage);
  EXPECT_STREQ(block_kind_text(seen.of_stack(2).context), "file");
  EXPECT_STREQ(block_kind_text(seen.of_stack(3).context), "anonymous");
  EXPECT_STREQ(block_kind_text(seen.of_stack(5).context), "data segment");
}

TEST(Mappings, AThreadsMremapOfSomethingUnknown) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  unmap(thread, 0, 1, 2);
  map(thread, 60, 1, 6, 4, PENNA_MAP_MREMAP);
  AllocationOptions options;
  options.by_kind = true;
  Analysed seen(build, "maps", options);
  EXPECT_STREQ(block_kind_text(seen.of_stack(4).context), "unknown");
}

TEST(Mappings, AreToldApartByWhatTheyAreOf) {
  for (const auto& [name, bytes] : {std::pair{"maps:file", 4 * kPage}, {"maps:anonymous", 1 * kPage}}) {
    RecordingBuilder build;
    auto& thread = build.thread(build.process(100), 1);
    map(thread, 0, 1, 1, 1);
    map(thread, 8, 4, 2, 2, PENNA_MAP_MMAP, PENNA_MAP_FILE | PENNA_MAP_SHARED);
    const Recording recording = build.open();
    NoSymbols symbols;
    Names names(recording, symbols);
    AllocationLimits limits;
    limits.family = *BlockFamily::find(recording, name);
    AllocationChoice choice(recording, names, limits);
    AllocationOptions options;
    options.choice = &choice;
    Allocations heap(recording, options);
    for_each_event(recording, {.classes = kAllocEvents}, heap);
    EXPECT_EQ(heap.total().bytes, bytes) << name;
    EXPECT_EQ(heap.total().left_out, 1u) << name;
  }
}

// What is told of the ends of parts adds up to what is gone.
TEST(Mappings, AgreesWithAnArrayOfPages) {
  constexpr uint64_t kPages = 64;
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    RecordingBuilder build;
    auto& thread = build.thread(build.process(100), 1);
    std::array<uint32_t, kPages> owner{};  // stack; 0 = not mapped
    uint64_t peak = 0, gone = 0;
    for (uint64_t time = 1; time < 400; ++time) {
      const uint64_t page = random() % kPages, pages = 1 + random() % (kPages - page);
      const bool maps = random() % 2 != 0;
      const auto stack = static_cast<uint32_t>(1 + random() % 5);
      if (maps)
        map(thread, page, pages, time, stack);
      else
        unmap(thread, page, pages, time);
      for (uint64_t i = page; i < page + pages; ++i) {
        gone += owner[i] != 0;
        owner[i] = maps ? stack : 0;
      }
      peak = std::max<uint64_t>(peak, kPages - static_cast<uint64_t>(std::count(owner.begin(), owner.end(), 0u)));
    }
    struct Gone : AllocationObserver {
      void on_freed(const BlockEnd& end) override {
        bytes += end.block.size;
        blocks += end.whole;
      }
      uint64_t bytes = 0, blocks = 0;
    } told;
    AllocationOptions options;
    options.observer = &told;
    Analysed seen(build, "maps", options);
    const HeapTotals& totals = seen.heap.processes()[0];
    EXPECT_EQ(totals.peak_bytes, peak * kPage);
    EXPECT_EQ(told.bytes, gone * kPage);
    EXPECT_EQ(told.blocks, totals.frees);
    EXPECT_EQ(totals.bytes, totals.live_bytes + told.bytes);
    EXPECT_EQ(totals.allocations + totals.splits - totals.frees, totals.live_blocks);
    EXPECT_LE(totals.temporary, totals.allocations);
    for (const StackAllocations& one : seen.heap.stacks())
      EXPECT_EQ(one.live_bytes, kPage * static_cast<uint64_t>(std::count(owner.begin(), owner.end(), one.stack)));
    std::array<uint32_t, kPages> found{};
    seen.heap.each_live([&](uint32_t, uint64_t address, const HeapBlock& block) {
      for (uint64_t at = address; at < address + block.size; at += kPage)
        found.at((at - kBase) / kPage) = seen.heap.stacks()[block.slot].stack;
    });
    EXPECT_EQ(found, owner);
  }
}

void pool_site(RecordingBuilder& build, uint32_t process, uint32_t id, const char* name) {
  Site site;
  site.id = id;
  site.provider = "pool";
  site.name = name;
  site.kind = PENNA_SITE_POOL;
  build.site(process, site);
}
void pool_alloc(ThreadBuilder& thread, uint32_t pool, uint64_t address, uint64_t size, uint64_t time) {
  thread.record(PENNA_KIND_POOL_ALLOC, time, penna_pool_alloc{address, size, pool, pool});
}
void pool_free(ThreadBuilder& thread, uint32_t pool, uint64_t address, uint64_t time, uint32_t stack = 0) {
  thread.record(PENNA_KIND_POOL_FREE, time, penna_pool_free{address, stack, pool});
}

// The same name has another id in another process.
void two_pools(RecordingBuilder& build) {
  const uint32_t one = build.process(100), two = build.process(200);
  pool_site(build, one, 5, "texts");
  pool_site(build, one, 6, "requests");
  pool_site(build, two, 6, "texts");
  auto& thread = build.thread(one, 1);
  thread.alloc(0xa00, 4096, 1);
  pool_alloc(thread, 5, 0xa00, 100, 2);
  pool_alloc(thread, 6, 0xa00, 7, 3);
  pool_free(thread, 6, 0xa00, 4);
  pool_alloc(build.thread(two, 1), 6, 0xb00, 20, 5);
  map(thread, 0, 1, 6, 1);
}

TEST(Pools, AreFamiliesByName) {
  {
    RecordingBuilder build;
    two_pools(build);
    Analysed texts(build, "pool:texts");
    EXPECT_THAT(pool_names(texts.recording), ElementsAre("requests", "texts"));
    EXPECT_EQ(texts.heap.total().live_bytes, 120u);
    EXPECT_EQ(texts.heap.total().live_blocks, 2u);
    EXPECT_EQ(texts.heap.others().heap_allocations, 1u);
    EXPECT_EQ(texts.heap.others().pool_allocations, 1u);
    EXPECT_EQ(texts.heap.others().mappings, 1u);
  }
  RecordingBuilder build;
  two_pools(build);
  Analysed requests(build, "pool:requests");
  EXPECT_EQ(requests.heap.total().allocations, 1u);
  EXPECT_EQ(requests.heap.total().live_blocks, 0u);
  EXPECT_EQ(requests.heap.total().temporary, 1u);
}

TEST(Pools, AreNotSampled) {
  RecordingBuilder build;
  Session session;
  session.ticks_per_second = 1'000'000'000;
  session.options = {"sample-bytes=1048576"};
  ASSERT_TRUE(build.writer().write_session(session));
  two_pools(build);
  Analysed texts(build, "pool:texts");
  EXPECT_FALSE(texts.heap.is_sampled());
  EXPECT_EQ(texts.heap.total().bytes, 120u);
}

TEST(Pools, AWrongNameSaysWhatThereIs) {
  RecordingBuilder build;
  two_pools(build);
  const Recording recording = build.open();
  for (const char* wrong : {"pool:text", "pool:", "maps:", "Heap", ""}) {
    const auto found = BlockFamily::find(recording, wrong);
    ASSERT_FALSE(found) << wrong;
    EXPECT_THAT(found.error().text, HasSubstr("heap, maps, maps:file, maps:anonymous, pool:requests, pool:texts"));
  }
}

TEST(UnmatchedFrees, ThoseThatWereFreedBeforeAreToldApart) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  auto& other = build.thread(0, 2);
  thread.alloc(0xa00, 8, 1);
  thread.free_stack(0xa00, 2, 11);
  other.free_stack(0xa00, 3, 12);  // twice
  thread.alloc(0xa00, 8, 4);
  thread.free_stack(0xa00, 5, 11);
  other.free_stack(0xb00, 6, 13);  // never allocated
  other.free_stack(0xb00, 7, 13);  // and now twice, too
  thread.free(0xc00, 8);
  thread.free(0xd00, 9);
  Analysed seen(build, "heap");
  const auto rows = seen.unmatched.rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(seen.heap.total().unmatched_frees, 5u);
  EXPECT_TRUE(rows[0].again);
  EXPECT_EQ(rows[0].stack.stack, 12u);
  EXPECT_EQ(rows[0].first.stack, 11u);
  EXPECT_EQ(rows[0].address, 0xa00u);
  EXPECT_TRUE(rows[1].again);
  EXPECT_EQ(rows[1].first.stack, 13u);
  EXPECT_FALSE(rows[2].again);
  EXPECT_EQ(rows[2].frees, 2u);  // without a stack: of the thread
  EXPECT_EQ(rows[2].thread, 0u);
  EXPECT_EQ(rows[3].stack.stack, 13u);
}

TEST(UnmatchedFrees, AFailedReallocFreesNothing) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.free(0xa00, 1, PENNA_FAMILY_REALLOC);
  thread.realloc_failed(0xa00, 2);
  thread.alloc(0xb00, 8, 3);
  thread.free(0xb00, 4, PENNA_FAMILY_REALLOC);
  thread.realloc_failed(0xb00, 5);
  thread.free(0xb00, 6);
  Analysed seen(build, "heap");
  EXPECT_EQ(seen.heap.total().unmatched_frees, 0u);
  EXPECT_THAT(seen.unmatched.rows(), IsEmpty());
}

TEST(Freers, AreStacksWhereTheyAreRecorded) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  for (uint64_t i = 0; i < 3; ++i) thread.alloc(0xa00 + 16 * i, 8, 1 + i);
  thread.free_stack(0xa00, 5, 11);
  thread.free_stack(0xa10, 6, 11);
  thread.free_stack(0xa20, 7, 12);
  const Recording recording = build.open();
  BlockLifetimes lives(recording, true);
  AllocationOptions options;
  options.observer = &lives;
  Allocations heap(recording, options);
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  heap.finish();
  ASSERT_EQ(lives.freed_by().size(), 2u);
  EXPECT_EQ(lives.freed_by()[0].from.stack, 11u);
  EXPECT_EQ(lives.freed_by()[0].blocks, 2u);
  EXPECT_EQ(lives.freed_by()[1].from.stack, 12u);
}

}  // namespace
}  // namespace penna::families_test
