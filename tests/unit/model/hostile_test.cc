// SPDX-License-Identifier: MIT
// Every analysis on records that no agent would write: no crash, no hang, and the totals still balance.
#include <gtest/gtest.h>

#include <random>

#include "model/blocks/allocations.h"
#include "model/blocks/unmatched_frees.h"
#include "model/calls/call_tree.h"
#include "model/calls/calls.h"
#include "model/events/points.h"
#include "model/locks/critical_path.h"
#include "model/locks/deadlocks.h"
#include "model/locks/lock_order.h"
#include "model/locks/locks.h"
#include "model/locks/wait_chains.h"
#include "model/timeline/timeline.h"
#include "model/verdict/health.h"
#include "random_records.h"
#include "recording_builder.h"

namespace penna::hostile_test {
namespace {

TEST(Hostile, AnyRecordsAreSafeInEveryAnalysis) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    RecordingBuilder build;
    const uint32_t first = build.process(100), second = build.process(200, 100, 300);
    for (uint32_t process : {first, second})
      for (uint32_t serial : {1, 2, 3}) fill_at_random(build.thread(process, serial), random);
    Recording recording = build.open();
    CodeMap map(recording);
    Calls calls(recording, map);
    CallTree tree(recording, map, true);
    UnmatchedFrees unmatched(recording);
    AllocationOptions of_heap, of_maps;
    of_heap.unmatched = of_maps.unmatched = &unmatched;
    of_maps.family = *BlockFamily::find(recording, "maps");
    Allocations heap(recording, of_heap), maps(recording, of_maps);
    Locks locks(recording);
    HolderTracker held(recording);
    LockOrder order(held);
    WaitChains chains(held);
    WaitHistory history(held);
    Points points(recording);
    const WalkReport walk = for_each_event(recording, {.classes = kAllRecords}, [&](const Event& event) {
      calls(event);
      tree(event);
      heap(event);
      maps(event);
      locks(event);
      const LockStep step = held.take(event);
      order(event, step);
      chains(event, step);
      history(event, step);
      points(event);
    });
    calls.finish();
    tree.finish();
    locks.finish();
    order.finish();
    const std::vector<uint64_t> ends(recording.processes().size(), 30000);
    chains.finish(ends);
    history.finish(ends);
    // What pairs are charged is what was waited.
    std::vector<uint64_t> waited(locks.all().size());
    for (const WaitPair& pair : locks.pairs()) __builtin_add_overflow(waited[pair.lock], pair.time, &waited[pair.lock]);
    for (size_t i = 0; i < waited.size(); ++i) {
      const Distribution& wait = locks.all()[i].wait;
      EXPECT_EQ(waited[i], wait.sum());
    }

    uint64_t blocked = 0;
    for (const ChainLink& link : chains.links()) blocked += link.time;
    EXPECT_EQ(blocked, chains.wait_time());
    const Deadlocks stuck = find_deadlocks(held);
    for (const auto& cycle : stuck.cycles) EXPECT_LE(cycle.size(), stuck.waiting.size());
    uint64_t on_path = 0;
    for (const PathPart& part : critical_path(history, 0, 100, 9000).parts) on_path += part.time;
    EXPECT_EQ(on_path, 8900u);

    uint64_t ended = 0;
    for (const FunctionCalls* function : calls.by_total()) ended += function->calls;
    EXPECT_EQ(ended, calls.counts().calls);
    for (uint32_t process : {first, second}) {
      for (const Allocations* family : {&heap, &maps}) {
        const HeapTotals& totals = family->processes()[process];
        EXPECT_EQ(totals.allocations + totals.splits - totals.frees - totals.replaced, totals.live_blocks);
        uint64_t leaked = 0;
        for (const Leak& leak : family->leaks(process)) leaked += leak.blocks;
        EXPECT_EQ(leaked, totals.live_blocks);
      }
    }
    uint64_t enters = 0, leaves = 0;
    for_each_merged_line(recording, {}, [&](const TimelineLine& line) {
      enters += line.kind == LineKind::kEnter;
      leaves += line.kind == LineKind::kLeave;
      return true;
    });
    EXPECT_EQ(enters, leaves);
    EXPECT_EQ(enters, calls.counts().calls);
    const Summary summary = summarize(recording);
    uint64_t events = 0;  // jumps come with them, but are none
    for_each_event(recording, {},
                   [&](const Event& event) { events += classify(event.record.kind) != PENNA_CLASS_COUNT; });
    EXPECT_EQ(summary.total_events(), events);
    examine(recording, summary,
            {.walk = &walk, .calls = &calls, .allocations = &heap, .locks = &locks, .points = &points});
  }
}

}  // namespace
}  // namespace penna::hostile_test
