// SPDX-License-Identifier: MIT
// The report of penna check, word for word: every limit has its row, every broken one its stacks.
#include "report/check_report.h"

#include <gtest/gtest.h>

#include "report_text.h"
#include "sample_recording.h"

namespace penna::check_report_test {
namespace {

class CheckReport : public testing::Test {
 protected:
  CheckReport() : recording_(sample_recording(build_)), names_(recording_, symbols_), heap_(recording_) {
    for_each_event(recording_, {.classes = kAllocEvents}, heap_);
  }
  Verdict leak(const char* limit, uint64_t allowed) {
    Verdict verdict = check_leak(heap_, nullptr, Verdict::Unit::kBytes, allowed);
    verdict.limit = limit;
    return verdict;
  }
  RecordingBuilder build_;
  Recording recording_;
  SampleSymbols symbols_;
  Names names_;
  Allocations heap_;
};

TEST_F(CheckReport, ABrokenLimitShowsItsStacks) {
  Verdict blocks = check_leak(heap_, nullptr, Verdict::Unit::kCount, 2);
  blocks.limit = "--max-leak-blocks 2";
  EXPECT_EQ(report_text(check_report(recording_, {leak("--max-leak 0", 0), blocks}, names_)), R"(1 of 2 limits broken.

FOUND    ALLOWED          LIMIT
2.00 MB  0 B      broken  --max-leak 0
2        2        ok      --max-leak-blocks 2

--max-leak 0: 2.00 MB found
  BYTES  STACK
2.00 MB  helper (helper.h:5) [inlined]
      grow (app.c:30) [program]
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
1.00 kB  work(int) (app.c:20) [program]
      main (app.c:10) [program]
)");
}

TEST_F(CheckReport, DoubtsAreTold) {
  Verdict doubtful;
  doubtful.limit = "--max-allocs nobody=0";
  doubtful.doubt = "no function of this name allocated: it is kept, if the name is right";
  EXPECT_EQ(report_text(check_report(recording_, {doubtful}, names_)), R"(1 limit kept.

FOUND  ALLOWED      LIMIT
0      0        ok  --max-allocs nobody=0

--max-allocs nobody=0: no function of this name allocated: it is kept, if the name is right.
)");
}

TEST_F(CheckReport, WhatIsNotKnownIsSaidOnce) {
  Verdict none = leak("--max-leak 10M", 10'000'000), other = leak("--max-leak 11M", 11'000'000),
          sure = leak("--max-leak 0", 0);
  for (Verdict* one : {&none, &other, &sure}) one->missing = {{"an allocator was left out", true, false}};
  none.missing.push_back({"frees were lost", false, true});
  const Report report = check_report(recording_, {none, other}, names_);
  EXPECT_EQ(report_text(report), R"(2 of 2 limits not known.

FOUND    ALLOWED           LIMIT
2.00 MB  10.0 MB  unknown  --max-leak 10M
2.00 MB  11.0 MB  unknown  --max-leak 11M

not known: --max-leak 10M, --max-leak 11M: an allocator was left out
)");
  // What is missing could only be more than what is too much already; or it could be too much because of what is missing.
  EXPECT_EQ(check_report(recording_, {sure, other}, names_).head[0], "1 of 2 limits broken, 1 not known.");
  sure.missing.push_back({"frees were lost", false, true});
  EXPECT_EQ(check_report(recording_, {sure}, names_).head[0], "1 of 1 limit not known.");
  EXPECT_EQ(check_report(recording_, {sure}, names_).tables.size(), 2u);
}

TEST_F(CheckReport, WithoutStacksToBlameThereIsNoTable) {
  Verdict lost;
  lost.limit = "lost allocation events";
  lost.found = 3;
  const Report report = check_report(recording_, {lost}, names_);
  EXPECT_EQ(report.tables.size(), 1u);
  EXPECT_EQ(report.head[0], "1 of 1 limit broken.");
}

}  // namespace
}  // namespace penna::check_report_test
