// SPDX-License-Identifier: MIT
// Reports of mappings and pools, of freeing code, and of frees that match nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/blocks/allocation_choice.h"
#include "report/reports.h"
#include "report_text.h"
#include "sample_recording.h"

namespace penna::family_reports_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Families : public testing::Test {
 protected:
  Families() : thread_(build_.thread(build_.process(100), 1)) {
    build_.module(0, sample_module());
    in_main_ = build_.stack(0, 1, {kSampleCode + 0x10});
    in_work_ = build_.stack(0, 2, {kSampleCode + 0x120});
  }
  // Reads what was built.
  void read(const char* family = "heap", bool by_kind = false) {
    recording_.emplace(build_.open());
    names_.emplace(*recording_, symbols_);
    lives_.emplace(*recording_, true);
    unmatched_.emplace(*recording_);
    AllocationOptions options;
    options.family = *BlockFamily::find(*recording_, family);
    options.observer = &*lives_;
    options.unmatched = &*unmatched_;
    options.by_kind = by_kind;
    heap_.emplace(*recording_, options);
    for_each_event(*recording_, {.classes = kAllocEvents}, *heap_);
    heap_->finish();
  }
  std::string unmatched() {
    const Summary summary = summarize(*recording_);
    HealthInputs inputs;
    return report_text(
        unmatched_report(*recording_, *heap_, *unmatched_, examine(*recording_, summary, inputs), *names_));
  }
  void map(uint64_t address, uint64_t bytes, uint64_t time, uint16_t flags) {
    thread_.record(PENNA_KIND_MAP, time, penna_map{address, bytes, in_main_, PENNA_MAP_MMAP, flags});
  }

  RecordingBuilder build_;
  ThreadBuilder& thread_;
  uint32_t in_main_ = 0, in_work_ = 0;
  SampleSymbols symbols_;
  std::optional<Recording> recording_;
  std::optional<Names> names_;
  std::optional<BlockLifetimes> lives_;
  std::optional<UnmatchedFrees> unmatched_;
  std::optional<Allocations> heap_;
};

TEST_F(Families, MappingsByKind) {
  map(0x10000, 0x2000, 1, 0);
  map(0x20000, 0x1000, 2, PENNA_MAP_FILE);
  thread_.record(PENNA_KIND_UNMAP, 3, penna_unmap{0x10000, 0x1000, 0, 0});
  read("maps", true);
  EXPECT_THAT(report_text(alloc_report(*recording_, *heap_, *names_, {GroupBy::kKind})),
              testing::EndsWith("  BYTES  COUNT     LIVE     PEAK  TEMP  KIND\n"
                                "8.19 kB      1  4.10 kB  8.19 kB     0  anonymous\n"
                                "4.10 kB      1  4.10 kB  4.10 kB     0  file\n"));
  EXPECT_THAT(report_text(leaks_report(*recording_, *heap_, *names_)),
              HasSubstr("8.19 kB in 2 mappings not unmapped at the end, of 12.3 kB in 2 mappings of the family maps"));
  EXPECT_THAT(report_text(freers_report(*recording_, *heap_, *lives_, *names_)),
              HasSubstr("The stacks of these unmappings are unknown"));
  BlockSizes sizes;
  EXPECT_THAT(report_text(sizes_report(*recording_, *heap_, sizes)), Not(HasSubstr("WASTE")));
}

TEST_F(Families, WhatElseThereIs) {
  thread_.alloc(0xa00, 8, 1);
  map(0x10000, 0x2000, 1, 0);
  Site site;
  site.id = 5;
  site.name = "texts";
  site.kind = PENNA_SITE_POOL;
  build_.site(0, site);
  thread_.record(PENNA_KIND_POOL_ALLOC, 2, penna_pool_alloc{0xa00, 8, 1, 5});
  read();
  EXPECT_EQ(other_families_text(*recording_, *heap_),
            "Not in these numbers: 1 mapping, 1 allocation in 1 pool; --family shows them: maps, pool:texts.");
}

TEST_F(Families, NothingElse) {
  thread_.alloc(0xa00, 8, 1);
  read();
  EXPECT_EQ(other_families_text(*recording_, *heap_), "");
}

TEST_F(Families, WhoFreesByStack) {
  for (uint64_t i = 0; i < 3; ++i) thread_.alloc(0xa00 + 16 * i, 10, 1 + i, in_main_);
  thread_.free_stack(0xa00, 1000, in_work_);
  thread_.free_stack(0xa10, 1000, in_work_);
  thread_.free_stack(0xa20, 1000, in_main_);
  read();
  const std::string freers = report_text(freers_report(*recording_, *heap_, *lives_, *names_));
  EXPECT_THAT(freers, HasSubstr("3 blocks of 30 B freed"));
  EXPECT_THAT(freers, testing::ContainsRegex("    2   20 B .*  work.int. .app.c:20. .program.\n"));
  EXPECT_THAT(freers, Not(HasSubstr("--free-stacks")));
  const std::string pairs = report_text(lifetimes_report(*recording_, *heap_, *lives_, *names_, {}, true));
  EXPECT_THAT(pairs, testing::ContainsRegex("work.int.  main .app.c:10. .program.\n"));
}

TEST_F(Families, WhoFreesByThread) {
  thread_.alloc(0xa00, 10, 1, in_main_);
  thread_.free(0xa00, 1000);
  read();
  const std::string freers = report_text(freers_report(*recording_, *heap_, *lives_, *names_));
  EXPECT_THAT(freers, HasSubstr("(tid 1001)"));
  EXPECT_THAT(freers, HasSubstr("penna record --free-stacks records them"));
}

TEST_F(Families, FreedTwice) {
  thread_.alloc(0xa00, 10, 1, in_main_);
  thread_.free_stack(0xa00, 2, in_main_);
  thread_.free_stack(0xa00, 3, in_work_);
  thread_.free_stack(0xb00, 4, in_work_);
  read();
  EXPECT_EQ(unmatched(), R"(2 frees of blocks that were not recorded as there; 1 block was freed twice

FREES  WHAT           EXAMPLE  FIRST  FREED BEFORE IN  STACK THAT FREED
    1  freed twice      0xa00   2 ns  main             work(int) (app.c:20) [program]
    1  not allocated    0xb00   3 ns                   work(int) (app.c:20) [program]
)");
}

// An allocator with ways that are not seen, as chromium's: what it gave again without a free was freed in one of them, and others may
// allocate.
TEST_F(Families, WhereFreesAreNotSeenNobodyIsAccused) {
  thread_.alloc(0xa00, 10, 1, in_main_);
  thread_.free(0xa00, 2);
  thread_.free(0xa00, 3);
  thread_.alloc(0xb00, 10, 4, in_main_);
  thread_.alloc(0xb00, 10, 5, in_main_);
  read();
  const std::string table = unmatched();
  EXPECT_THAT(table, HasSubstr("freed again"));
  EXPECT_THAT(table, Not(HasSubstr("twice")));
}

// As firefox's: strdup() is a part of its allocator.
TEST_F(Families, WhereManyAllocationsAreNotSeenNobodyIsAccused) {
  for (uint64_t block = 0; block < 17; ++block) thread_.free(0x1000 + 16 * block, 1 + block);
  thread_.alloc(0xa00, 10, 100, in_main_);
  thread_.free(0xa00, 200);
  thread_.free(0xa00, 300);
  read();
  const std::string table = unmatched();
  EXPECT_THAT(table, HasSubstr("freed again"));
  EXPECT_THAT(table, Not(HasSubstr("twice")));
}

TEST_F(Families, WhereEventsAreMissingNobodyIsAccused) {
  thread_.alloc(0xa00, 10, 1, in_main_);
  thread_.free(0xa00, 2);
  thread_.skip_chunk();
  thread_.free(0xa00, 3);
  read();
  const std::string table = unmatched();
  EXPECT_THAT(table, HasSubstr("what was allocated in between may be missing here"));
  EXPECT_THAT(table, HasSubstr("freed again"));
  EXPECT_THAT(table, Not(HasSubstr("twice")));
  EXPECT_THAT(table, HasSubstr("penna record --free-stacks records them"));
}

TEST_F(Families, NoneUnmatched) {
  thread_.alloc(0xa00, 10, 1, in_main_);
  read();
  EXPECT_EQ(unmatched(), "Every recorded free was of a recorded block.\n");
}

}  // namespace
}  // namespace penna::family_reports_test
