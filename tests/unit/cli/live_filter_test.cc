// SPDX-License-Identifier: MIT
// LiveFilter: its output for records that arrive in slices equals a reader's for all at once; and memory is bounded.
#include "live/live_filter.h"

#include <gtest/gtest.h>

#include <random>

#include "../recording/chunk_builder.h"

namespace penna::live_filter_test {
namespace {

constexpr uint64_t kBase = uint64_t{0x5555} << 32, kStart = 1'000'000;

struct Call {
  bool entry;
  uint64_t pc, time;
  bool operator==(const Call& other) const = default;
};

void append_calls(std::span<const uint8_t> chunk, std::vector<Call>& calls) {
  RecordCursor in(chunk);
  Record record;
  while (in.next(record))
    if (record.is_call()) calls.push_back({record.kind == PENNA_KIND_CALL_ENTRY, record.pc, record.time});
}

std::vector<Call> calls_of(const std::vector<LiveRecords>& records) {
  std::vector<Call> calls;
  for (const LiveRecords& one : records) append_calls(one.chunk, calls);
  return calls;
}

// Function 1 calls 2, which calls 3; lengths differ.
std::vector<Call> random_calls(std::mt19937& random, size_t count) {
  std::vector<Call> calls;
  std::vector<uint64_t> open;
  uint64_t time = kStart;
  while (calls.size() < count || !open.empty()) {
    time += random() % 50;
    const bool enters = calls.size() < count && open.size() < 6 && (open.empty() || random() % 2 == 0);
    const uint64_t pc = enters ? kBase + 16 * (1 + random() % 5) : open.back();
    enters ? open.push_back(pc) : open.pop_back();
    calls.push_back({enters, pc, time});
  }
  return calls;
}

std::vector<uint8_t> slice_of(std::span<const Call> calls) {
  ChunkBuilder chunk(kStart);
  for (const Call& one : calls) one.entry ? chunk.entry(one.pc, one.time) : chunk.exit(one.pc, one.time);
  std::vector<uint8_t> bytes = chunk.close();
  bytes.resize(chunk.size());
  return bytes;
}

CallRules rules_without(uint64_t pc, uint64_t min_ticks, uint32_t depth) {
  CallRules rules;
  rules.min_ticks = min_ticks;
  if (depth != 0) rules.depth = depth;
  if (pc != 0)
    rules.ask = [pc](uint32_t, uint64_t at, uint64_t) {
      FunctionTraits traits;
      traits.chosen = at != pc;
      return traits;
    };
  return rules;
}

Process process_zero() {
  Process process;
  process.start_ticks = kStart;
  return process;
}

TEST(LiveFilter, WithoutRulesThereIsNone) { EXPECT_EQ(LiveFilter::make({}, {}), nullptr); }

TEST(LiveFilter, SlicesGiveWhatTheWholeGives) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::vector<Call> calls = random_calls(random, 300);
    CallRules rules = rules_without(round % 3 == 0 ? 0 : kBase + 32, round % 2 * 120, round % 4);
    if (round % 5 == 4) rules.begin = 1500, rules.end = 4000;  // from the start
    if (!rules.any()) continue;
    std::vector<LiveRecords> whole, sliced;
    for (const bool in_slices : {false, true}) {
      auto filter = LiveFilter::make(rules, {});
      filter->began(process_zero());
      std::vector<LiveRecords>& out = in_slices ? sliced : whole;
      for (size_t at = 0; at < calls.size();) {
        const size_t count = in_slices ? std::min<size_t>(1 + random() % 20, calls.size() - at) : calls.size();
        filter->add({0, slice_of({calls.data() + at, count}), 0, 0}, out);
        at += count;
      }
      filter->end(0, out);
    }
    EXPECT_TRUE(calls_of(whole) == calls_of(sliced)) << round;
    EXPECT_LT(calls_of(whole).size(), calls.size());
  }
}

TEST(LiveFilter, WhatNoLengthDecidesIsThereAtOnce) {
  auto filter = LiveFilter::make(rules_without(kBase + 16, 0, 0), {});
  std::vector<LiveRecords> out;
  filter->add({0, slice_of(std::vector<Call>{{true, kBase + 32, kStart}, {true, kBase + 16, kStart + 1}}), 0, 0}, out);
  EXPECT_TRUE((calls_of(out) == std::vector<Call>{{true, kBase + 32, kStart}}));
}

TEST(LiveFilter, LongCallIsShownWithoutFurtherEvents) {
  auto filter = LiveFilter::make(rules_without(0, 1000, 0), {});
  std::vector<LiveRecords> out;
  filter->add({0, slice_of(std::vector<Call>{{true, kBase + 16, kStart}, {true, kBase + 32, kStart + 500}}), 0, 0},
              out);
  filter->wait_until(kStart + 999, out);
  EXPECT_TRUE(out.empty());
  filter->wait_until(kStart + 1200, out);
  EXPECT_TRUE(out.empty()) << "the second call may still turn out short, and is in the same slice";
  filter->add({0, slice_of(std::vector<Call>{{false, kBase + 32, kStart + 1300}}), 0, 0}, out);
  EXPECT_TRUE((calls_of(out) == std::vector<Call>{{true, kBase + 16, kStart}}));
}

TEST(LiveFilter, ShortCallsAfterAnOpenOneTakeNoRoom) {
  auto filter = LiveFilter::make(rules_without(0, uint64_t{1} << 40, 0), {});
  std::vector<LiveRecords> out;
  filter->add({0, slice_of(std::vector<Call>{{true, kBase + 16, kStart}}), 0, 0}, out);
  std::vector<Call> shorts;
  for (uint64_t i = 0; i < 4000; ++i) shorts.push_back({i % 2 == 0, kBase + 32, kStart + i});
  const std::vector<uint8_t> full = slice_of(shorts);
  const size_t twice = 2 * LiveFilter::kMostHeld / full.size();
  for (size_t i = 0; i < twice; ++i) filter->add({0, full, 0, 0}, out);
  EXPECT_TRUE(out.empty()) << "twice the limit came in, but only the open call takes room";
  // A slice with an open call that nobody can decide takes room. One a slice: all that are open are looked at with each.
  std::vector<Call> opened = {{true, kBase + 48, kStart + 5000}};
  for (uint64_t i = 0; i < 4000; ++i) opened.push_back({i % 2 == 0, kBase + 32, kStart + 5000 + i});
  const std::vector<uint8_t> kept = slice_of(opened);
  for (size_t i = 0; i < twice; ++i) filter->add({0, kept, 0, 0}, out);
  uint64_t dropped = 0;
  for (const LiveRecords& one : out) dropped += one.calls_dropped;
  EXPECT_GT(dropped, 0u);
}

}  // namespace
}  // namespace penna::live_filter_test
