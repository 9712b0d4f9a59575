// SPDX-License-Identifier: MIT
// The replay of a small recording, word for word.
#include "report/calls/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_recording.h"

namespace penna::replay_test {
namespace {

std::string replay(const Recording& recording, Names& names, uint32_t thread, bool stacks) {
  std::string text;
  ReplayPrinter printer(recording, names, {{}, stacks}, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  EXPECT_TRUE(printer.thread_title(thread));
  EXPECT_TRUE(printer.titles());
  for_each_timeline_line(recording, thread, TimelineOptions{},
                         [&](const TimelineLine& line) { return printer.line(line); });
  return text;
}

TEST(Replay, ShowsWhatHappenedWhereItHappened) {
  RecordingBuilder build;
  const Recording recording = sample_recording(build);
  SampleSymbols symbols;
  Names names(recording, symbols);
  EXPECT_EQ(replay(recording, names, 0, false), R"(# program, pid 100, main (tid 1001)
          TIME     DURATION      TID  EVENT
   0.000000000                  1001  main() {
   0.000000100                  1001    lock counter_lock
   0.000001000                  1001    work(int) {
   0.000001100                  1001      malloc(1000) = 0x500000
   0.000001200                  1001      calloc(64) = 0x510000
   0.000001300                  1001      free(0x510000)
   0.000001400                  1001      point db:query rows=7 table="us;er"
   0.000003000      2.00 us     1001    } /* work(int) */
   0.000003100      3.00 us     1001    unlock counter_lock
   0.000004000                  1001    work(int) {
   0.000004100                  1001      malloc(2000000) = 0x520000
   0.001000000       996 us     1001    } /* work(int), left by an outer function's exit */
   0.001000000      1.00 ms     1001  } /* main */
)");
  EXPECT_EQ(replay(recording, names, 1, true), R"(# program, pid 100, worker (tid 1002)
          TIME     DURATION      TID  EVENT
   0.000003200      2.70 us     1002  lock counter_lock waited 2.70 us, held by main (tid 1001)
                                         take_lock (app.c:40) [program]
                                         (no unwind information further out)
   0.000003300       100 ns     1002  unlock counter_lock
   0.000003400                  1002  lock counter_lock
   0.000003500       100 ns     1002  unlock counter_lock
   0.000008500      5.00 us     1002  condition ready with counter_lock waited 5.00 us, timed out
   0.000008600       100 ns     1002  unlock counter_lock
)");
}

// 12 calls in one another.
Recording deep_recording(RecordingBuilder& build) {
  const uint32_t process = build.process(100, 1, 1000);
  ThreadBuilder& thread = build.thread(process, 1);
  for (uint64_t depth = 0; depth < 12; ++depth) thread.enter(0x2000, 2000 + depth);
  for (uint64_t depth = 0; depth < 12; ++depth) thread.exit(0x2000, 3000 + depth);
  return build.open();
}

std::string lines_in(const Recording& recording, const ReplayStyle& style) {
  SampleSymbols symbols;
  Names names(recording, symbols);
  std::string text;
  ReplayPrinter printer(recording, names, style, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  for (int times = 0; times < 2; ++times) EXPECT_TRUE(printer.thread_title(0) && printer.titles());
  for_each_timeline_line(recording, 0, TimelineOptions{}, [&](const TimelineLine& line) { return printer.line(line); });
  return text;
}

ReplayStyle by_thread(size_t width) { return {{false, width}, false, nullptr, true}; }

TEST(Replay, DeepLinesStayWithinATerminal) {
  RecordingBuilder build;
  const Recording recording = deep_recording(build);
  for (size_t width = 66; width < 120; ++width) {
    const std::string text = lines_in(recording, by_thread(width));
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      EXPECT_LE(text.find('\n', at) - at, width) << text.substr(at, text.find('\n', at) - at);
  }
  const std::string text = lines_in(recording, by_thread(80));
  EXPECT_THAT(text, testing::HasSubstr(std::string(12, ' ') + "[11] [unknown] 0x2000"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("[6] ")));
}

TEST(Replay, TidGivesWayWhereATitleTellsItAndRoomIsShort) {
  RecordingBuilder build;
  const Recording recording = deep_recording(build);
  const std::string text = lines_in(recording, by_thread(80));
  constexpr const char* kTold = "no room for TID: --wide shows all, --fields chooses\n";
  EXPECT_THAT(text, testing::HasSubstr("DURATION  EVENT\n"));
  ASSERT_THAT(text, testing::HasSubstr(kTold));
  EXPECT_EQ(text.find(kTold), text.rfind(kTold));  // once
  for (const std::string& all :
       {lines_in(recording, {{false, 80}}), lines_in(recording, by_thread(100)), lines_in(recording, by_thread(0))}) {
    EXPECT_THAT(all, testing::HasSubstr("DURATION      TID  EVENT\n"));
    EXPECT_THAT(all, testing::Not(testing::HasSubstr(kTold)));
  }
}

// Whatever leaves a function without its exit is said on its line, and counted.
TEST(Replay, SaysWhichEndsDoNotFit) {
  RecordingBuilder build;
  const uint32_t process = build.process(100, 1, 1000);
  build.module(process, sample_module());
  ThreadBuilder& thread = build.thread(process, 1);
  const uint64_t main = kSampleCode, work = main + 0x100, grow = main + 0x200;
  thread.exit(grow, 1000);
  thread.enter(main, 2000);
  thread.enter(work, 3000);
  thread.enter(grow, 4000);
  thread.exit(main, 5000);  // over two
  thread.enter(main, 6000);
  thread.enter(work, 7000);
  const Recording recording = build.open();
  SampleSymbols symbols;
  Names names(recording, symbols);
  const std::string text = replay(recording, names, 0, false);
  for (const char* words :
       {" } /* grow, whose entry was not recorded */\n", " } /* grow, left by an outer function's exit */\n",
        " } /* work(int), left by an outer function's exit */\n", " } /* work(int), not left at the end */\n",
        " } /* main, not left at the end */\n"})
    EXPECT_NE(text.find(words), std::string::npos) << words << text;
  UnbalancedEnds ends;
  for_each_timeline_line(recording, 0, TimelineOptions{}, [&](const TimelineLine& line) {
    ends.count(line);
    return true;
  });
  EXPECT_EQ(
      ends.sentence(),
      "Of calls and spans: 1 end without a beginning, 2 left by an outer function's exit, 2 not left at the end.");
  EXPECT_EQ(UnbalancedEnds().sentence(), "");
}

TEST(Replay, TellsWhatWasBegunBeforeAFork) {
  RecordingBuilder build;
  build.process(100);
  auto& thread = build.thread(build.process(101, 100, 1000), 1);
  thread.enter(0x3000, 2000);
  thread.exit(0x2000, 2100);  // not while another is open
  thread.exit(0x3000, 2200);
  thread.exit(0x2000, 2300);
  const Recording recording = build.open();
  SampleSymbols symbols;
  Names names(recording, symbols);
  const std::string text = replay(recording, names, 0, false);
  EXPECT_NE(text.find(", whose entry was not recorded */\n"), std::string::npos) << text;
  EXPECT_NE(text.find(", begun before the process was forked */\n"), std::string::npos) << text;
  UnbalancedEnds ends;
  for_each_timeline_line(recording, 0, TimelineOptions{}, [&](const TimelineLine& line) {
    ends.count(line);
    return true;
  });
  EXPECT_EQ(ends.sentence(), "Of calls and spans: 1 end without a beginning, 1 begun before the process was forked.");
}

TEST(Replay, ShowsTheCallsThatAForkedProcessGoesOnIn) {
  RecordingBuilder build;
  build.thread(build.process(100), 1).enter(0x2000, 1000);
  build.thread(build.forked(101, 100, 1, 1500), 1).enter(0x3000, 2000);
  const Recording recording = build.open();
  SampleSymbols symbols;
  Names names(recording, symbols);
  const std::string text = replay(recording, names, 1, false);
  EXPECT_NE(text.find(" { /* begun before the process was forked */\n"), std::string::npos) << text;
  UnbalancedEnds ends;
  for_each_timeline_line(recording, 1, TimelineOptions{}, [&](const TimelineLine& line) {
    ends.count(line);
    return true;
  });
  EXPECT_EQ(ends.sentence(), "Of calls and spans: 1 begun before the process was forked, 1 not left at the end.");
}

TEST(Replay, ShowsSpans) {
  RecordingBuilder build;
  const uint32_t process = build.process(100, 1, 1000);
  Site begin{7, 4, 0, "db", "query", "db.c", {{PENNA_ARG_INT, "rows"}}, PENNA_SITE_SPAN};
  Site end{8, 4, 0, "db", "query", "db.c", {}, PENNA_SITE_SPAN_END};
  build.site(process, begin);
  build.site(process, end);
  ThreadBuilder& thread = build.thread(process, 1);
  thread.point(8, 1000);
  thread.point(7, 2000, {uint64_t{3}});
  thread.point(8, 4000);
  thread.point(7, 5000, {uint64_t{4}});
  const Recording recording = build.open();
  SampleSymbols symbols;
  Names names(recording, symbols);
  const std::string text = replay(recording, names, 0, false);
  for (const char* line : {"} /* db:query, whose beginning was not recorded */\n", "  span db:query rows=3 {\n",
                           "2.00 us     1001  } /* db:query */\n", "} /* db:query, not ended */\n"})
    EXPECT_THAT(text, testing::HasSubstr(line));
}

}  // namespace
}  // namespace penna::replay_test
