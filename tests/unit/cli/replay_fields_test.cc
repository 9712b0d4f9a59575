// SPDX-License-Identifier: MIT
// The fields of a replay: how they are requested, and their values for each line of a small recording.
#include "cli/report/replay_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../report/sample_recording.h"
#include "base/file.h"

namespace penna::replay_fields_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum ReplayField;

std::vector<ReplayField> fields(const std::string& text, Format format = Format::kTable) {
  const auto parsed = parse_replay_fields(text, format);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : std::vector<ReplayField>{};
}

std::string refused(const std::string& text, Format format = Format::kTable) {
  const auto parsed = parse_replay_fields(text, format);
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().text;
}

TEST(ReplayFields, HaveTheNamesOfKeysAndOfUftrace) {
  EXPECT_THAT(fields("pid,time_ns,delta"), ElementsAre(kPid, kTime, kDelta));
  EXPECT_THAT(fields("timestamp,task,addr"), ElementsAre(kTime, kThread, kAddress));
  EXPECT_THAT(fields("tid,tid"), ElementsAre(kTid));
  EXPECT_THAT(fields("+module"), ElementsAre(kTime, kDuration, kTid, kModule));
  EXPECT_THAT(fields("none"), ElementsAre());
  EXPECT_THAT(fields("", Format::kJson),
              ElementsAre(kTime, kDuration, kPid, kTid, kThread, kKind, kDepth, kName, kEvent));
  EXPECT_EQ(fields("+stack", Format::kCsv).back(), kStack);
}

TEST(ReplayFields, UnknownOnesAreToldWithTheNearest) {
  EXPECT_THAT(refused("time,durration"),
              HasSubstr("no field 'durration' (did you mean 'duration'?): choose from time, duration, "));
  EXPECT_THAT(refused("what"), HasSubstr("no field 'what': choose from time, "));
  EXPECT_THAT(refused("time,"), HasSubstr("no field ''"));
  EXPECT_THAT(refused("none", Format::kJson), HasSubstr("leaves csv and json without fields"));
}

struct Sample {
  RecordingBuilder build;
  Recording recording = sample_recording(build);
  SampleSymbols symbols;
  Names names{recording, symbols};
};

std::string text_of(Sample& sample, uint32_t thread, const std::string& chosen, size_t lines) {
  std::string text;
  ReplayColumns columns;
  ReplayPrinter printer(sample.recording, sample.names, {{}, true, &columns}, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  ReplayCells cells(sample.recording, sample.names, printer);
  columns = replay_columns(fields(chosen), cells, {});
  EXPECT_TRUE(printer.titles());
  for_each_timeline_line(sample.recording, thread, TimelineOptions{}, [&](const TimelineLine& line) {
    return line.kind == LineKind::kLockRequest || (printer.line(line) && --lines != 0);
  });
  return text;
}

TEST(ReplayFields, AreTheColumnsOfText) {
  Sample sample;
  EXPECT_EQ(text_of(sample, 0, "elapsed,delta,kind,source", 8),
            "     ELAPSED        DELTA KIND           SOURCE                EVENT\n"
            "        0 ns              enter          app.c:10              main() {\n"
            "      100 ns       100 ns lock                                   lock counter_lock\n"
            "     1.00 us       900 ns enter          app.c:20                work(int) {\n"
            "     1.10 us       100 ns alloc          app.c:20                  malloc(1000) = 0x500000\n"
            "                                                                      work(int) (app.c:20) [program]\n"
            "                                                                      main (app.c:10) [program]\n"
            "     1.20 us       100 ns alloc          helper.h:5                calloc(64) = 0x510000\n"
            "                                                                      helper (helper.h:5) [inlined]\n"
            "                                                                      grow (app.c:30) [program]\n"
            "                                                                      work(int) (app.c:20) [program]\n"
            "                                                                      main (app.c:10) [program]\n"
            "     1.30 us       100 ns free                                     free(0x510000)\n"
            "     1.40 us       100 ns point          app.c:42                  point db:query rows=7 table=\"us;er\"\n"
            "     3.00 us      1.60 us exit           app.c:20                } /* work(int) */\n");
}

TEST(ReplayFields, TimeDurationAndTidAreTheUsualOnes) {
  Sample sample;
  EXPECT_EQ(text_of(sample, 0, "time,duration,tid", 2),
            "          TIME     DURATION      TID  EVENT\n"
            "   0.000000000                  1001  main() {\n"
            "   0.000000100                  1001    lock counter_lock\n");
  EXPECT_EQ(text_of(sample, 0, "none", 2),
            "EVENT\n"
            "main() {\n"
            "  lock counter_lock\n");
}

std::string rows_of(Sample& sample, Format format, const std::string& chosen, uint32_t thread) {
  const std::string path = testing::TempDir() + "penna-replay-fields";
  auto output = Output::create(path);
  EXPECT_TRUE(output);
  ReplayPrinter printer(sample.recording, sample.names, {}, output->sink());
  ReplayCells cells(sample.recording, sample.names, printer);
  const std::vector<ReplayField> asked = fields(chosen, format);
  ReportStream table(format, *output, replay_table(asked));
  for_each_timeline_line(sample.recording, thread, TimelineOptions{}, [&](const TimelineLine& line) {
    if (line.kind == LineKind::kLockRequest) return true;
    cells.next(line);
    std::vector<Cell> row;
    row.reserve(asked.size());
    for (ReplayField field : asked) row.push_back(cells.cell(field));
    return table.add(std::move(row));
  });
  Report closing;
  closing.tail = {"Note."};
  EXPECT_TRUE(table.finish(closing));
  EXPECT_TRUE(output->finish());
  const std::string text = *read_file(path);
  ::unlink(path.c_str());
  return text;
}

TEST(ReplayFields, AreTheColumnsOfCsv) {
  Sample sample;
  EXPECT_THAT(rows_of(sample, Format::kCsv, "", 0),
              HasSubstr("time_ns,duration_ns,pid,tid,thread,kind,depth,name,event\n"
                        "0,,100,1001,main,enter,0,main,main() {\n"
                        "100,,100,1001,main,lock,1,counter_lock,lock counter_lock\n"));
  const std::string all = rows_of(sample, Format::kCsv, "kind,size,address,module,source,arguments,stack", 0);
  EXPECT_THAT(all, HasSubstr("enter,,0x100000,/bin/program,src/app.c:10,,\n"));
  EXPECT_THAT(all, HasSubstr("alloc,64,0x510000,/bin/program,src/helper.h:5,,main;work(int);grow;helper\n"));
  EXPECT_THAT(all, HasSubstr("point,,,,src/app.c:42,rows=7;table=us\\;er,\n"));
}

TEST(ReplayFields, AreTheKeysOfJson) {
  Sample sample;
  EXPECT_THAT(rows_of(sample, Format::kJson, "delta,duration,process,event", 1),
              HasSubstr("{\"lines\":[\n"
                        "{\"delta_ns\":null,\"duration_ns\":2700,\"process\":\"program\","
                        "\"event\":\"lock counter_lock waited 2.70 us, held by main (tid 1001)\"},\n"
                        "{\"delta_ns\":100,\"duration_ns\":100,"));
  EXPECT_THAT(rows_of(sample, Format::kJson, "tid", 1),
              HasSubstr("],\"about\":[],\"notes\":[\"Note.\"],\"warnings\":[]}\n"));
}

TEST(ReplayFields, ATableWithoutRowsHasItsHeaderAndItsKey) {
  for (const auto& [format, text] :
       {std::pair{Format::kCsv, "tid,event\n"},
        std::pair{Format::kJson, "{\"lines\":[],\"about\":[\"None.\"],\"notes\":[],\"warnings\":[]}\n"}}) {
    const std::string path = testing::TempDir() + "penna-replay-empty";
    auto output = Output::create(path);
    ASSERT_TRUE(output);
    ReportStream table(format, *output, replay_table(fields("tid,event", format)));
    Report closing;
    closing.head = {"None."};
    EXPECT_TRUE(table.finish(closing));
    EXPECT_TRUE(output->finish());
    EXPECT_EQ(*read_file(path), text);
    ::unlink(path.c_str());
  }
}

}  // namespace
}  // namespace penna::replay_fields_test
