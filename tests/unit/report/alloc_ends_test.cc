// SPDX-License-Identifier: MIT
// Tables of allocations that were cut short: by a range of time (-r), or because the process was killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "report/reports.h"
#include "report_text.h"
#include "sample_recording.h"

namespace penna::alloc_ends_test {
namespace {

using testing::HasSubstr;

// What ends with a range (-r) has not ended; times are those of all tables.
TEST(AllocationReports, ARangeIsNotTheWholeProgram) {
  RecordingBuilder build;
  Recording recording = sample_recording(build);
  SampleSymbols symbols;
  Names names(recording, symbols);
  CallRules rules;
  rules.begin = 1200;
  rules.end = 8000;
  select_calls(recording, rules);
  HeapHistory history(1200, 8000, 1);
  AllocationOptions options;
  options.observer = &history;
  Allocations heap(recording, std::move(options));
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  heap.finish();
  EXPECT_THAT(report_text(alloc_report(recording, heap, names)), HasSubstr("live at the end of the range\n"));
  EXPECT_THAT(report_text(leaks_report(recording, heap, names)), HasSubstr("not freed at the end of the range, of"));
  std::string drawn;
  const Report chart = heap_report(recording, heap, history, true);
  EXPECT_TRUE(chart.tables[0].draw({false, 41}, [&](std::string_view piece) {
    drawn += piece;
    return true;
  }));
  EXPECT_THAT(drawn, testing::EndsWith("           200 ns                 7.00 us\n"));
  EXPECT_EQ(std::get<int64_t>(chart.tables[0].rows[0].cells[0]), 200);
  rules.begin = 9000;
  rules.end = 9001;
  select_calls(recording, rules);
  Allocations none(recording);
  for_each_event(recording, {.classes = kAllocEvents}, none);
  EXPECT_EQ(report_text(leaks_report(recording, none, names)), "There are no allocations in the range.\n");
}

// Elsewhere the peak is that of one process.
TEST(AllocationReports, HeapAddsUpProcesses) {
  RecordingBuilder build;
  for (const uint32_t pid : {100, 200}) build.thread(build.process(pid), 1).alloc(0xa00, 8, 10);
  const Recording recording = build.open();
  HeapHistory history(0, 20, 2);
  AllocationOptions options;
  options.observer = &history;
  Allocations heap(recording, std::move(options));
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  EXPECT_THAT(heap_report(recording, heap, history, true).head[0],
              testing::StartsWith("16 B in 2 blocks at the peak of all processes together after "));
}

// Who was killed had no chance to free what it held.
TEST(AllocationReports, LeaksSayWhichProcessesEndedSuddenly) {
  RecordingBuilder build;
  for (const uint32_t pid : {100, 200, 300}) {
    ThreadBuilder& thread = build.thread(build.process(pid), 1);
    thread.alloc(0xa00, 8, 10);
    ProcessEnd end;
    end.number = pid / 100 - 1;
    end.end_ticks = 20;
    end.how = pid == 100 ? EndKind::kExited : pid == 200 ? EndKind::kSignaled : EndKind::kExec;
    end.code = pid == 200 ? SIGSEGV : 0;
    build.end(end);
  }
  const Recording recording = build.open();
  SampleSymbols symbols;
  Names names(recording, symbols);
  Allocations heap(recording);
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  EXPECT_THAT(
      leaks_report(recording, heap, names).tail,
      testing::ElementsAre("program (200) was killed by SIGSEGV: what it held then, 1 block, may be no leaks.",
                           "program (300) became another program: what it held then, 1 block, may be no leaks."));
}

}  // namespace
}  // namespace penna::alloc_ends_test
