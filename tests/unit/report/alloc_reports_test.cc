// SPDX-License-Identifier: MIT
// The reports of allocations of a small recording, word for word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_reports.h"

namespace penna::reports_test {
namespace {

using ::testing::HasSubstr;

TEST_F(Reports, AllocTable) {
  EXPECT_EQ(
      text(alloc_report(recording_, heap_, names_)),
      R"(3 allocations of 2.00 MB in all, 1 temporary; 2.00 MB in 2 blocks at the peak after 4.10 us; 2.00 MB in 2 blocks live at the end

  BYTES  COUNT     LIVE  BLOCKS     PEAK  TEMP  STACK
2.00 MB      2  2.00 MB       1  2.00 MB     1  helper (helper.h:5) [inlined]
      grow (app.c:30) [program]
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
1.00 kB      1  1.00 kB       1  1.00 kB     0  work(int) (app.c:20) [program]
      main (app.c:10) [program]
)");
}
TEST_F(Reports, LeaksTable) {
  EXPECT_EQ(text(leaks_report(recording_, heap_, names_)),
            R"(2.00 MB in 2 blocks not freed at the end, of 2.00 MB in 3 allocations

 LEAKED  BLOCKS  LARGEST  STACK
2.00 MB       1  2.00 MB  helper (helper.h:5) [inlined]
      grow (app.c:30) [program]
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
1.00 kB       1  1.00 kB  work(int) (app.c:20) [program]
      main (app.c:10) [program]
)");
}
TEST_F(Reports, AllocByFunction) {
  EXPECT_EQ(
      text(alloc_report(recording_, heap_, names_, {GroupBy::kFunction})),
      R"(3 allocations of 2.00 MB in all, 1 temporary; 2.00 MB in 2 blocks at the peak after 4.10 us; 2.00 MB in 2 blocks live at the end

sorted by SELF; --sort total: with what it called
   SELF  COUNT     LIVE     PEAK  TEMP    TOTAL  FUNCTION
2.00 MB      2  2.00 MB  2.00 MB     1  2.00 MB  helper (helper.h) [program]
1.00 kB      1  1.00 kB  1.00 kB     0  2.00 MB  work(int) (app.c) [program]
    0 B      0      0 B      0 B     0  2.00 MB  main (app.c) [program]
    0 B      0      0 B      0 B     0  2.00 MB  grow (app.c) [program]
)");
  EXPECT_THAT(text(alloc_report(recording_, heap_, names_, {GroupBy::kFunction}), "total:asc"),
              testing::EndsWith("2.00 MB  main (app.c) [program]\n"));
}
TEST_F(Reports, AllocByModule) {
  EXPECT_THAT(text(alloc_report(recording_, heap_, names_, {GroupBy::kModule})),
              HasSubstr("   SELF  COUNT     LIVE     PEAK  TEMP    TOTAL  MODULE\n"
                        "2.00 MB      3  2.00 MB  2.00 MB     1  2.00 MB  /bin/program\n"));
}
TEST_F(Reports, LeaksByFunction) {
  EXPECT_EQ(text(leaks_report(recording_, heap_, names_, {GroupBy::kFunction})),
            R"(2.00 MB in 2 blocks not freed at the end, of 2.00 MB in 3 allocations

sorted by SELF; --sort total: with what it called
   SELF  BLOCKS    TOTAL  TOTAL BLOCKS  FUNCTION
2.00 MB       1  2.00 MB             1  helper (helper.h) [program]
1.00 kB       1  2.00 MB             2  work(int) (app.c) [program]
    0 B       0  2.00 MB             2  main (app.c) [program]
    0 B       0  2.00 MB             1  grow (app.c) [program]
)");
}
TEST_F(Reports, TempAndPeak) {
  EXPECT_EQ(text(temp_report(recording_, heap_, names_)),
            R"(1 of 3 allocations temporary, 64 B of them: freed by their thread before it allocated anything else

TEMP  BYTES  OF ITS OWN  COUNT  STACK
   1   64 B      50.0 %      2  helper (helper.h:5) [inlined]
      grow (app.c:30) [program]
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
)");
  EXPECT_EQ(text(peak_report(recording_, heap_, names_, {GroupBy::kFile})),
            R"(2.00 MB in 2 blocks at the peak after 4.10 us

sorted by SELF; --sort total: with what it called
   SELF  BLOCKS     LIVE  COUNT    TOTAL  FILE
2.00 MB       1  2.00 MB      2  2.00 MB  src/helper.h
1.00 kB       1  1.00 kB      1  2.00 MB  src/app.c
)");
  EXPECT_THAT(text(peak_report(recording_, heap_, names_)),
              HasSubstr("   PEAK  BLOCKS  OWN PEAK     LIVE  COUNT  STACK\n"
                        "2.00 MB       1   2.00 MB  2.00 MB      2  helper"));
}
// An analysis that looks on at the sample's allocations.
template <typename Observer>
std::unique_ptr<Allocations> observed(const Recording& recording, Observer& observer) {
  AllocationOptions options;
  options.observer = &observer;
  auto heap = std::make_unique<Allocations>(recording, options);
  for_each_event(recording, {.classes = kAllocEvents}, *heap);
  heap->finish();
  return heap;
}
TEST_F(Reports, LivesAndSizes) {
  BlockLifetimes lives(recording_, true);
  const auto heap = observed(recording_, lives);
  EXPECT_EQ(text(lifetimes_report(recording_, *heap, lives, names_, {GroupBy::kFunction}, false)),
            R"(1 block freed, 0 of them by another thread than allocated them; 2 never freed

COUNT  FREED     AVG     P50     P99     MAX  LIVE  ELSEWHERE  FUNCTION
    2      1  100 ns  100 ns  100 ns  100 ns     1          0  helper (helper.h) [program]
    1      0       -       -       -       -     1          0  work(int) (app.c) [program]

Lives of freed blocks
  FROM       TO  BLOCKS  BYTES
100 ns  1.00 us       1   64 B  ##############################
)");
  EXPECT_THAT(
      text(lifetimes_report(recording_, *heap, lives, names_, {}, true)),
      HasSubstr("    1   64 B  100 ns  100 ns  100 ns  100 ns  main (tid 1001)  helper (helper.h:5) [inlined]\n"));
  BlockSizes sizes;
  const auto sized = observed(recording_, sizes);
  sizes.add_live(*sized);
  EXPECT_THAT(text(sizes_report(recording_, *sized, sizes)),
              HasSubstr("     FROM         TO  COUNT    BYTES  WASTE  LIVE BLOCKS     LIVE\n"
                        "       64        127      1     64 B   16 B            0      0 B  #####"));
}
TEST_F(Reports, HeapOverTime) {
  HeapHistory history(1000, 11'000, 1);
  const auto heap = observed(recording_, history);
  const Report report = heap_report(recording_, *heap, history, true);
  EXPECT_EQ(report.head[0], "2.00 MB in 2 blocks at the peak after 4.10 us; 2.00 MB in 2 blocks live at the end");
  ASSERT_EQ(report.tables[0].rows.size(), HeapHistory::kPoints);
  std::string drawn;
  EXPECT_TRUE(report.tables[0].draw({false, 41}, [&](std::string_view piece) {
    drawn += piece;
    return true;
  }));
  EXPECT_THAT(drawn, testing::StartsWith("                       v\n"
                                         "  2.00 MB |            ##################\n"
                                         "          |            ##################\n"));
  EXPECT_THAT(drawn, testing::EndsWith("      0 B |   .........##################\n"
                                       "          +------------------------------\n"
                                       "           0 s                    10.0 us\n"));
  std::string blocks;
  EXPECT_TRUE(heap_report(recording_, *heap, history, false).tables[0].draw({false, 41}, [&](std::string_view piece) {
    blocks += piece;
    return true;
  }));
  EXPECT_THAT(blocks, HasSubstr("      0 B │   ▁▁▁▁▁▁▁▁▁██████████████████\n"));
}
TEST_F(Reports, SuppressedLeaksAreCounted) {
  Suppressions list;
  ASSERT_TRUE(list.add("leak:grow"));
  LeakSuppressor suppressor(recording_, names_, list, true);
  AllocationView view;
  view.suppressor = &suppressor;
  EXPECT_EQ(text(leaks_report(recording_, heap_, names_, view)),
            R"(1.00 kB in 1 block not freed at the end, of 2.00 MB in 3 allocations
1 block of 2.00 MB suppressed: --no-suppressions shows them

 LEAKED  BLOCKS  LARGEST  STACK
1.00 kB       1  1.00 kB  work(int) (app.c:20) [program]
      main (app.c:10) [program]
)");
}

}  // namespace
}  // namespace penna::reports_test
