// SPDX-License-Identifier: MIT
// The exports of a small recording, word for word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <protozero/pbf_reader.hpp>

#include "../model/random_records.h"
#include "../report/sample_recording.h"
#include "export/calls/folded_export.h"
#include "export/heap/heaptrack_export.h"
#include "export/heap/libleaks_export.h"
#include "export/heap/massif_export.h"
#include "export/heap/pprof_export.h"
#include "export/heap/rtrace_export.h"
#include "export/timeline/chrome_export.h"
#include "export/timeline/csv_export.h"
#include "export/timeline/perfetto_export.h"
#include "export/timeline/speedscope_export.h"
#include "export/timeline/uftrace_export.h"

namespace penna::exports_test {
namespace {

using Export = bool (*)(const Recording&, Names&, const TextSink&, const std::function<void()>&, WalkReport*);

std::string exported(const Recording& recording, Export write) {
  SampleSymbols symbols;
  Names names(recording, symbols);
  std::string text;
  WalkReport walk;
  const TextSink sink = [&](std::string_view piece) {
    text += piece;
    return true;
  };
  EXPECT_TRUE(write(
      recording, names, sink, [] {}, &walk));
  return text;
}

constexpr const char* kSampleCsv = R"(time_ns,pid,tid,kind,name,address,size,duration_ns,stack,arguments,depth,end
0,100,1001,enter,main,0x100000,,,,,0,
100,100,1001,lock,counter_lock,0x108000,,,,,1,
1000,100,1001,enter,work(int),0x100100,,,,,1,
1100,100,1001,alloc,malloc,0x500000,1000,,main;work(int),,2,
1200,100,1001,alloc,calloc,0x510000,64,,main;work(int);grow;helper,,2,
1300,100,1001,free,free,0x510000,64,100,,,2,
1400,100,1001,point,db:query,,,,,rows=7;table=us\;er,2,
3000,100,1001,exit,work(int),0x100100,,,,,1,
3100,100,1001,unlock,counter_lock,0x108000,,3000,,,1,
3200,100,1002,lock_wait,counter_lock,0x108000,,2700,take_lock,holder_tid=1001;end=got,0,
3300,100,1002,unlock,counter_lock,0x108000,,100,,,0,
3400,100,1002,lock,counter_lock,0x108000,,,,,0,
3500,100,1002,unlock,counter_lock,0x108000,,100,,,0,
4000,100,1001,enter,work(int),0x100100,,,,,1,
4100,100,1001,alloc,malloc,0x520000,2000000,,main;work(int);grow;helper,,2,
8500,100,1002,condition_wait,ready,0x108040,,5000,,end=timeout,0,
8600,100,1002,unlock,counter_lock,0x108000,,100,,,0,
1000000,100,1001,exit,work(int),0x100100,,,,,1,unwound
1000000,100,1001,exit,main,0x100000,,,,,0,
)";

TEST(Exports, Csv) {
  RecordingBuilder build;
  EXPECT_EQ(exported(sample_recording(build), export_csv), kSampleCsv);
}

std::string golden_of_kinds(uint32_t version) {
  return PENNA_GOLDEN_DIR "/recording-v" + std::to_string(version) + "-kinds.penna";
}

// The same, stored when the format was new: every kind of event means what it meant then. The file is never rewritten.
TEST(Exports, CsvOfAStoredRecording) {
  for (uint32_t version : {2u, 3u}) {
    const auto stored = Recording::open(golden_of_kinds(version));
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_FALSE(stored->damage().any());
    EXPECT_EQ(exported(*stored, export_csv), kSampleCsv) << version;
  }
}

TEST(Exports, DISABLED_StoreOne) {
  const std::string path = golden_of_kinds(layout::kVersion);
  RecordingBuilder build;
  (void)sample_recording(build);
  ASSERT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(std::filesystem::copy_file(build.path(), path));
}

TEST(Exports, Chrome) {
  RecordingBuilder build;
  EXPECT_EQ(exported(sample_recording(build), export_chrome), R"x({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","name":"process_name","pid":100,"tid":0,"args":{"name":"program"}},
{"ph":"M","name":"thread_name","pid":100,"tid":1001,"args":{"name":"main"}},
{"ph":"M","name":"thread_name","pid":100,"tid":1002,"args":{"name":"worker"}},
{"ph":"i","name":"db:query","ts":1.400,"pid":100,"tid":1001,"cat":"point","s":"t","args":{"rows":7,"table":"us;er"}},
{"ph":"X","name":"work(int)","ts":1.000,"pid":100,"tid":1001,"cat":"call","dur":2.000},
{"ph":"X","name":"work(int)","ts":4.000,"pid":100,"tid":1001,"cat":"call","dur":996.000,"args":{"end":"left by an outer function's exit"}},
{"ph":"X","name":"main","ts":0.000,"pid":100,"tid":1001,"cat":"call","dur":1000.000},
{"ph":"X","name":"wait counter_lock","ts":0.500,"pid":100,"tid":1002,"cat":"wait","dur":2.700,"args":{"holder_tid":1001,"end":"got","stack":"take_lock"}},
{"ph":"X","name":"wait ready","ts":3.500,"pid":100,"tid":1002,"cat":"wait","dur":5.000,"args":{"end":"timeout"}},
{"ph":"C","name":"live heap","ts":1.100,"pid":100,"tid":0,"args":{"bytes":1000}},
{"ph":"C","name":"live heap","ts":4.100,"pid":100,"tid":0,"args":{"bytes":2001000}}]}
)x");
}

// The live heap is thinned to a value in 100 us, but what it rose to in between is there.
TEST(Exports, ChromeKeepsThePeakOfTheHeap) {
  RecordingBuilder build;
  ThreadBuilder& one = build.thread(build.process(100), 1);
  one.alloc(0x1000, 10, 1'000, 0);
  one.alloc(0x2000, 5000, 2'000, 0);  // the peak
  one.free(0x2000, 3'000);
  one.alloc(0x3000, 5, 4'000, 0);
  one.alloc(0x4000, 20, 200'000, 0);
  one.alloc(0x5000, 300, 201'000, 0);  // a peak before the end
  one.free(0x5000, 202'000);
  one.free(0x4000, 400'000);
  const std::string text = exported(build.open(), export_chrome);
  std::vector<std::string> values;
  for (size_t at = 0; (at = text.find("\"live heap\",\"ts\":", at)) != std::string::npos; ++at) {
    const size_t time = at + 17, bytes = text.find("\"bytes\":", at) + 8;
    values.push_back(text.substr(time, text.find(',', time) - time) + " " +
                     text.substr(bytes, text.find('}', bytes) - bytes));
  }
  EXPECT_THAT(values, testing::ElementsAre("0.000 10", "1.000 5010", "199.000 35", "200.000 335", "399.000 15"));
}

TEST(Exports, Spans) {
  RecordingBuilder build;
  const uint32_t process = build.process(100, 1, 1000);
  build.site(process, {7, 4, 0, "db", "query", "db.c", {{PENNA_ARG_INT, "rows"}}, PENNA_SITE_SPAN});
  build.site(process, {8, 4, 0, "db", "query", "db.c", {}, PENNA_SITE_SPAN_END});
  ThreadBuilder& thread = build.thread(process, 1);
  thread.point(7, 2000, {uint64_t{3}});
  thread.point(8, 4000);
  thread.point(7, 5000, {uint64_t{4}});
  const Recording recording = build.open();
  EXPECT_EQ(exported(recording, export_csv),
            R"(time_ns,pid,tid,kind,name,address,size,duration_ns,stack,arguments,depth,end
1000,100,1001,span_begin,db:query,,,,,rows=3,0,
3000,100,1001,span_end,db:query,,,,,,0,
4000,100,1001,span_begin,db:query,,,,,rows=4,0,
)");
  const std::string json = exported(recording, export_chrome);
  for (const char* part :
       {R"({"ph":"B","name":"db:query","ts":1.000,"pid":100,"tid":1001,"cat":"span","args":{"rows":3}})",
        R"({"ph":"E","name":"db:query","ts":3.000,"pid":100,"tid":1001,"cat":"span"})",
        R"("cat":"span","args":{"end":"not ended"}})"})
    EXPECT_THAT(json, testing::HasSubstr(part));
}

// Calls that have no exit of their own: why they ended stands there.
TEST(Exports, CsvTellsHowCallsEnded) {
  RecordingBuilder build;
  ThreadBuilder& thread = build.thread(build.process(100, 1, 1000), 1);
  thread.enter(kSampleCode, 1000);
  thread.enter(kSampleCode + 0x100, 2000);
  thread.enter(kSampleCode + 0x100, 3000);
  thread.exit(kSampleCode, 4000);
  const std::string csv = exported(build.open(), export_csv);
  EXPECT_THAT(csv, testing::HasSubstr("\n3000,100,1001,exit,[unknown] 0x100100,0x100100,,,,,2,unwound\n"
                                      "3000,100,1001,exit,[unknown] 0x100100,0x100100,,,,,1,unwound\n"
                                      "3000,100,1001,exit,[unknown] 0x100000,0x100000,,,,,0,\n"));
}

// A thread whose recording began in a call and ended in another: nothing is hidden, and all that is begun has its end.
TEST(Exports, UnbalancedCalls) {
  RecordingBuilder build;
  ThreadBuilder& thread = build.thread(build.process(100, 1, 1000), 1);
  thread.exit(kSampleCode, 1000);
  thread.enter(kSampleCode + 0x100, 2000);
  const Recording recording = build.open();
  const std::string chrome = exported(recording, export_chrome);
  EXPECT_THAT(chrome, testing::HasSubstr(R"("ph":"i","name":"exit without entry: )"));
  EXPECT_THAT(chrome, testing::HasSubstr(R"("dur":0.000,"args":{"end":"not left at the end"})"));
  const std::string csv = exported(recording, export_csv);
  EXPECT_THAT(csv, testing::HasSubstr("\n0,100,1001,exit,"));
  EXPECT_THAT(csv, testing::HasSubstr("\n1000,100,1001,enter,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);  // a line for each event, and no more
}

TEST(Exports, Speedscope) {
  RecordingBuilder build;
  EXPECT_EQ(exported(sample_recording(build), export_speedscope),
            R"x({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"penna","profiles":[
{"type":"evented","name":"program (pid 100), main (tid 1001)","unit":"nanoseconds","startValue":0,"events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":1000},{"type":"C","frame":1,"at":3000},{"type":"O","frame":1,"at":4000},{"type":"C","frame":1,"at":1000000},{"type":"C","frame":0,"at":1000000}],"endValue":1000000}],
"shared":{"frames":[
{"name":"main","file":"src/app.c","line":10},
{"name":"work(int)","file":"src/app.c","line":20}]}}
)x");
}

std::string folded(const Recording& recording, const FoldedOptions& options) {
  SampleSymbols symbols;
  Names names(recording, symbols);
  std::string text;
  const TextSink sink = [&](std::string_view piece) {
    text += piece;
    return true;
  };
  export_folded(recording, names, options, sink, [](uint64_t) {});
  return text;
}

TEST(Exports, Folded) {
  RecordingBuilder build;
  const Recording recording = sample_recording(build);
  EXPECT_EQ(folded(recording, {}), "main 2000\nmain;work(int) 998000\n");
  EXPECT_EQ(folded(recording, {FoldedWeight::kCalls, true}),
            "program (pid 100);main (tid 1001);main 1\nprogram (pid 100);main (tid 1001);main;work(int) 2\n");
  EXPECT_EQ(folded(recording, {FoldedWeight::kAllocBytes, false}),
            "main;work(int) 1000\nmain;work(int);grow;helper 2000064\n");
  EXPECT_EQ(folded(recording, {FoldedWeight::kAllocs, false}), "main;work(int) 1\nmain;work(int);grow;helper 2\n");
  EXPECT_EQ(folded(recording, {FoldedWeight::kWait, false}), "[unknown] 5000\ntake_lock 2700\n");
  EXPECT_EQ(folded(recording, {FoldedWeight::kWaitByHolder, false}), "[none: it was free] 100\n[unknown] 2600\n");
}

using Files = std::map<std::string, std::string>;

UftraceReport as_uftrace(const Recording& recording, Files& files) {
  SampleSymbols symbols;
  Names names(recording, symbols);
  const WriteFile write_file = [&](const std::string& name, const std::function<bool(const TextSink&)>& fill) {
    return fill([&, &text = files[name]](std::string_view piece) {
      text += piece;
      return true;
    });
  };
  return export_uftrace(recording, names, write_file, [] {});
}

TEST(Exports, Uftrace) {
  RecordingBuilder build;
  Files files;
  EXPECT_EQ(as_uftrace(sample_recording(build), files).too_deep, 0u);
  EXPECT_EQ(files["program.sym"],
            "# symbols: 3\n# path name: /bin/program\n0000000000000010 T main\n0000000000000020 T work(int)\n"
            "0000000000000030 ? __sym_end\n");
  EXPECT_EQ(files["task.txt"],
            "SESS timestamp=0.000001000 pid=100 sid=0000000000000001 exename=\"/bin/program\"\n"
            "TASK timestamp=0.000001000 tid=100 pid=100\nTASK timestamp=0.000001000 tid=1001 pid=100\n"
            "TASK timestamp=0.000004200 tid=1002 pid=100\n");
  ASSERT_EQ(files["1001.dat"].size(), 6u * 16);
  EXPECT_EQ(files.count("1002.dat"), 0u);
  uint64_t words[4];
  std::memcpy(words, files["1001.dat"].data(), sizeof words);
  EXPECT_EQ(words[0], 1000u);
  EXPECT_EQ(words[1], uint64_t{0x400010} << 16 | 5 << 3);
  EXPECT_EQ(words[3], uint64_t{0x400020} << 16 | 1 << 6 | 5 << 3);
}

// uftrace shows no time for a call of length 0.
TEST(Exports, UftraceGivesEveryCallALength) {
  RecordingBuilder build;
  ThreadBuilder& one = build.thread(build.process(100), 1);
  one.enter(0x100000, 1000);
  one.enter(0x100100, 1000);
  one.exit(0x100100, 1000);
  one.exit(0x100000, 1000);
  one.enter(0x100100, 1000);  // open at the end: as an execve, which leaves no later event
  Files files;
  as_uftrace(build.open(), files);
  const std::string& records = files["1001.dat"];
  std::vector<uint64_t> times;
  for (size_t at = 0; at < records.size(); at += 16) std::memcpy(&times.emplace_back(), &records[at], 8);
  EXPECT_THAT(times, testing::ElementsAre(1000, 1000, 1001, 1001, 1001, 1002));
}

// A format of the heap of process 0; `write(recording, names, history, sink)`.
template <typename Write>
std::string exported_heap(const Recording& recording, Write&& write) {
  SampleSymbols symbols;
  Names names(recording, symbols);
  HeapChanges history(recording, [] {});
  std::string text;
  write(recording, names, history, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

// pprof takes the first mapping for the program, though a library may hold the first frame.
TEST(Exports, PprofMapsTheProgramFirst) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  Module library = sample_module();
  library.path = "/lib/libc.so.6";
  library.bias = library.start = 2 * kSampleCode;
  library.end = library.start + 0x10000;
  build.module(process, library);
  build.module(process, sample_module());
  const uint32_t stack = build.stack(process, 1, {library.start + 0x20, kSampleCode + 0x10});
  build.thread(process, 1).alloc(0x500000, 100, 10, stack);
  const std::string profile =
      exported_heap(build.open(), [](auto& of, auto& names, auto& history, const TextSink& sink) {
        export_pprof(of, names, history.allocations(), sink);
      });
  constexpr protozero::pbf_tag_type kMapping = 3, kFileName = 5, kStringTable = 6;
  std::vector<uint64_t> files;
  std::vector<std::string> strings;
  for (protozero::pbf_reader fields(profile); fields.next();) {
    if (fields.tag() == kStringTable) {
      strings.push_back(fields.get_string());
    } else if (fields.tag() == kMapping) {
      protozero::pbf_reader mapping = fields.get_message();
      files.push_back(mapping.next(kFileName) ? mapping.get_uint64() : 0);
    } else {
      fields.skip();
    }
  }
  EXPECT_THAT((std::vector{strings.at(files.at(0)), strings.at(files.at(1))}),
              testing::ElementsAre("/bin/program", "/lib/libc.so.6"));
}

// Frees that say where they happened are frees (record --free-stacks), also those that a realloc took back.
TEST(Exports, FreesWithStacksEndBlocks) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& thread = build.thread(process, 1);
  thread.alloc(0x1000, 100, 10);
  thread.free_stack(0x1000, 20, 2);
  thread.alloc(0x2000, 50, 30);
  thread.free_stack(0x2000, 40, 2, PENNA_FAMILY_REALLOC);
  thread.realloc_failed(0x2000, 50);
  thread.alloc(0x3000, 7, 60);
  const Recording recording = build.open();
  HeapChanges changes(recording, [] {});
  std::vector<std::string> told;
  changes.for_each(process, [&](const HeapChange& change) {
    told.push_back(fmt::format("{} {:x} {}", change.is_free ? "free" : "alloc", change.address, change.size));
    return true;
  });
  EXPECT_EQ(told, (std::vector<std::string>{"alloc 1000 100", "free 1000 100", "alloc 2000 50", "alloc 3000 7"}));
  EXPECT_EQ(changes.sums(process).peak, changes.allocations().processes()[process].peak_bytes);
}

TEST(Exports, Heaptrack) {
  RecordingBuilder build;
  EXPECT_EQ(exported_heap(sample_recording(build),
                          [](auto& recording, auto& names, auto& history, const TextSink& sink) {
                            EXPECT_EQ(export_heaptrack(recording, names, history, 0, sink).not_temporary, 0u);
                          }),
            R"(v 10400 3
X program
I 1000 0
a 0 0
s c /bin/program
s 4 main
s 9 src/app.c
i 100010 1 2 3 a
t 1 0
s 9 work(int)
i 100120 1 4 3 14
t 2 1
a 3e8 2
t 1 0
i 100130 1 4 3 14
t 3 3
s 6 helper
s c src/helper.h
s 4 grow
i 100220 1 5 6 5 7 3 1e
t 4 4
a 40 5
+ 1
+ 2
a 1e8480 5
- 2
+ 3
c 1
)");
}

// Two threads, each with a temporary block, interleaved: both are known as such, but over the peak, where what is live is there.
TEST(Exports, HeaptrackOfThreads) {
  RecordingBuilder build;
  const uint32_t process = build.process(100, 1, 1000);
  ThreadBuilder &first = build.thread(process, 1), &second = build.thread(process, 2);
  const auto both = [&](uint64_t time, uint32_t size) {
    first.alloc(0x500000, size, time, 0);
    second.alloc(0x600000, size, time + 10, 0);
    first.free(0x500000, time + 20);
    second.free(0x600000, time + 30);
  };
  both(2000, 10);
  both(3000, 20);  // the peak
  both(4000, 10);
  const std::string text =
      exported_heap(build.open(), [](auto& recording, auto& names, auto& history, const TextSink& sink) {
        EXPECT_EQ(export_heaptrack(recording, names, history, 0, sink).not_temporary, 1u);
      });
  EXPECT_THAT(text, testing::EndsWith("+ 1\n- 1\n+ 1\na 14 1\n- 1\n+ 2\n+ 2\n- 2\n- 2\n+ 1\n- 1\n+ 1\n- 1\n"));
}

TEST(Exports, Massif) {
  RecordingBuilder build;
  const std::string text =
      exported_heap(sample_recording(build), [](auto& recording, auto& names, auto& history, const TextSink& sink) {
        export_massif(recording, names, history, 0, sink);
      });
  EXPECT_THAT(text, testing::StartsWith("desc: penna\ncmd: program\ntime_unit: B\n#-----------\nsnapshot=0\n"));
  EXPECT_THAT(text, testing::HasSubstr(
                        "time=2001128\nmem_heap_B=2001000\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=peak\n"
                        "n2: 2001000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
                        " n1: 2000000 0x100220: helper (helper.h:5)\n  n1: 2000000 0x100220: grow (app.c:30)\n"
                        "   n1: 2000000 0x100130: work(int) (app.c:20)\n    n0: 2000000 0x100010: main (app.c:10)\n"
                        " n0: 1000 in 1 place, below massif's threshold (1.00%)\n"));
}

TEST(Exports, RtraceAndLibleaks) {
  RecordingBuilder build;
  const Recording recording = sample_recording(build);
  const std::string text = exported_heap(recording, [](auto& of, auto& names, auto& history, const TextSink& sink) {
    export_rtrace(of, names, history, 0, sink, {.depth = 2, .stacks_of_sizes = {64}});
  });
  EXPECT_THAT(text,
              testing::HasSubstr("\n: /bin/program => 0x100000-0x110000\n"
                                 "0. [00:00:00.000] malloc(1000) = 0x500000\n\t$tid = 1001\n\n"
                                 "1. [00:00:00.000] calloc(64) = 0x510000\n\t$tid = 1001\n"
                                 "\t0x100220 in helper at src/helper.h:5\n\t0x100130 in work(int) at src/app.c:20\n\n"
                                 "2. [00:00:00.000] free(0x510000)\n\t$tid = 1001\n\n"
                                 "3. [00:00:00.000] malloc(2000000) = 0x520000\n\t$tid = 1001\n\n"));
  EXPECT_EQ(exported_heap(recording,
                          [](auto& of, auto& names, auto& history, const TextSink& sink) {
                            const LibleaksReport done =
                                export_libleaks_trace(of, names, history, 0, sink, {.begin = 2150});
                            EXPECT_EQ(done.blocks, 1u);
                          }),
            "information about 1 allocations\n0. block at 0x520000 with size 2000000\n"
            "   grow+0x20 [0x100220]\n   work(int)+0x30 [0x100130]\n   main+0x10 [0x100010]\n");
}

TEST(Exports, RtraceHasTheStacksOfFrees) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  const uint32_t made = build.stack(process, 1, {0x100}), freed = build.stack(process, 2, {0x200});
  ThreadBuilder& thread = build.thread(process, 1);
  thread.alloc(0x5000, 8, 10, made);
  thread.free_stack(0x5000, 20, freed);
  EXPECT_THAT(exported_heap(build.open(), [](auto& of, auto& names, auto& history,
                                             const TextSink& sink) { export_rtrace(of, names, history, 0, sink); }),
              testing::HasSubstr(" malloc(8) = 0x5000\n\t0x100\n\n1. [00:00:00.000] free(0x5000)\n\t0x200\n\n"));
}

// Whatever a recording holds: no crash, and the same numbers of beginnings and ends.
TEST(Exports, RecordsThatNoAgentWrites) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    RecordingBuilder build;
    const uint32_t first = build.process(100), second = build.process(200, 100, 300);
    for (uint32_t process : {first, second})
      for (uint32_t serial : {1, 2, 3}) fill_at_random(build.thread(process, serial), random);
    const Recording recording = build.open();
    for (Export write : {Export{export_csv}, Export{export_chrome}, Export{export_perfetto}})
      EXPECT_FALSE(exported(recording, write).empty());
    const std::string profile = exported(recording, export_speedscope);
    const auto count = [&](std::string_view part) {
      size_t found = 0;
      for (size_t at = profile.find(part); at != std::string::npos; at = profile.find(part, at + 1)) ++found;
      return found;
    };
    EXPECT_EQ(count(R"("type":"O")"), count(R"("type":"C")"));
    for (FoldedWeight weight :
         {FoldedWeight::kTime, FoldedWeight::kAllocBytes, FoldedWeight::kWait, FoldedWeight::kPeak})
      for (bool threads : {false, true}) (void)folded(recording, {weight, threads});
    EXPECT_FALSE(exported_heap(recording, [](auto& of, auto& names, auto& history, const TextSink& sink) {
                   for (uint32_t process = 0; process < of.processes().size(); ++process) {
                     export_heaptrack(of, names, history, process, sink);
                     export_massif(of, names, history, process, sink);
                     export_rtrace(of, names, history, process, sink);
                     export_libleaks_trace(of, names, history, process, sink);
                   }
                   export_pprof(of, names, history.allocations(), sink);
                 }).empty());
    Files files;
    (void)as_uftrace(recording, files);
    for (const auto& [name, text] : files)
      EXPECT_TRUE(name.find(".dat") == std::string::npos || text.size() % 32 == 0) << name;
  }
}

TEST(Exports, StopWhenNobodyReads) {
  RecordingBuilder build;
  const Recording recording = sample_recording(build);
  for (Export write : {Export{export_csv}, Export{export_chrome}, Export{export_perfetto}, Export{export_speedscope}}) {
    SampleSymbols symbols;
    Names names(recording, symbols);
    WalkReport walk;
    EXPECT_FALSE(write(
        recording, names, [](std::string_view) { return false; }, [] {}, &walk));
  }
}

}  // namespace
}  // namespace penna::exports_test
