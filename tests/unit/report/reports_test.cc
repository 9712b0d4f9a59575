// SPDX-License-Identifier: MIT
// The reports of a small recording, word for word. Those of allocations: alloc_reports_test.cc.
#include "report/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "report/frames.h"
#include "report/info.h"
#include "report/overview.h"
#include "report/print.h"
#include "report_text.h"
#include "sample_recording.h"
#include "sample_reports.h"

namespace penna::reports_test {
namespace {

using ::testing::HasSubstr;

TEST_F(Reports, CallsTable) {
  EXPECT_EQ(text(calls_report(recording_, calls_, names_)),
            R"(3 calls of 2 functions, 1 left by an outer function's exit

sorted by TOTAL, the time with what they called
CALLS    TOTAL     SELF      AVG      MIN      MAX      P50      P99  FUNCTION
    1  1.00 ms  2.00 us  1.00 ms  1.00 ms  1.00 ms  1.00 ms  1.00 ms  main (app.c:10) [program]
    2   998 us   998 us   499 us  2.00 us   996 us  2.00 us   991 us  work(int) (app.c:20) [program]
)");
}
// What machines read: where the one that allocated, or waited, stands.
TEST_F(Reports, StacksHaveAPlace) {
  for (Report report : {alloc_report(recording_, heap_, names_), leaks_report(recording_, heap_, names_),
                        waits_report(recording_, locks_, names_)}) {
    Table& table = report.tables.at(0);
    ASSERT_TRUE(select_rows(table, "", 0));
    std::string keys, cells;
    for (size_t i = table.columns.size() - 4; i < table.columns.size(); ++i) {
      keys += std::string(table.columns[i].key) + " ";
      cells += cell_text(table.rows[0].cells[i], table.columns[i].kind) + " ";
    }
    EXPECT_EQ(keys, "module file line function ");
    EXPECT_EQ(cells,
              table.key == "waits" ? "/bin/program src/app.c 40 take_lock " : "/bin/program src/helper.h 5 helper ");
  }
}
TEST_F(Reports, AreSortedByLine) {
  for (const char* order : {"line", "line:asc"}) {
    Report report = calls_report(recording_, calls_, names_);
    Table& table = report.tables.at(0);
    ASSERT_TRUE(select_rows(table, order, 1));
    const size_t line = table.columns.size() - 2;
    ASSERT_EQ(table.columns[line].key, "line");
    EXPECT_EQ(table.rows.at(0).cells[line], Cell{int64_t{std::string_view(order) == "line" ? 20 : 10}}) << order;
  }
}
// A number that is not known is empty: null in JSON, and last in every order.
TEST_F(Reports, LinesOfNoPlaceAreEmpty) {
  Placed nowhere{.instead = "(in no recorded call)"};
  Table table;
  place_columns("CALL").fill(table, {nowhere});
  ASSERT_TRUE(select_rows(table, "", 0));
  EXPECT_EQ(table.rows.at(0).cells.at(2), Cell{});
  EXPECT_EQ(table.rows.at(0).cells.at(3), Cell{"(in no recorded call)"});
}
TEST_F(Reports, LocksTables) {
  EXPECT_EQ(
      text(locks_report(recording_, locks_, names_)),
      R"(1 thread lost 2.70 us of its 5.40 us waiting for counter_lock, 96.3 % of it while main (tid 1001) held it.
1 lock taken 4 times, 1 after waiting, 2.70 us in all

   WAIT  WAITS      AVG      P50      P99      MAX     HOLD  AVG HOLD  P99 HOLD  MAX HOLD  TAKEN  WAITED  NEST  THREADS  KIND   LOCK          HELD MEANWHILE BY
2.70 us      1  2.70 us  2.70 us  2.70 us  2.70 us  3.30 us    825 ns   2.98 us   3.00 us      4  25.0 %     1        2  mutex  counter_lock  main (tid 1001), 96.3 %

Waits for counter_lock by length
   FROM  WAITS    SHARE
2.00 us      1  100.0 %  ########################################

Condition variables (time until signalled and locked again; if others held the mutex meanwhile, that is a wait for the mutex)
   WAIT  WAITS      P99      MAX  STILL WAITING  TIMEOUTS  SIGNALS  BROADCASTS  UNHEARD  MUTEX         CONDITION
5.00 us      1  5.00 us  5.00 us              0         1        0           0        0  counter_lock  ready

1 of 1 wait for ready ended by time-out.
)");
}
// Locks that are no variables: where the block they lie in was allocated, or the file, or nothing but their address.
TEST(LocksReport, NamesLocksByTheirBlock) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.module(process, sample_module());
  const uint32_t from_work = build.stack(process, 1, {kSampleCode + 0x120, kSampleCode + 0x10});
  ThreadBuilder& thread = build.thread(process, 1);
  thread.alloc(0x500000, 112, 5, from_work);
  thread.alloc(0x510000, 40, 6, 0);
  uint64_t time = 10;
  for (uint64_t lock :
       {uint64_t{0x500028}, uint64_t{0x500000}, uint64_t{0x510000}, kSampleCode + 0x9000, uint64_t{0x700}})
    for (int i = 0; i < 2; ++i, time += 10) i == 0 ? thread.lock(lock, time) : thread.unlock(lock, time);
  const Recording recording = build.open();
  SampleSymbols symbols;
  Names names(recording, symbols);
  Locks locks(recording);
  for_each_event(recording, {.classes = kLockEvents}, locks);
  locks.finish();
  LockBlocks blocks(recording, locks, names.map());
  for_each_event(recording, {.classes = kAllocEvents}, blocks);
  blocks.finish();
  Report report = locks_report(recording, locks, names, {&blocks});
  ASSERT_TRUE(select_rows(report.tables.at(0), "", 0));
  std::vector<std::string> shown;
  for (const TableRow& row : report.tables[0].rows) shown.push_back(std::get<std::string>(row.cells[24]));
  EXPECT_THAT(shown, testing::ElementsAre("at +40 in the block of 112 B that work(int) (app.c:20) allocated",
                                          "in the block of 112 B that work(int) (app.c:20) allocated",
                                          "in the block of 40 B", "program+0x9000", "0x700"));
  EXPECT_FALSE(report.tables[0].columns[22].machine_only);  // the address
}
TEST_F(Reports, PointsTable) {
  EXPECT_EQ(text(points_report(recording_, points_, names_)), R"(1 point passed 1 time

HITS  PER SECOND  POINT     SOURCE
   1           -  db:query  src/app.c:42
      rows: 7
      table: "us;er" 1
)");
}

// Values of a point with a whole number, a fraction and a text, as they stand in its report.
class PointValues {
 public:
  PointValues() : process_(build_.process(100)), thread_(build_.thread(process_, 1)) {
    Site site;
    site.id = 7;
    site.provider = "cache";
    site.name = "hit";
    site.arguments = {{PENNA_ARG_INT, "bytes"}, {PENNA_ARG_FLOAT, "load"}, {PENNA_ARG_STRING, "key"}};
    build_.site(process_, site);
  }
  void hit(int64_t bytes, double load, uint64_t key) {
    thread_.point(7, ++time_, {static_cast<uint64_t>(bytes), std::bit_cast<uint64_t>(load), 7, key + kFirstKey});
  }
  std::vector<std::string> lines() {
    Recording recording = build_.open();
    Points points(recording);
    for_each_thread_event(recording, {.classes = kPointEvents}, points);
    std::vector<std::string> result;
    SampleSymbols symbols;
    Names names(recording, symbols);
    Report report = points_report(recording, points, names);
    EXPECT_TRUE(select_rows(report.tables[0], "", 0));
    for (const TableDetail& detail : report.tables[0].rows[0].details) result.push_back(detail.text);
    return result;
  }

 private:
  static constexpr uint64_t kFirstKey = 0x41'4141'4141'4141;  // "AAAAAAA"; its first two characters count
  RecordingBuilder build_;
  uint32_t process_;
  ThreadBuilder& thread_;
  uint64_t time_ = 0;
};

TEST(PointsReport, NumbersHaveTheirSumAndNoExponent) {
  PointValues values;
  values.hit(950'456, 0.25, 0);
  values.hit(3'256'200, 1e300, 0);
  values.hit(-1, 0.5, 0);
  const auto lines = values.lines();
  EXPECT_EQ(lines[0], "bytes: -1 .. 3256200, average 1402218, sum 4206655");
  EXPECT_EQ(lines[1], "load: 0.25 .. 1e+300, average 3.33333e+299, sum 1e+300");
}

TEST(PointsReport, TextsOfWhichThereAreTooManyAreNotMadeUp) {
  PointValues even, one_often;
  for (uint64_t i = 0; i <= FrequentTexts::kMost; ++i) even.hit(1, 1, i), one_often.hit(1, 1, i);
  for (int i = 0; i < 9; ++i) one_often.hit(1, 1, 1);
  EXPECT_EQ(even.lines()[2], "key: more than 4,096 different, none more than 2 times");
  EXPECT_EQ(one_often.lines()[2], "key: \"BAAAAAA\" 9 or more, others of more than 4,096 different");
}
TEST_F(Reports, ThreadsTable) {
  EXPECT_EQ(text(threads_report(recording_, summarize(recording_))), R"(2 threads of 1 process

PID   TID  NAME      START  DURATION  CALLS  ALLOC  LOCKS  POINTS  LOST  BLOCKED
100  1001  main       0 ns   1.00 ms      3      4      2       1     -        -
100  1002  worker  3.20 us   5.40 us      0      0      6       0     -        -

Threads without events are known only if they were alive when penna record looked, twice a second.
)");
}
TEST_F(Reports, ThreadsTableSaysThatItTakesNoRange) {
  CallRules rules;
  rules.begin = 2000;
  select_calls(recording_, rules);
  EXPECT_THAT(text(threads_report(recording_, summarize(recording_))),
              HasSubstr("\nof the whole recording: only --thread and --tid leave something out here\n"));
}
TEST_F(Reports, InfoTables) {
  const std::string info =
      text(info_report(recording_, summarize(recording_), examine(recording_, summarize(recording_), {})));
  EXPECT_THAT(info, HasSubstr("recording  " + build_.path() + "\n"));
  EXPECT_THAT(info, HasSubstr("events     3 calls, 4 allocation events, 8 lock events, 1 point\n"));
  EXPECT_THAT(info, HasSubstr("lost       nothing\n"));
  EXPECT_THAT(info, HasSubstr("state      complete\n"));
  EXPECT_THAT(info, testing::EndsWith("\n\nProcesses\n"
                                      "PID  PARENT  START  DURATION  THREADS  EVENTS  END            COMMAND\n"
                                      "100       1   0 ns   1.00 ms        2      18  exited with 0  program\n"));
}

TEST(Info, CommandsAreQuotedAsOneWouldTypeThem) {
  EXPECT_EQ(command_text({"ls", "-l", "a b", "it's", "", "x=[1]"}, 0), R"(ls -l 'a b' 'it'\''s' '' 'x=[1]')");
  EXPECT_EQ(command_text({"ls"}, 3), "ls ... (3 more)");
  EXPECT_EQ(command_text({}, 0), "");
}

TEST(Info, EventsAndDates) {
  EXPECT_EQ(events_text({2, 1, 0, 2000}), "1 call, 1 allocation event, 2,000 points");
  EXPECT_EQ(events_text({3, 0, 0, 0}), "2 calls");  // one was not left
  EXPECT_EQ(events_text({}), "nothing");
  EXPECT_EQ(date_text(1'000'000'000'000'000'000), "2001-09-09 01:46:40 UTC");
}

TEST_F(Reports, Overview) {
  const std::string overview =
      text(overview_report(recording_, summarize(recording_), {&calls_, &heap_, &locks_, nullptr, &points_}, names_));
  EXPECT_EQ(overview.substr(0, build_.path().size()), build_.path());
  EXPECT_EQ(overview.substr(build_.path().size()),
            R"(: 1.00 ms, 1 process, 2 threads
3 calls, 4 allocation events, 8 lock events, 1 point recorded, nothing lost

Calls: 3 calls of 2 functions, 1 left by an outer function's exit, sorted by TOTAL, the time with what they called
CALLS    TOTAL     SELF      AVG      MIN      MAX      P50      P99  FUNCTION
    1  1.00 ms  2.00 us  1.00 ms  1.00 ms  1.00 ms  1.00 ms  1.00 ms  main (app.c:10) [program]
    2   998 us   998 us   499 us  2.00 us   996 us  2.00 us   991 us  work(int) (app.c:20) [program]

Allocations: 3 allocations of 2.00 MB in all, 1 temporary; 2.00 MB in 2 blocks at the peak after 4.10 us; 2.00 MB in 2 blocks live at the end
  BYTES  COUNT     LIVE  BLOCKS     PEAK  TEMP  STACK
2.00 MB      2  2.00 MB       1  2.00 MB     1  helper (helper.h:5) [inlined]
      grow (app.c:30) [program]
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
1.00 kB      1  1.00 kB       1  1.00 kB     0  work(int) (app.c:20) [program]
      main (app.c:10) [program]

Leaks: 2.00 MB in 2 blocks not freed at the end, of 2.00 MB in 3 allocations
 LEAKED  BLOCKS  LARGEST  STACK
2.00 MB       1  2.00 MB  helper (helper.h:5) [inlined]
      grow (app.c:30) [program]
      work(int) (app.c:20) [program]
      main (app.c:10) [program]
1.00 kB       1  1.00 kB  work(int) (app.c:20) [program]
      main (app.c:10) [program]

Locks: 1 thread lost 2.70 us of its 5.40 us waiting for counter_lock, 96.3 % of it while main (tid 1001) held it.
   WAIT  WAITS      AVG      P50      P99      MAX     HOLD  AVG HOLD  P99 HOLD  MAX HOLD  TAKEN  WAITED  NEST  THREADS  KIND   LOCK          HELD MEANWHILE BY
2.70 us      1  2.70 us  2.70 us  2.70 us  2.70 us  3.30 us    825 ns   2.98 us   3.00 us      4  25.0 %     1        2  mutex  counter_lock  main (tid 1001), 96.3 %

Waits by stack
   WAIT  WAITS      MAX  LOCK          WAITED IN
2.60 us      1  2.60 us  counter_lock  take_lock (app.c:40) [program]
      (no unwind information further out)
    held by main (tid 1001), where it was taken is not known
 100 ns      1   100 ns  counter_lock  take_lock (app.c:40) [program]
      (no unwind information further out)
    not held: already released, the thread had not resumed yet

Condition variables (time until signalled and locked again; if others held the mutex meanwhile, that is a wait for the mutex)
   WAIT  WAITS      P99      MAX  STILL WAITING  TIMEOUTS  SIGNALS  BROADCASTS  UNHEARD  MUTEX         CONDITION
5.00 us      1  5.00 us  5.00 us              0         1        0           0        0  counter_lock  ready

Points: 1 point passed 1 time
HITS  PER SECOND  POINT     SOURCE
   1           -  db:query  src/app.c:42
      rows: 7
      table: "us;er" 1

1 of 1 wait for ready ended by time-out.
)");
}
TEST_F(Reports, Health) {
  HealthInputs inputs;
  inputs.calls = &calls_;
  inputs.allocations = &heap_;
  inputs.locks = &locks_;
  const Summary summary = summarize(recording_);
  EXPECT_EQ(text(health_report(recording_, summary, examine(recording_, summary, inputs))),
            R"(3 calls, 4 allocation events, 8 lock events, 1 point recorded; nothing lost.

COUNTER                    VALUE  MEANING
lost calls                     0  entries and exits that could not be recorded
lost alloc                     0  events that could not be recorded
lost locks                     0  events that could not be recorded
lost points                    0  events that could not be recorded
lost for pairs                 0  of them: no trampoline for caller and function
lost for shape                 0  of these: return address unknown
lost for unwinders             0  of them: exits by exceptions, not shown
lost for pools                 0  of them: in too many pools
lost for samples               0  of them: more sampled blocks than can be remembered
lost in handler                0  came while the agent itself was at work
blocked ns                     0  threads waited for room
stacks too deep                0  outer frames left out at the depth limit
stacks without rule            0  code without unwind information
stacks with bad memory         0  a frame outside the thread's stack
stack tree full                0  events without a stack: too many different ones
points armed                   0  points that recorded
points refused                 0  points that could not be armed
functions patched              0  places made to record calls
functions refused              0  places that could not be changed, or held other code
allocators refused             0  functions of allocators that could not be entered
blocks ended at once           0  calls that freed all blocks of a heap
values lost                    0  calls without their arguments or result: there was no room
without clock                  0  processes that may not read it, and record nothing from then on
without system calls           0  processes whose seccomp filters forbid what recording needs, from then on
not followed                   0  programs and processes that seccomp filters forbid to record
modules unknown                0  code addresses in no known file
torn                           0  records begun and never finished
holes                          0  room reserved and never written
abandoned chunks               0  taken from threads that were gone
damaged chunks                 0  could not be read to their end
unknown records                0  of a kind that this version does not know
refused processes              0  whose memory could not be mapped or trusted
unannounced processes          0  whose description is missing
snapshots                      0  taken where a function was entered (-T FUNC@snapshot)
thrown away                    0  events before, between and after snapshots
processes without end          0  still running, or their end is missing
events not written             0  the file could not take them
missing chunks                 0  numbers that no chunk in the file has
unreadable chunks              0  chunks in the file that cannot be decoded
damaged blocks                 0  blocks of the file with a wrong checksum
damaged bytes                  0  bytes of the file in no valid block
stray exits                    0  exits of functions that were not open
inherited exits                0  of functions that were open when the process was forked
unwound calls                  1  ended by the exit of an outer function: their own is missing
calls too deep                 0  beyond the depth that is followed
unmatched frees                0  of blocks whose allocation was not recorded
inherited frees                0  of blocks inherited at the fork
replaced blocks                0  allocated twice without a free in between
allocations without stack      0  whose caller is not known
inherited unlocks              0  of locks that were held when the process was forked
unmatched unlocks              0  by a thread that was not seen to take the lock
missed unlocks                 0  taken while another thread seemed to hold it
malformed points               0  values that do not fit their description
points without site            0  hits of a point without a description

1 call ended with an outer function, because the exit is missing: their time ends there.
)");
}

}  // namespace
}  // namespace penna::reports_test
