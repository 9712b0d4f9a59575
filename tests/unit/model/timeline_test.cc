// SPDX-License-Identifier: MIT
// Timeline: nested lines, written out as text and compared whole.
#include "model/timeline/timeline.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording_builder.h"

namespace penna::timeline_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kF = 0xf0, kG = 0x60, kH = 0x10;

std::string text(const TimelineLine& line) {
  const std::string indent(line.depth * 2, ' ');
  const std::string took = fmt::format("{}..{}", line.begin, line.time);
  switch (line.kind) {
    case LineKind::kEnter: return fmt::format("{}{:x} {{ @{}", indent, line.pc, line.time);
    case LineKind::kLeave:
      return fmt::format("{}}} {:x} {} {}{}", indent, line.pc, took, line.duration,
                         line.end == CallEnd::kUnwound ? " unwound"
                         : line.end == CallEnd::kOpen  ? " open"
                                                       : "");
    case LineKind::kLeaf: return fmt::format("{}{:x}() {} {}", indent, line.pc, took, line.duration);
    case LineKind::kStrayExit: return fmt::format("{}stray {:x} @{}", indent, line.pc + line.site, line.time);
    case LineKind::kSpanBegin:
      return fmt::format("{}span {} {} {{ @{}", indent, line.site, line.record->after<penna_point>().size(), line.time);
    case LineKind::kSpanEnd:
      return fmt::format("{}}} span {} {} {}{}", indent, line.site, took, line.duration,
                         line.end == CallEnd::kUnwound ? " unwound"
                         : line.end == CallEnd::kOpen  ? " open"
                                                       : "");
    case LineKind::kAllocation:
      return fmt::format("{}alloc {:x} {} family {} stack {}", indent, line.address, line.size, line.family,
                         line.stack);
    case LineKind::kFree: return fmt::format("{}free {:x}", indent, line.address);
    case LineKind::kMap: return fmt::format("{}map {:x} {}", indent, line.address, line.size);
    case LineKind::kUnmap: return fmt::format("{}unmap {:x} {}", indent, line.address, line.size);
    case LineKind::kPoolAllocation: return fmt::format("{}pool {:x} {}", indent, line.address, line.size);
    case LineKind::kPoolFree: return fmt::format("{}pool free {:x}", indent, line.address);
    case LineKind::kReallocFailed: return fmt::format("{}realloc failed {:x}", indent, line.address);
    case LineKind::kLock: return fmt::format("{}lock {:x}", indent, line.lock);
    case LineKind::kLockWait:
      return fmt::format("{}wait {:x} {} {} by {}", indent, line.lock, took, line.duration, line.owner);
    case LineKind::kLockRequest: return fmt::format("{}request {:x} by {}", indent, line.lock, line.owner);
    case LineKind::kOpenWait:
      return fmt::format("{}still waits {:x} sync {} {} {}", indent, line.lock, static_cast<int>(line.sync), took,
                         line.duration);
    case LineKind::kWake:
      return fmt::format("{}wake {:x} sync {} most {}", indent, line.lock, static_cast<int>(line.sync), line.size);
    case LineKind::kLockMade: return fmt::format("{}made {:x} stack {}", indent, line.lock, line.stack);
    case LineKind::kLockGone: return fmt::format("{}gone {:x}", indent, line.lock);
    case LineKind::kLockBusy: return fmt::format("{}busy {:x}", indent, line.lock);
    case LineKind::kUnlock: return fmt::format("{}unlock {:x} held {}", indent, line.lock, line.duration);
    case LineKind::kConditionWait:
      return fmt::format("{}condition {:x} {:x} {} {}", indent, line.address, line.lock, took, line.wait_end);
    case LineKind::kPoint:
      return fmt::format("{}point {} {}", indent, line.site, line.record->after<penna_point>().size());
    case LineKind::kThreadName: return fmt::format("{}name {}", indent, decode_thread_name(*line.record));
    case LineKind::kLost: return fmt::format("{}lost {}", indent, line.record->as<penna_lost>().count[0]);
    case LineKind::kBlocked: return fmt::format("{}blocked {}", indent, took);
  }
  return "?";
}

std::vector<std::string> lines_of(const Recording& recording, uint32_t thread, const TimelineOptions& options = {}) {
  std::vector<std::string> lines;
  for_each_timeline_line(recording, thread, options, [&](const TimelineLine& line) {
    EXPECT_EQ(line.thread, thread);
    lines.push_back(text(line));
    return true;
  });
  return lines;
}

TEST(Timeline, NestsCallsAndFoldsLeaves) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  t.enter(kF, 0);
  t.enter(kG, 10);
  t.exit(kG, 12);
  t.enter(kG, 20);
  t.enter(kH, 21);
  t.exit(kH, 25);
  t.exit(kG, 30);
  t.exit(kF, 40);
  Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0), ElementsAre("f0 { @0", "  60() 10..12 2", "  60 { @20", "    10() 21..25 4",
                                                  "  } 60 20..30 10", "} f0 0..40 40"));
  EXPECT_THAT(lines_of(recording, 0, {.fold_leaves = false}),
              ElementsAre("f0 { @0", "  60 { @10", "  } 60 10..12 2", "  60 { @20", "    10 { @21", "    } 10 21..25 4",
                          "  } 60 20..30 10", "} f0 0..40 40"));
}

Site values_site(uint32_t id, uint8_t kind, uint64_t function) {
  Site site{id, 4, function, "call", "f", "f.c", {{PENNA_ARG_INT, "n"}}, kind};
  return site;
}

// "f(3) = 4" of lines that have them.
TEST(Timeline, ACallsStackIsNotOneOfItsValues) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  const uint32_t stack = build.stack(process, 1, {0x10, 0x20});
  Site both = values_site(1, PENNA_SITE_ARGUMENTS, kF), alone = values_site(2, PENNA_SITE_ARGUMENTS, kG);
  both.arguments.insert(both.arguments.begin(), {PENNA_ARG_UINT, "stack", "stack"});
  alone.arguments = {{PENNA_ARG_UINT, "stack", "stack"}};
  build.site(process, both);
  build.site(process, alone);
  auto& t = build.thread(process, 1);
  t.enter(kF, 0);
  t.name("worker", 0);  // as the first chunk of a thread begins
  t.values(1, false, 1, {stack, 7});
  t.enter(kG, 2);
  t.values(2, false, 3, {stack});
  t.exit(kG, 4);
  t.enter(kF, 5);
  t.values(1, false, 6, {});  // too short: nothing is made up
  t.exit(kF, 7);
  t.exit(kF, 8);
  const Recording recording = build.open();
  std::vector<std::string> lines;
  for_each_timeline_line(recording, 0, TimelineOptions{}, [&](const TimelineLine& line) {
    lines.push_back(fmt::format("{} {:x} depth {} stack {}{}", static_cast<int>(line.kind), line.pc, line.depth,
                                line.stack, line.arguments != nullptr ? " and more" : ""));
    return true;
  });
  const auto kind = [](LineKind of) { return static_cast<int>(of); };
  EXPECT_THAT(lines, ElementsAre(fmt::format("{} 0 depth 0 stack 0", kind(LineKind::kThreadName)),
                                 fmt::format("{} {:x} depth 0 stack {} and more", kind(LineKind::kEnter), kF, stack),
                                 fmt::format("{} {:x} depth 1 stack {}", kind(LineKind::kLeaf), kG, stack),
                                 fmt::format("{} {:x} depth 1 stack 0 and more", kind(LineKind::kLeaf), kF),
                                 fmt::format("{} {:x} depth 0 stack {} and more", kind(LineKind::kLeave), kF, stack)));
}

std::vector<std::string> values_of(const Recording& recording, bool fold) {
  std::vector<std::string> lines;
  DecodedPoint decoded;
  const auto number = [&](const Record* record) {
    if (record == nullptr) return std::string("-");
    decode_arguments(recording.site(0, record->as<penna_values>().site), *record, decoded);
    return argument_text(decoded.values[0]);
  };
  for_each_timeline_line(recording, 0, {.fold_leaves = fold}, [&](const TimelineLine& line) {
    lines.push_back(fmt::format("{} {}({}) = {}",
                                "{};"[line.kind == LineKind::kEnter   ? 0
                                      : line.kind == LineKind::kLeave ? 1
                                                                      : 2],
                                line.pc - kF, number(line.arguments), number(line.result)));
    if (line.kind == LineKind::kPoint) lines.back() = "point";
    return true;
  });
  return lines;
}

TEST(Timeline, ValuesBelongToTheirCalls) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.site(process, values_site(1, PENNA_SITE_ARGUMENTS, kF));
  build.site(process, values_site(2, PENNA_SITE_RESULT, kF));
  auto& t = build.thread(process, 1);
  t.enter(kF, 0);
  t.values(1, false, 1, {7});
  t.enter(kF, 2);
  t.values(1, false, 3, {8}, 1);
  t.values(2, true, 4, {9});
  t.exit(kF, 5);
  t.values(1, false, 6, {10});  // of nothing: as a point
  t.values(3, false, 7, {10});  // nobody knows of what
  t.values(2, true, 8, {11});
  t.exit(kF, 9);
  t.enter(kF, 10);  // its values were lost
  t.exit(kF, 11);
  const Recording recording = build.open();
  EXPECT_THAT(values_of(recording, true),
              ElementsAre("{ 0(7) = -", "; 0(<bad 0x8>) = 9", "point", "point", "} 0(7) = 11", "; 0(-) = -"));
  EXPECT_THAT(values_of(recording, false), ElementsAre("{ 0(7) = -", "{ 0(<bad 0x8>) = -", "} 0(<bad 0x8>) = 9",
                                                       "point", "point", "} 0(7) = 11", "{ 0(-) = -", "} 0(-) = -"));
}

Site span_site(uint32_t id, const char* name, uint8_t kind) {
  Site site;
  site.id = id;
  site.provider = "app";
  site.name = name;
  site.kind = kind;
  return site;
}

// Sites 1 and 2 are the ends of one span, as where a template makes two of a source line; 5 and 6 are another span.
uint32_t process_with_spans(RecordingBuilder& build) {
  const uint32_t process = build.process(100);
  build.site(process, span_site(1, "outer", PENNA_SITE_SPAN));
  build.site(process, span_site(2, "outer", PENNA_SITE_SPAN_END));
  build.site(process, span_site(3, "outer", PENNA_SITE_SPAN));
  build.site(process, span_site(5, "inner", PENNA_SITE_SPAN));
  build.site(process, span_site(6, "inner", PENNA_SITE_SPAN_END));
  return process;
}

TEST(Timeline, SpansNestWithCalls) {
  RecordingBuilder build;
  auto& t = build.thread(process_with_spans(build), 1);
  t.enter(kF, 0);
  t.point(1, 1, {7});
  t.enter(kG, 2);
  t.point(5, 3);
  t.point(5, 4);  // recursion
  t.point(6, 5);
  t.point(6, 6);
  t.exit(kG, 7);
  t.point(2, 8);
  t.point(3, 9);
  t.point(2, 10);
  t.exit(kF, 11);
  Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0),
              ElementsAre("f0 { @0", "  span 1 8 { @1", "    60 { @2", "      span 5 0 { @3", "        span 5 0 { @4",
                          "        } span 5 4..5 1", "      } span 5 3..6 3", "    } 60 2..7 5", "  } span 1 1..8 7",
                          "  span 3 0 { @9", "  } span 3 9..10 1", "} f0 0..11 11"));
}

TEST(Timeline, UnendedSpansEndWithTheirOuterCall) {
  RecordingBuilder build;
  auto& t = build.thread(process_with_spans(build), 1);
  t.point(6, 0);  // begun before the recording
  t.enter(kF, 1);
  t.point(1, 2);
  t.enter(kG, 3);
  t.point(5, 4);  // longjmp from here to kF's caller ...
  t.exit(kF, 5);
  t.point(1, 6);
  t.enter(kG, 7);  // ... and from here into the span
  t.point(2, 8);
  t.point(5, 9);
  Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0),
              ElementsAre("stray 6 @0", "f0 { @1", "  span 1 0 { @2", "    60 { @3", "      span 5 0 { @4",
                          "      } span 5 4..5 1 unwound", "    } 60 3..5 2 unwound", "  } span 1 2..5 3 unwound",
                          "} f0 1..5 4", "span 1 0 { @6", "  60 { @7", "  } 60 7..8 1 unwound", "} span 1 6..8 2",
                          "span 5 0 { @9", "} span 5 9..9 0 open"));
}

// A pc that looks like a span's number is still a call.
TEST(Timeline, NoCallIsTakenForASpan) {
  RecordingBuilder build;
  auto& t = build.thread(process_with_spans(build), 1);
  t.record(PENNA_KIND_CALL_ENTRY, 1, penna_call{uint64_t{1} << 63});
  t.record(PENNA_KIND_CALL_EXIT, 2, penna_call{uint64_t{1} << 63});
  Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0), ElementsAre("0() 1..2 1"));
}

// A wait shorter than --min-wait ends as a plain acquisition: it is not open when the thread ends. Another lock taken
// meanwhile, in a signal handler, ends no wait.
TEST(Timeline, AShortWaitEndsAsAPlainAcquisition) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& t = build.thread(process, 1);
  const auto of = [](penna_sync sync, uint64_t address) { return ThreadBuilder::of_sync(sync, address); };
  t.lock_request(of(PENNA_SYNC_MUTEX, 0x70), 1, 5, 1002);
  t.lock_at(of(PENNA_SYNC_MUTEX, 0x70), 2, 5);
  t.unlock_at(of(PENNA_SYNC_MUTEX, 0x70), 3, 8);
  t.lock_request(of(PENNA_SYNC_WRITE, 0x80), 4, 5, 1002);
  t.lock_at(of(PENNA_SYNC_MUTEX, 0x90), 5, 5);
  Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0), ElementsAre("request 70 by 1002", "lock 70", "unlock 70 held 1",
                                                  "request 80 by 1002", "lock 90", HasSubstr("still waits 80 sync")));
}

// Made anew at the same address, while the old one was left held: that hold has no end, and is not the new one's.
TEST(Timeline, ALockThatIsMadeAnewIsAnother) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& t = build.thread(process, 1);
  const auto mutex = ThreadBuilder::of_sync(PENNA_SYNC_MUTEX, 0x70);
  t.lock_made(mutex, 1, 4);
  t.lock_at(mutex, 2, 5);
  t.lock_made(mutex, 50, 4);
  t.lock_at(mutex, 60, 5);
  t.unlock_at(mutex, 63, 8);
  Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0), Contains("unlock 70 held 3"));
}

// The record of a release carries the time before it, and follows the calls that it made.
TEST(Timeline, CallsWithinAReleaseDoNotLengthenTheHold) {
  RecordingBuilder build;
  ThreadBuilder& t = build.thread(build.process(100), 1);
  t.lock(0x70, 10);
  t.enter(0x100, 20);
  t.exit(0x100, 90);
  t.unlock(0x70, 15);
  const Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0), Contains("unlock 70 held 5"));
}

// Waits of every kind, inside the call that made them; one that never ended comes last, up to the end of its process.
TEST(Timeline, WaitsOfEveryKind) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& t = build.thread(process, 1);
  const auto of = [](penna_sync sync, uint64_t address) { return ThreadBuilder::of_sync(sync, address); };
  t.lock_made(of(PENNA_SYNC_SEMAPHORE, 0x70), 1, 4);
  t.enter(kF, 2);
  t.waited(of(PENNA_SYNC_SEMAPHORE, 0x70), 3, 5);
  t.unlock(of(PENNA_SYNC_SEMAPHORE, 0x70), 6);  // posted, not given back
  t.lock_at(of(PENNA_SYNC_WRITE, 0x80), 7, 9);
  t.unlock_at(of(PENNA_SYNC_WRITE, 0x80), 9, 8);
  t.wake(of(PENNA_SYNC_CONDITION, 0x90), 10, UINT32_MAX, 3);
  t.lock_gone(of(PENNA_SYNC_SEMAPHORE, 0x70), 11);
  t.lock_request(of(PENNA_SYNC_JOIN, 0x99), 12, 5, 1002);
  ProcessEnd end;
  end.number = process;
  end.end_ticks = 40;
  build.end(end);
  Recording recording = build.open();
  EXPECT_THAT(
      lines_of(recording, 0),
      ElementsAre("made 70 stack 4", "f0 { @2", "  request 70 by 0", "  wait 70 3..5 2 by 0", "  unlock 70 held 0",
                  "  lock 80", "  unlock 80 held 2", "  wake 90 sync 5 most 4294967295", "  gone 70",
                  "  request 99 by 1002", "  still waits 99 sync 8 12..40 28", "} f0 2..12 10 open"));
  CallRules rules;
  rules.begin = 11;
  rules.end = 30;  // it may have ended behind that
  select_calls(recording, rules);
  EXPECT_THAT(lines_of(recording, 0), Contains(HasSubstr("still waits 99 sync 8 12..30 18")));
}

TEST(Timeline, OtherEventsStandWhereTheyHappened) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  t.record(PENNA_KIND_THREAD, 1, penna_thread{"worker"});
  t.enter(kF, 2);
  t.alloc(0xa0, 64, 3, 9, PENNA_FAMILY_CALLOC);
  t.alloc_large(0xb0, uint64_t{1} << 33, 4, 8);
  t.enter(kG, 5);
  t.lock(0x50, 6);
  t.lock(0x50, 7);
  t.unlock(0x50, 8);
  t.lock_wait(0x51, 7, 9, 0, 1234);
  t.unlock(0x50, 10);
  t.exit(kG, 11);
  t.free(0xa0, 12, PENNA_FAMILY_REALLOC);
  t.realloc_failed(0xa0, 13);
  t.point(3, 14, {1, 2});
  t.busy(0x52, 15);
  t.unlock(0x51, 16);
  t.cond_wait(0x51, 0x70, 16, 20, PENNA_WAIT_TIMEOUT);
  t.unlock(0x51, 21);
  t.unlock(0x53, 22);
  t.lost(5, 23);
  t.blocked(4, 30);
  t.exit(kF, 31);
  Recording recording = build.open();
  EXPECT_THAT(
      lines_of(recording, 0),
      ElementsAre("name worker", "f0 { @2", "  alloc a0 64 family 1 stack 9", "  alloc b0 8589934592 family 0 stack 8",
                  "  60 { @5", "    lock 50", "    lock 50", "    unlock 50 held 2", "    wait 51 7..9 2 by 1234",
                  "    unlock 50 held 4", "  } 60 5..11 6", "  free a0", "  realloc failed a0", "  point 3 16",
                  "  busy 52", "  unlock 51 held 7", "  condition 70 51 16..20 1", "  unlock 51 held 1",
                  "  unlock 53 held 0", "  lost 5", "  blocked 26..30", "} f0 2..31 29"));
}

TEST(Timeline, ShowsWhatDoesNotPair) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  t.exit(kH, 1);
  t.enter(kF, 2);
  t.enter(kG, 3);
  t.enter(kH, 4);
  t.exit(kF, 5);  // longjmp out of kH
  t.enter(kF, 6);
  t.enter(kG, 7);
  Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0), ElementsAre("stray 10 @1", "f0 { @2", "  60 { @3", "    10 { @4",
                                                  "    } 10 4..5 1 unwound", "  } 60 3..5 2 unwound", "} f0 2..5 3",
                                                  "f0 { @6", "  60 { @7", "  } 60 7..7 0 open", "} f0 6..7 1 open"));
  EXPECT_EQ(lines_of(recording, 0, {.keep_open = false}).size(), 9u);
}

// A line at a time: what comes after is not even read.
TEST(Timeline, StopsAtOnce) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  for (uint64_t i = 0; i < 100; ++i) {
    t.enter(kF, 10 * i);
    t.exit(kF, 10 * i + 5);
    t.new_chunk();
  }
  Recording recording = build.open();
  for (int wanted : {1, 3}) {
    int seen = 0;
    const auto report = for_each_timeline_line(recording, 0, {}, [&](const TimelineLine&) { return ++seen < wanted; });
    EXPECT_EQ(seen, wanted);
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(report.chunks, static_cast<uint64_t>(wanted));
  }
}

TEST(Timeline, StopsInTheMiddleOfUnwinding) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  for (uint64_t pc : {kF, kG, kH}) t.enter(pc, 1);
  t.exit(kF, 2);
  Recording recording = build.open();
  int seen = 0;
  for_each_timeline_line(recording, 0, {}, [&](const TimelineLine&) { return ++seen < 4; });
  EXPECT_EQ(seen, 4);
}

TEST(Timeline, MergesThreadsByTime) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.thread(process, 1).enter(kF, 1);
  build.thread(process, 1).exit(kF, 10);
  build.thread(process, 2).enter(kG, 2);
  build.thread(process, 2).exit(kG, 5);
  build.thread(process, 2).enter(kH, 7);
  Recording recording = build.open();
  std::vector<std::string> lines;
  for_each_merged_line(recording, {}, [&](const TimelineLine& line) {
    lines.push_back(std::to_string(line.thread) + " " + text(line));
    return true;
  });
  EXPECT_THAT(lines, ElementsAre("0 f0 { @1", "1 60 { @2", "1 } 60 2..5 3", "1 10 { @7", "0 } f0 1..10 9",
                                 "1 } 10 7..7 0 open"));
}

TEST(Timeline, CanBeOfOneKindOnly) {
  RecordingBuilder build;
  auto& t = build.thread(build.process(100), 1);
  t.enter(kF, 1);
  t.alloc(0xa0, 8, 2);
  t.exit(kF, 3);
  Recording recording = build.open();
  EXPECT_THAT(lines_of(recording, 0, {.filter = {.classes = kCallEvents}}), ElementsAre("f0() 1..3 2"));
  EXPECT_THAT(lines_of(recording, 0, {.filter = {.classes = kAllocEvents}}),
              ElementsAre("alloc a0 8 family 0 stack 1"));
}

}  // namespace
}  // namespace penna::timeline_test
