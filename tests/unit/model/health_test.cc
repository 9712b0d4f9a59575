// SPDX-License-Identifier: MIT
// Summary and HealthReport: totals add up, and every problem is reported.
#include "model/verdict/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/blocks/allocations.h"
#include "model/calls/calls.h"
#include "model/events/points.h"
#include "model/locks/locks.h"
#include "recording_builder.h"

namespace penna::health_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

auto says(const std::string& text) { return Contains(Field(&HealthSentence::text, HasSubstr(text))); }
HealthReport examine_only(const Recording& recording) { return examine(recording, summarize(recording), {}); }

TEST(Summary, AddsUpThreadsAndProcesses) {
  RecordingBuilder build;
  const uint32_t first = build.process(100, 1, 5), second = build.process(200, 100, 50);
  const uint32_t third = build.process(200, 100, 80, true);
  auto& a = build.thread(first, 1);
  a.enter(0x1000, 10);
  a.exit(0x1000, 20);
  a.alloc(0xa0, 8, 30);
  build.thread(first, 2).lock(0x50, 25);
  build.thread(second, 1).point(1, 60);
  ProcessEnd end;
  end.number = second;
  end.end_ticks = 75;
  end.how = EndKind::kExec;
  build.end(end);
  end.number = third;
  end.end_ticks = 90;
  end.how = EndKind::kSignaled;
  end.code = 11;
  build.end(end);
  Recording recording = build.open();
  const Summary summary = summarize(recording);
  EXPECT_THAT(summary.events, ElementsAre(2, 1, 1, 1));
  EXPECT_EQ(summary.total_events(), 5u);
  EXPECT_EQ(summary.total_lost(), 0u);
  EXPECT_EQ(summary.first_time, 5u);
  EXPECT_EQ(summary.last_time, 90u);
  EXPECT_EQ(summary.duration_ns, 85);
  ASSERT_EQ(summary.processes.size(), 3u);
  EXPECT_EQ(summary.processes[0].parent, UINT32_MAX);
  EXPECT_EQ(summary.processes[1].parent, 0u);
  EXPECT_EQ(summary.processes[2].parent, 1u);
  EXPECT_EQ(summary.processes[0].end_text, "unknown");
  EXPECT_EQ(summary.processes[1].end_text, "became another program");
  EXPECT_EQ(summary.processes[2].end_text, "killed by SIGSEGV");
  EXPECT_EQ(summary.processes[0].name, "program");
  EXPECT_THAT(summary.processes[0].events, ElementsAre(2, 1, 1, 0));
  EXPECT_EQ(summary.processes[1].last_time, 75u);
  EXPECT_EQ(summary.threads[0].first_time, 10u);
  EXPECT_EQ(summary.threads[0].last_time, 30u);
  EXPECT_EQ(summary.threads[0].total_events(), 3u);
}

// Five calls, of which one has ended, are five. A file with other chunks than were counted has the same share of
// entries; where nobody counted, as many calls are assumed to have ended as began.
TEST(Summary, CallsAreEntries) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  for (uint32_t serial = 1; serial <= 4; ++serial) {
    ThreadBuilder& thread = build.thread(process, serial);
    for (uint64_t time = 1; time <= 5; ++time) thread.enter(0x1000, time);
    thread.exit(0x1000, 6);
    Health health;
    health.thread_serial = serial;
    health.stored[PENNA_CALLS] = serial == 2 ? 12 : 6;
    if (serial != 3) health.call_entries = serial == 2 ? 10 : 5;
    if (serial != 4) build.health(process, health);
  }
  const Recording recording = build.open();
  const Summary summary = summarize(recording);
  std::vector<uint64_t> calls;
  for (const ThreadSummary& thread : summary.threads) calls.push_back(thread.calls);
  EXPECT_THAT(calls, ElementsAre(5, 5, 3, 3));
  EXPECT_EQ(summary.processes[0].calls, 16u);
  EXPECT_EQ(events_text(summary.events, summary.calls), "16 calls");
}

// What no thread told of the time that a process waited may be any thread's: nothing is said of those that told nothing.
TEST(Summary, TimeThatNobodyToldIsNobodysZero) {
  RecordingBuilder build;
  const uint32_t told = build.process(100), untold = build.process(200);
  for (uint32_t process : {told, untold}) {
    build.thread(process, 1).enter(0x1000, 10);
    build.thread(process, 2).enter(0x1000, 10);
    Health whole, first, second;
    whole.blocked_ticks = process == told ? 30 : 100;
    first.thread_serial = 1;
    first.blocked_ticks = 30;
    second.thread_serial = 2;
    for (const Health& health : {whole, first, second}) build.health(process, health);
  }
  const Recording recording = build.open();
  const Summary summary = summarize(recording);
  std::vector<bool> known;
  for (const ThreadSummary& thread : summary.threads) known.push_back(thread.blocked_known);
  EXPECT_THAT(known, ElementsAre(true, true, true, false));
}

TEST(Summary, ProcessesAreCalledWhatTheyWereStartedAs) {
  const auto name = [](const std::string& executable, const std::vector<std::string>& command) {
    Process process;
    process.executable = executable;
    process.command = command;
    return process_name(process);
  };
  EXPECT_EQ(name("/usr/bin/redis-check-rdb", {"redis-server", "--port", "0"}), "redis-server");
  EXPECT_EQ(name("/usr/bin/dash", {"/bin/sh", "-c", "x"}), "sh");
  EXPECT_EQ(name("/usr/bin/bash", {"-bash"}), "bash");
  EXPECT_EQ(name("/usr/sbin/nginx", {"nginx: worker process"}), "nginx");
  EXPECT_EQ(name("/usr/bin/redis-check-rdb", {"/usr/bin/redis-server unixsocket:/run/redis.sock"}), "redis-check-rdb");
  EXPECT_EQ(name("/usr/sbin/nginx", {"nginx: master process /usr/sbin/nginx -g x"}), "nginx");
  EXPECT_EQ(name("/usr/bin/app", {}), "app");
  EXPECT_EQ(name("/usr/bin/app", {""}), "app");
  EXPECT_EQ(name("/usr/bin/app", {"./folder/"}), "app");
  EXPECT_EQ(name("", {}), "");
}

// A process that was forked before its parent ran an exec, and heard of after.
TEST(Summary, AForkThatIsHeardOfLateBelongsToTheOldProgram) {
  RecordingBuilder build;
  build.process(100, 1, 10);
  build.process(100, 1, 50, true);
  build.process(200, 100, 40);
  build.process(300, 100, 60);
  Recording recording = build.open();
  EXPECT_THAT(process_parents(recording), ElementsAre(UINT32_MAX, 0u, 0u, 1u));
}

TEST(Health, WithoutTroubleThereIsNothingToSay) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.thread(process, 1).enter(0x1000, 10);
  build.thread(process, 1).exit(0x1000, 20);
  ProcessEnd end;
  end.number = process;
  end.how = EndKind::kExited;
  build.end(end);
  Recording recording = build.open();
  const HealthReport report = examine_only(recording);
  EXPECT_TRUE(report.good()) << report.sentences[0].text;
  EXPECT_EQ(report.worst(), Severity::kNote);
}

TEST(Health, TellsWhatTheTargetLost) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.thread(process, 1).enter(0x1000, 10);
  Health health;
  health.thread_serial = 1;
  health.lost = {7, 0, 0, 0};  // as its LOST records say
  health.holes = 2;
  health.unknown = 1;
  health.blocked_ticks = 1'000'000;
  build.health(process, health);
  ProcessEnd end;
  end.number = process;
  end.counters.lost[0] = 110;  // more than the thread could tell
  end.counters.lost_for[PENNA_LOSS_PAIRS] = 40;
  end.counters.lost_for[PENNA_LOSS_SHAPE] = 50;
  end.counters.lost_for[PENNA_LOSS_UNWOUND] = 10;
  end.counters.lost_for[PENNA_LOSS_POOLS] = 2;
  end.counters.lost_for[PENNA_LOSS_SAMPLED] = 2;
  end.counters.lost[1] = 4;
  end.counters.in_handler = 1;
  end.counters.blocked_ticks = 2'500'000;
  end.counters.stacks_truncated[PENNA_STACK_NO_RULE] = 3;
  end.counters.stacks_truncated[PENNA_STACK_DEPTH_LIMIT] = 1;
  end.counters.stack_tree_full = 6;
  end.counters.sites_refused = 1;
  end.counters.functions_patched = 12;
  end.counters.functions_refused = 2;
  end.counters.modules_unknown = 9;
  end.counters.clock_forbidden = 1;
  end.counters.calls_forbidden = 1;
  end.counters.unfollowed = 2;
  build.end(end);
  Recording recording = build.open();
  const HealthReport report = examine_only(recording);
  EXPECT_THAT(report.lost, ElementsAre(110, 4, 0, 0));
  EXPECT_THAT(report.sentences, says("Lost: 5 calls, as threads held all of the pool's memory"));
  EXPECT_THAT(report.sentences, says("Lost: 20 calls, as there were more caller/function pairs than"));
  EXPECT_THAT(report.sentences, says("Lost: 25 calls, as the code of their functions does not show where"));
  EXPECT_THAT(report.sentences, says("Lost: 5 calls, whose ends were not seen: an exception left them"));
  EXPECT_THAT(report.sentences, says("Lost: 2 allocation events, as they were in more memory pools"));
  EXPECT_THAT(report.sentences, says("Lost: 2 allocation events, as more sampled blocks were live"));
  EXPECT_THAT(report.sentences, says("1 event of what was lost came in signal handlers"));
  EXPECT_THAT(report.sentences, says("2 records were reserved and never written"));
  EXPECT_THAT(report.sentences, says("1 record is of a kind that this penna does not know"));
  EXPECT_THAT(report.sentences, says("waited 2.500 ms"));
  EXPECT_THAT(report.sentences, says("3 stacks end short, in code without unwind information"));
  EXPECT_THAT(report.sentences, says("1 stack was deeper"));
  EXPECT_THAT(report.sentences, says("6 stacks were not kept"));
  EXPECT_THAT(report.sentences, says("1 point could not be armed"));
  EXPECT_THAT(report.sentences, says("1 process forbade itself to read the clock"));
  EXPECT_THAT(report.sentences, says("1 process forbade itself system calls that recording needs"));
  EXPECT_THAT(report.sentences, says("2 programs and forked processes were not recorded"));
  EXPECT_THAT(report.sentences, says("2 functions could not be patched"));
  EXPECT_EQ(report.target.functions_patched, 12u);
  EXPECT_THAT(report.sentences, says("9 code addresses lay in no known file"));
  EXPECT_EQ(report.sentences.front().severity, Severity::kError);
  EXPECT_EQ(report.worst(), Severity::kError);
}

// Symbols of which only the entry is known, at 0xe00.
class EntrySymbols : public SymbolSource {
 public:
  std::vector<SourceFrame> code(const NamedFile&, uint64_t) override { return {}; }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t) override { return std::nullopt; }
  bool is_entry(const NamedFile&, uint64_t address) override { return address >> 8 == 0xe; }
  std::string problem(const NamedFile&) override { return ""; }
};

// A process that made `walks` walks which met no rule, with these outermost frames.
uint32_t process_without_rules(RecordingBuilder& build, uint32_t pid, uint64_t walks,
                               const std::vector<uint64_t>& ends) {
  const uint32_t process = build.process(pid);
  Module module;
  module.path = "/lib/libfoo.so";
  module.bias = module.start = 0x100000;
  module.end = 0x110000;
  build.module(process, module);
  for (uint32_t i = 0; i < ends.size(); ++i)
    build.stack(process, 1 + 2 * i, {0x100300, 0x100000 + ends[i]}, PENNA_STACK_NO_RULE);
  build.stack(process, 101, {0x100300, 0x100110});
  ProcessEnd end;
  end.number = process;
  end.counters.stacks_truncated[PENNA_STACK_NO_RULE] = walks;
  build.end(end);
  return process;
}

HealthReport examine_with_names(RecordingBuilder& build) {
  const Recording recording = build.open();
  EntrySymbols symbols;
  Names names(recording, symbols);
  HealthInputs inputs;
  inputs.names = &names;
  return examine(recording, summarize(recording), inputs);
}

TEST(Health, StacksThatEndWhereTheProcessBeganAreNotShort) {
  RecordingBuilder build;
  process_without_rules(build, 100, 7, {0xe20, 0xe48});
  const HealthReport report = examine_with_names(build);
  EXPECT_EQ(report.truncated_stacks[PENNA_STACK_NO_RULE], 0u);
  EXPECT_FALSE(report.no_rule_at_most);
  EXPECT_THAT(report.sentences, Not(says("short")));
}

TEST(Health, ShortStacksSayWhereTheyEnd) {
  RecordingBuilder build;
  process_without_rules(build, 100, 7, {0xe20});
  process_without_rules(build, 101, 5, {0x200, 0x220});
  const HealthReport report = examine_with_names(build);
  EXPECT_EQ(report.truncated_stacks[PENNA_STACK_NO_RULE], 5u);
  EXPECT_THAT(report.sentences, says("5 stacks end short, in code without unwind information (libfoo.so): build it"));
}

TEST(Health, ShortStacksGetTheirOwnAdvice) {
  RecordingBuilder build;
  process_without_rules(build, 101, 5, {0x200, 0x100200});
  const HealthReport report = examine_with_names(build);
  EXPECT_THAT(report.sentences, says("(generated code, libfoo.so): build the files with -fasynchronous-unwind-tables"));
}

// The target counts walks, whatever they ended in: with both kinds of end no more can be said.
TEST(Health, ShortStacksAmongCompleteOnesAreAnUpperBound) {
  RecordingBuilder build;
  process_without_rules(build, 100, 7, {0xe20, 0x100200});
  const HealthReport report = examine_with_names(build);
  EXPECT_EQ(report.truncated_stacks[PENNA_STACK_NO_RULE], 7u);
  EXPECT_TRUE(report.no_rule_at_most);
  EXPECT_THAT(report.sentences, says("Up to 7 stacks end short, in code without unwind information (generated code): "
                                     "the run-time code generator "));
  EXPECT_THAT(report.sentences, Not(says("-fasynchronous-unwind-tables")))
      << "generated code cannot be rebuilt with that option";
}

TEST(Health, TellsWhatIsMissingFromTheFile) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(0x1000, 10);
  thread.skip_chunk();
  thread.enter(0x1000, 20);
  thread.torn(21);
  Recording recording = build.open(false);
  const HealthReport report = examine_only(recording);
  EXPECT_FALSE(report.finished);
  EXPECT_EQ(report.missing_chunks, 1u);
  EXPECT_EQ(report.recorder.torn, 1u);
  EXPECT_THAT(report.sentences, says("was not finished"));
  EXPECT_THAT(report.sentences, says("1 chunk of events is missing from the file"));
}

TEST(Health, TellsWhatTheAnalysesCouldNotMatch) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& thread = build.thread(process, 1);
  thread.enter(0x1000, 1);
  thread.enter(0x2000, 2);
  thread.exit(0x1000, 3);
  thread.exit(0x3000, 4);
  thread.free(0xa0, 5);
  thread.alloc(0xb0, 8, 6, 0);
  thread.alloc(0xb0, 8, 7, 0);
  thread.unlock(0x50, 8);
  thread.lock(0x51, 9);
  build.thread(process, 2).lock(0x51, 10);
  thread.point(5, 11);
  Recording recording = build.open();
  CodeMap map(recording);
  Calls calls(recording, map);
  Allocations heap(recording);
  Locks locks(recording);
  Points points(recording);
  const WalkReport walk = for_each_event(recording, {}, [&](const Event& event) {
    calls(event);
    heap(event);
    locks(event);
    points(event);
  });
  calls.finish();
  locks.finish();
  const HealthReport report =
      examine(recording, summarize(recording),
              {.walk = &walk, .calls = &calls, .allocations = &heap, .locks = &locks, .points = &points});
  EXPECT_THAT(report.sentences, says("1 function exit without a matching entry"));
  EXPECT_THAT(report.sentences, says("1 call ended with an outer function"));
  EXPECT_THAT(report.sentences, says("1 freed block had been allocated before"));
  EXPECT_THAT(report.sentences, says("1 block was allocated at the address"));
  EXPECT_THAT(report.sentences, says("2 allocations have no stack"));
  EXPECT_THAT(report.sentences, says("1 lock was released by a thread that had not acquired it"));
  EXPECT_THAT(report.sentences, says("1 lock was taken while another thread"));
  EXPECT_THAT(report.sentences, says("1 point hit is not described"));
  EXPECT_THAT(examine_only(recording).sentences, Not(says("freed block")));
}

TEST(Health, PassesOnTheNotesOfTheRecorder) {
  RecordingBuilder build;
  build.process(100);
  CollectorHealth collector;
  collector.notes = {"/bin/su was not recorded: it is setuid."};
  collector.refused_channels = 2;
  ASSERT_TRUE(build.writer().write_collector(collector));
  Recording recording = build.open();
  const HealthReport report = examine_only(recording);
  EXPECT_THAT(report.sentences, says("/bin/su was not recorded"));
  EXPECT_THAT(report.sentences, says("2 processes were not recorded"));
  EXPECT_FALSE(report.good());
}

TEST(Health, AHalfOfAnAllocatorIsTrouble) {
  RecordingBuilder build;
  ProcessEnd end;
  end.number = build.process(100);
  end.how = EndKind::kExited;
  build.end(end);
  CollectorHealth collector;
  collector.notes = {"one", "two"};
  collector.missed_by_notes = {1u << PENNA_ALLOC, 1u << PENNA_ALLOC | kNoteOfHalf};
  ASSERT_TRUE(build.writer().write_collector(collector));
  Recording recording = build.open();
  const HealthReport report = examine_only(recording);
  ASSERT_EQ(report.missed_by_notes, collector.missed_by_notes);
  ASSERT_EQ(report.sentences.size(), 2u);
  EXPECT_EQ(report.sentences[0].text, "two");
  EXPECT_EQ(report.sentences[0].severity, Severity::kWarning);
  EXPECT_EQ(report.sentences[1].severity, Severity::kNote);
}

TEST(Health, WhatIsWorthKnowingIsNoTrouble) {
  RecordingBuilder build;
  ProcessEnd end;
  end.number = build.process(100);
  end.how = EndKind::kExited;
  build.end(end);
  CollectorHealth collector;
  collector.notes = {"calls of f are not recorded: it returns in its first instructions"};
  ASSERT_TRUE(build.writer().write_collector(collector));
  Recording recording = build.open();
  const HealthReport report = examine_only(recording);
  EXPECT_THAT(report.sentences, says("calls of f are not recorded"));
  EXPECT_TRUE(report.good());
}

}  // namespace
}  // namespace penna::health_test
