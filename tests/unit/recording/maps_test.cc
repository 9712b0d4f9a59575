// SPDX-License-Identifier: MIT
// TimeMap and ModuleMap compared with the obvious slow implementation.
#include <gtest/gtest.h>

#include <random>

#include "recording/module_map.h"
#include "recording/stack_store.h"
#include "recording/time_map.h"

namespace penna::maps_test {
namespace {

TEST(TimeMap, GoesThroughEveryTriplet) {
  std::vector<ClockTriplet> clocks{{1000, 500, 90'000}, {3000, 1500, 91'000}, {7000, 4500, 50'000}};
  TimeMap time(clocks, 0);
  for (const auto& clock : clocks) {
    EXPECT_EQ(time.monotonic_ns(clock.ticks), static_cast<int64_t>(clock.monotonic_ns));
    EXPECT_EQ(time.realtime_ns(clock.ticks), static_cast<int64_t>(clock.realtime_ns));
  }
  EXPECT_EQ(time.monotonic_ns(2000), 1000);
  EXPECT_EQ(time.monotonic_ns(5000), 3000);
  EXPECT_EQ(time.monotonic_ns(0), 0) << "before the first clock record, the first rate applies";
  EXPECT_EQ(time.monotonic_ns(8000), 5250) << "after the last clock record, the last rate applies";
  EXPECT_EQ(time.realtime_ns(8000), 50'750) << "a step of the wall clock must not change the rate";
  EXPECT_EQ(time.duration_ns(1000, 3000), 1000);
}

TEST(TimeMap, NeedsNoTriplets) {
  EXPECT_EQ(TimeMap().monotonic_ns(42), 42);
  EXPECT_EQ(TimeMap({}, 2'000'000'000).monotonic_ns(1000), 500);
  std::vector<ClockTriplet> one{{1000, 77, 88}};
  TimeMap time(one, 2'000'000'000);
  EXPECT_EQ(time.monotonic_ns(3000), 1077);
  EXPECT_EQ(time.realtime_ns(3000), 1088);
  EXPECT_EQ(time.monotonic_ns(900), 27);
}

TEST(TimeMap, LeavesOutWhatGoesBackwards) {
  std::vector<ClockTriplet> clocks{{2000, 1000, 0}, {1000, 500, 0},        {3000, 900, 0},
                                   {2000, 1001, 0}, {4000, UINT64_MAX, 0}, {5000, 2500, 0}};
  TimeMap time(clocks, 0);
  EXPECT_EQ(time.monotonic_ns(1000), 500);
  EXPECT_EQ(time.monotonic_ns(2000), 1000);
  EXPECT_EQ(time.monotonic_ns(3500), 1750);
  EXPECT_EQ(time.monotonic_ns(5000), 2500);
}

TEST(TimeMap, NeverDecreasesAndNeverOverflows) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<ClockTriplet> clocks;
    clocks.reserve(8);
    for (int i = 0; i < 8; ++i) clocks.push_back({random() >> (random() % 60), random() >> (random() % 60), random()});
    TimeMap time(clocks, random() >> (random() % 64));
    std::vector<uint64_t> ticks{0, 1, UINT64_MAX - 1, UINT64_MAX};
    for (int i = 0; i < 100; ++i) ticks.push_back(random() >> (random() % 64));
    for (const auto& clock : clocks) ticks.insert(ticks.end(), {clock.ticks - 1, clock.ticks, clock.ticks + 1});
    std::sort(ticks.begin(), ticks.end());
    EXPECT_GE(time.duration_ns(0, UINT64_MAX), 0);
    for (size_t i = 1; i < ticks.size(); ++i) {
      ASSERT_LE(time.monotonic_ns(ticks[i - 1]), time.monotonic_ns(ticks[i])) << ticks[i - 1] << " " << ticks[i];
      ASSERT_LE(std::abs(static_cast<double>(time.realtime_ns(ticks[i]))), 0x1p61);
    }
  }
}

Module module_at(uint64_t start, uint64_t end, uint64_t ticks, uint32_t generation = 0) {
  Module module;
  module.start = start;
  module.end = end;
  module.ticks = ticks;
  module.generation = generation;
  return module;
}

TEST(ModuleMap, LaterOnesHideEarlierOnesFromTheirTimeOn) {
  std::vector<Module> modules{module_at(100, 200, 10, 0), module_at(300, 400, 10, 0), module_at(150, 350, 20, 1)};
  ModuleMap map(modules);
  EXPECT_EQ(map.find(150, 15), 0u);
  EXPECT_EQ(map.find(149, 25), 0u);
  EXPECT_EQ(map.find(150, 20), 2u);
  EXPECT_EQ(map.find(320, 19), 1u);
  EXPECT_EQ(map.find(320, 21), 2u);
  EXPECT_EQ(map.find(350, 21), 1u);
  EXPECT_EQ(map.find(250, 5), 2u) << "announced late, but nothing else was ever mapped there";
  EXPECT_EQ(map.find(99, 50), ModuleMap::kNone);
  EXPECT_EQ(map.find(400, 50), ModuleMap::kNone);
  EXPECT_EQ(map.find(UINT64_MAX, 50), ModuleMap::kNone);
  EXPECT_EQ(map.find_generation(150, 0), 0u);
  EXPECT_EQ(map.find_generation(150, 1), 2u);
  EXPECT_EQ(ModuleMap().find(1, 1), ModuleMap::kNone);
}

TEST(ModuleMap, AgreesWithTheSlowWay) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<Module> modules;
    int count = static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      uint64_t start = random() % 50, ticks = random() % 20;
      modules.push_back(module_at(start, start + random() % 20, ticks));
    }
    ModuleMap map(modules);
    for (int query = 0; query < 300; ++query) {
      uint64_t pc = random() % 72, ticks = random() % 22;
      uint32_t best = ModuleMap::kNone, first = ModuleMap::kNone;
      for (uint32_t i = 0; i < modules.size(); ++i) {
        if (pc < modules[i].start || pc >= modules[i].end) continue;
        if (modules[i].ticks <= ticks && (best == ModuleMap::kNone || modules[i].ticks >= modules[best].ticks))
          best = i;
        if (first == ModuleMap::kNone || modules[i].ticks < modules[first].ticks) first = i;
      }
      ASSERT_EQ(map.find(pc, ticks), best != ModuleMap::kNone ? best : first);
    }
  }
}

TEST(StackStore, AgreesWithAMap) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 200; ++round) {
    StackStore store;
    std::map<uint32_t, uint64_t> expected;
    for (int block = 0; block < 12; ++block) {
      uint32_t first = static_cast<uint32_t>(random() % 60);
      if (round % 4 == 0) first = UINT32_MAX - first;  // the last ids; what would pass them is left out
      std::vector<penna_stack_node> nodes(random() % 20);
      for (size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].pc_generation = random() % 4 == 0 ? 0 : random() | 1;
        uint64_t id = uint64_t{first} + i;
        if (nodes[i].pc_generation != 0 && id <= UINT32_MAX)
          expected[static_cast<uint32_t>(id)] = nodes[i].pc_generation;
      }
      store.add(first, nodes);
    }
    for (uint64_t i = 0; i < 100; ++i)
      for (uint32_t id : {static_cast<uint32_t>(i), static_cast<uint32_t>(UINT32_MAX - i)}) {
        const penna_stack_node* node = store.find(id);
        ASSERT_EQ(node != nullptr ? node->pc_generation : 0, expected.count(id) ? expected[id] : 0) << id;
      }
  }
}

}  // namespace
}  // namespace penna::maps_test
