// SPDX-License-Identifier: MIT
// Runs of calls: a consumer of many calls at a time sees the same as one of single calls, whatever the recording
// contains.
#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

#include "model/calls/call_graph.h"
#include "model/calls/call_groups.h"
#include "model/calls/call_tree.h"
#include "model/calls/calls.h"
#include "random_records.h"
#include "recording_builder.h"

namespace penna::call_runs_test {
namespace {

// Three threads, one of them of a forked process; the first has enough chunks to be read ahead.
Recording random_recording(uint64_t seed, RecordingBuilder& build) {
  std::mt19937_64 random(seed);
  const uint32_t first = build.process(100), second = build.process(200, 100, 300);
  build.module(first, {.bias = 0, .start = 0x400000, .end = 0x401000, .build_id = {}, .path = "/a"});
  // The same addresses belong to another module later.
  if (seed % 2 == 1)
    build.module(
        first,
        {.bias = 0, .start = 0x400000, .end = 0x400040, .generation = 1, .build_id = {}, .path = "/b", .ticks = 50000});
  call_at_random(build.thread(first, 1), random, 8000);
  call_at_random(build.thread(first, 2), random, 600);
  fill_at_random(build.thread(first, 2), random);
  call_at_random(build.thread(second, 1), random, 600);
  return build.open();
}

using Seen =
    std::vector<std::tuple<uint32_t, uint32_t, uint64_t, uint64_t, uint32_t>>;  // process, thread, time, pc, kind

struct OneByOne {
  Seen& seen;
  void operator()(const Event& event) {
    seen.emplace_back(event.process, event.thread, event.time, event.record.pc, event.record.kind);
  }
};
struct InRuns : OneByOne {
  uint64_t& in_runs;
  void operator()(const CallRun& run) {
    EXPECT_FALSE(run.calls.empty());
    in_runs += run.calls.size();
    for (const CallEvent& call : run.calls)
      seen.emplace_back(run.process, run.thread, call.time, call.pc,
                        call.is_entry ? PENNA_KIND_CALL_ENTRY : PENNA_KIND_CALL_EXIT);
  }
  using OneByOne::operator();
};

TEST(CallRuns, AreTheEventsThatOthersSeeOneByOne) {
  uint64_t in_runs = 0, all = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    RecordingBuilder build;
    const Recording recording = random_recording(seed, build);
    for (const EventFilter& filter :
         {EventFilter{}, EventFilter{.classes = kCallEvents}, EventFilter{.classes = kAllRecords},
          EventFilter{.classes = kAllocEvents}, EventFilter{.thread = 1}, EventFilter{.begin = 2000, .end = 90000}}) {
      for (const bool merged : {false, true}) {
        Seen expected, seen;
        OneByOne one{expected};
        InRuns runs{{seen}, in_runs};
        const WalkReport before =
            merged ? for_each_event(recording, filter, one) : for_each_thread_event(recording, filter, one);
        const WalkReport after =
            merged ? for_each_event(recording, filter, runs) : for_each_thread_event(recording, filter, runs);
        ASSERT_EQ(seen, expected) << seed << ' ' << merged;
        EXPECT_EQ(after.events, seen.size());
        EXPECT_EQ(before.events, after.events);
        EXPECT_EQ(before.chunks, after.chunks);
        EXPECT_EQ(before.holes + before.torn + before.damaged, after.holes + after.torn + after.damaged);
        all += seen.size();
      }
    }
  }
  EXPECT_GT(in_runs, all / 2);
}

auto row_of(const FunctionCalls& one) {
  return std::tuple(one.function, one.calls, one.total, one.self, one.unwound, one.open, one.duration.count(),
                    one.duration.sum(), one.duration.min(), one.duration.max(), one.duration.percentile(0.5));
}
auto row_of(const CallNode& one) {
  return std::tuple(one.parent, one.thread, one.function, one.depth, one.calls, one.total, one.self);
}
auto row_of(const CallGraph::Neighbour& one) {
  return std::tuple(one.function, one.edge.calls, one.edge.total, one.edge.self);
}
auto row_of(const CallGroup& one) { return std::tuple(one.key, one.calls, one.total, one.self, one.duration.sum()); }
auto row_of(const CallCounts& one) {
  return std::tuple(one.calls, one.jumped, one.unwound, one.open, one.stray_exits, one.inherited, one.too_deep);
}
template <typename T>
const T& value_of(const T& value) {
  return value;
}
template <typename T>
const T& value_of(const T* value) {
  return *value;
}
template <typename List>
auto rows_of(const List& list) {
  std::vector<decltype(row_of(value_of(list[0])))> rows;
  rows.reserve(list.size());
  for (const auto& one : list) rows.push_back(row_of(value_of(one)));
  return rows;
}

struct Analysed {
  Analysed(const Recording& recording, bool in_runs)
      : map(recording),
        calls(recording, map),
        tree(recording, map, true),
        graph(recording, map, [](const CodePlace& place) { return place.address % 48 == 0; }),
        groups(recording, map, CallGroups::By::kModule) {
    const auto all = [&](const auto& some) {
      calls(some);
      tree(some);
      graph(some);
      groups(some);
    };
    if (in_runs) {
      for_each_thread_event(recording, {.classes = kCallEvents}, all);
    } else {
      for_each_thread_event(recording, {.classes = kCallEvents}, [&](const Event& event) { all(event); });
    }
    calls.finish();
    tree.finish();
    graph.finish();
    groups.finish();
  }
  CodeMap map;
  Calls calls;
  CallTree tree;
  CallGraph graph;
  CallGroups groups;
};

TEST(CallRuns, GiveTheSameAnalyses) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    RecordingBuilder build;
    const Recording recording = random_recording(seed, build);
    const Analysed expected(recording, false), seen(recording, true);
    EXPECT_GT(seen.calls.counts().calls, 1000u);
    EXPECT_EQ(rows_of(seen.calls.by_total()), rows_of(expected.calls.by_total()));
    EXPECT_EQ(row_of(seen.calls.counts()), row_of(expected.calls.counts()));
    EXPECT_EQ(rows_of(seen.tree.nodes()), rows_of(expected.tree.nodes()));
    EXPECT_EQ(rows_of(seen.graph.callers()), rows_of(expected.graph.callers()));
    EXPECT_EQ(rows_of(seen.graph.callees()), rows_of(expected.graph.callees()));
    EXPECT_EQ(rows_of(seen.groups.by_total()), rows_of(expected.groups.by_total()));
  }
}

}  // namespace
}  // namespace penna::call_runs_test
