// SPDX-License-Identifier: MIT
// EventCosts: known event costs, recovered from chunks with synthetic times.
#include "collect/event_costs.h"

#include <gtest/gtest.h>

#include "../recording/chunk_builder.h"

namespace penna::event_costs_test {
namespace {

constexpr double kStampNs = 8;

// `apart`: ticks between the records of calls.
std::vector<uint8_t> calls_apart(uint64_t apart, size_t calls) {
  ChunkBuilder build;
  uint64_t time = 1'000'000;
  for (size_t i = 0; i < calls; ++i) {
    build.entry(0x555500001000, time += apart);
    build.exit(0x555500001000, time += apart);
  }
  return build.close(time);
}

std::array<EventCost, PENNA_CLASS_COUNT> costs_of(const std::vector<uint8_t>& chunk) {
  EventCosts costs;
  costs.add(chunk, scan_chunk(chunk));
  return costs.costs(0.5, {kStampNs, 0});
}

TEST(EventCosts, OfShortCallsAreTheirDistance) {
  const auto costs = costs_of(calls_apart(24, 1000));
  EXPECT_EQ(costs[PENNA_CALLS].events, 2000u);
  EXPECT_NEAR(static_cast<double>(costs[PENNA_CALLS].ps), 12'000, 300);
  EXPECT_EQ(costs[PENNA_ALLOC].events + costs[PENNA_LOCKS].events + costs[PENNA_LOCKS].ps + costs[PENNA_POINTS].ps, 0u);
}

// Whatever lies between them. What mapping new pages takes comes on top.
TEST(EventCosts, OfHooksThatWereMeasuredApartAreWhatThatSays) {
  const auto chunk = calls_apart(24, 1000);
  EventCosts costs;
  costs.add(chunk, scan_chunk(chunk));
  EXPECT_NEAR(static_cast<double>(costs.costs(0.5, {kStampNs, 9})[PENNA_CALLS].ps), 9'000, 100);
}

TEST(EventCosts, ALongWayBetweenCallsIsTheProgramsOwn) {
  const auto costs = costs_of(calls_apart(2000, 1000));
  EXPECT_EQ(costs[PENNA_CALLS].ps, 20'000u);
}

// A clock that goes in steps of 26 ticks: each distance is 0 or one step.
TEST(EventCosts, ACoarseClockDoesNotMatter) {
  ChunkBuilder build;
  for (uint64_t i = 0; i < 2000; ++i) {
    const uint64_t time = 1'000'000 + i * 20 / 26 * 26;
    i % 2 == 0 ? build.entry(0x555500001000, time) : build.exit(0x555500001000, time);
  }
  EXPECT_NEAR(static_cast<double>(costs_of(build.close(2'000'000))[PENNA_CALLS].ps), 10'000, 500);
}

// Some functions work, others only call: those tell.
TEST(EventCosts, PlacesWhereTheProgramWorksTellNothing) {
  ChunkBuilder build;
  uint64_t time = 1'000'000;
  const auto call = [&](uint64_t function, uint64_t before, uint64_t within) {
    build.entry(function, time += before);
    build.exit(function, time += within);
  };
  for (size_t i = 0; i < 500; ++i) {
    call(0x555500001000, 24, 24);
    call(0x555500002000, 24, 40);
    call(0x555500003000, 30, 200);
  }
  EXPECT_NEAR(static_cast<double>(costs_of(build.close(time))[PENNA_CALLS].ps), 12'500, 600);
}

// A program that does one thing and the other in turns, a chunk each.
TEST(EventCosts, ChunksThatDifferInTurnsAllCount) {
  EventCosts costs;
  const auto quick = calls_apart(20, 100), slow = calls_apart(40, 100);
  for (int i = 0; i < 2000; ++i) costs.add(i % 2 == 0 ? quick : slow, scan_chunk(quick));
  EXPECT_NEAR(static_cast<double>(costs.costs(0.5, {kStampNs, 0})[PENNA_CALLS].ps), 15'000, 700);
}

// The first store to a page of a new chunk: 2000 ticks for the kernel, once in 512 records.
TEST(EventCosts, PageFaultsOfChunksAreOurs) {
  ChunkBuilder build;
  uint64_t time = 1'000'000;
  for (size_t i = 0; i < 4000; ++i) {
    i % 2 == 0 ? build.entry(0x555500001000, time) : build.exit(0x555500001000, time);
    time += (sizeof(penna_chunk) + 8 * i) % 4096 == 0 ? 2020 : 20;
  }
  EXPECT_NEAR(static_cast<double>(costs_of(build.close(time))[PENNA_CALLS].ps), 11'950, 400);
}

TEST(EventCosts, AllocationsHaveTheirOwn) {
  ChunkBuilder build;
  uint64_t time = 1'000'000;
  for (uint64_t i = 0; i < 500; ++i, time += 320)
    build.alloc(0x10000 + i * 64, 8, 0, time).free(0x10000 + i * 64, time + 160);
  const auto costs = costs_of(build.close(time));
  EXPECT_EQ(costs[PENNA_ALLOC].events, 1000u);
  EXPECT_NEAR(static_cast<double>(costs[PENNA_ALLOC].ps), 82'000, 3'000);
}

TEST(EventCosts, AllEventsAreCountedFromASampleOfChunks) {
  EventCosts costs;
  const auto chunk = calls_apart(24, 100);
  for (int i = 0; i < 100; ++i) costs.add(chunk, scan_chunk(chunk));
  EXPECT_EQ(costs.costs(0.5, {kStampNs, 0})[PENNA_CALLS].events, 20'000u);
}

TEST(EventCosts, NothingIsKnownOfNothing) {
  for (const EventCost& cost : EventCosts().costs(0.5, {kStampNs, 0})) EXPECT_EQ(cost.events + cost.ps, 0u);
}

}  // namespace
}  // namespace penna::event_costs_test
