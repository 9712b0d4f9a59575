// SPDX-License-Identifier: MIT
// The allocations of two recordings side by side: stacks are matched by name, whatever their addresses.
#include "report/alloc/alloc_diff.h"

#include <gtest/gtest.h>

#include "report_text.h"
#include "sample_recording.h"

namespace penna::alloc_diff_test {
namespace {

StacksByName side(std::map<std::string, NamedStackSums> stacks) {
  StacksByName side{std::move(stacks), 0, 0, 0};
  for (const auto& [name, sums] : side.stacks) {
    side.count += sums.count;
    side.bytes += sums.bytes;
  }
  return side;
}

TEST(AllocDiff, StacksAreTheSameByName) {
  RecordingBuilder build;
  const Recording recording = sample_recording(build);
  SampleSymbols symbols;
  Names names(recording, symbols);
  Allocations heap(recording);
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  const StacksByName all = stacks_by_name(heap, names, StackSums::kAllocated, nullptr);
  EXPECT_EQ(all.count, 3u);
  ASSERT_EQ(all.stacks.size(), 2u);
  const auto from_work = all.stacks.find("work(int)\tprogram\nmain\tprogram\n");
  ASSERT_NE(from_work, all.stacks.end());
  EXPECT_EQ(from_work->second.bytes, 1000u);
  const StacksByName leaked = stacks_by_name(heap, names, StackSums::kLeaked, nullptr);
  EXPECT_EQ(leaked.count, 2u);
  EXPECT_EQ(leaked.bytes, 2'001'000u);
  const Suppressions listed = [] {
    Suppressions list;
    EXPECT_TRUE(list.add("leak:grow"));
    return list;
  }();
  LeakSuppressor suppressor(recording, names, listed, false);
  EXPECT_EQ(stacks_by_name(heap, names, StackSums::kLeaked, &suppressor).bytes, 1000u);
}

const StacksByName kBefore =
    side({{"a\tx\nmain\tx\n", {10, 1000}}, {"noise\tx\n", {1000, 100'000}}, {"gone\tx\n", {1, 5000}}, {"", {1, 8}}});
const StacksByName kAfter =
    side({{"a\tx\nmain\tx\n", {20, 3000}}, {"noise\tx\n", {1005, 100'500}}, {"added\t\n", {2, 900}}, {"", {1, 8}}});

TEST(AllocDiff, WhatChangedMostComesFirst) {
  EXPECT_EQ(report_text(alloc_diff_report(kBefore, kAfter, StackSums::kAllocated, {})),
            R"(A: 106 kB in 1,012 allocations, 4 stacks
B: 104 kB in 1,028 allocations, 4 stacks
2 stacks have changed by at most 1.0 %, in bytes and in number

sorted by DELTA, the change of the bytes
COUNT A  COUNT B  BYTES A  BYTES B     DELTA      OF A  COUNT DELTA  STACK
      1        -  5.00 kB        -  -5.00 kB  -100.0 %           -1  gone [x]
     10       20  1.00 kB  3.00 kB  +2.00 kB  +200.0 %          +10  a [x]
      main [x]
      -        2        -    900 B    +900 B         -           +2  added
  1,000    1,005   100 kB   101 kB    +500 B   +0.50 %           +5  noise [x]
      1        1      8 B      8 B       0 B       0 %            0  (no stack was recorded)
)");
}

// 100 samples of 1000 bytes each stand for 100,000: give or take 1.96 * sqrt(2 * 100,000 * 1000).
TEST(AllocDiff, WhatSamplesDifferByIsNoise) {
  StacksByName before = side({{"same\tx\n", {1, 100'000}}, {"less\tx\n", {1, 100'000}}, {"rare\tx\n", {1, 1000}}});
  StacksByName after = side({{"same\tx\n", {1, 125'000}}, {"less\tx\n", {1, 60'000}}});
  before.sample_mean = after.sample_mean = 1000;
  const Report report = alloc_diff_report(before, after, StackSums::kAllocated, {});
  ASSERT_EQ(report.tables[0].rows.size(), 3u);
  EXPECT_EQ(std::get<int64_t>(report.tables[0].rows[0].cells[4]), -40'000);
  EXPECT_FALSE(report.tables[0].rows[0].is_quiet);
  EXPECT_TRUE(report.tables[0].rows[1].is_quiet);
  EXPECT_TRUE(report.tables[0].rows[2].is_quiet);
  EXPECT_EQ(report.head[2], "2 stacks have changed by at most 1.0 %, or by no more than samples of the same do");
}

TEST(AllocDiff, NoiseIsLessInBytesOrAtMostAShareOfBoth) {
  const auto quiet = [](const QuietLimit& limit) {
    std::vector<int64_t> deltas;
    const Report report = alloc_diff_report(kBefore, kAfter, StackSums::kLeaked, limit);
    for (const TableRow& row : report.tables[0].rows)
      if (row.is_quiet) deltas.push_back(std::get<int64_t>(row.cells[4]));
    return deltas;
  };
  EXPECT_EQ(quiet({0, 901}), (std::vector<int64_t>{900, 500, 0}));
  EXPECT_EQ(quiet({0, 0}), std::vector<int64_t>{});
  EXPECT_EQ(quiet({100, 0}), (std::vector<int64_t>{2000, 500, 0}));  // what is in one only is news
}

TEST(AllocDiff, NothingGivesATableWithoutRows) {
  const Report report = alloc_diff_report({}, {}, StackSums::kLeaked, {});
  ASSERT_EQ(report.tables.size(), 1u);
  EXPECT_EQ(report.tables[0].key, "leaks");
  EXPECT_TRUE(report.tables[0].rows.empty());
  EXPECT_EQ(report.head[0], "A: 0 B in 0 blocks not freed, 0 stacks");
}

}  // namespace
}  // namespace penna::alloc_diff_test
