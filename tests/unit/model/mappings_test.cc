// SPDX-License-Identifier: MIT
// Mappings: ranges that are cut, mapped over and given back in other pieces, against an array of pages.
#include "model/mappings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "recording_builder.h"

namespace penna::mappings_test {
namespace {

constexpr uint64_t kPage = 4096, kBase = 0x7f0000000000;

struct Analysed {
  explicit Analysed(RecordingBuilder& build) : recording(build.open()), maps(recording) {
    for_each_event(recording, {.classes = kAllocEvents}, maps);
  }
  Recording recording;
  Mappings maps;
};

void map(ThreadBuilder& thread, uint64_t page, uint64_t pages, uint64_t time, uint32_t stack) {
  thread.record(PENNA_KIND_MAP, time, penna_map{kBase + page * kPage, pages * kPage, stack, PENNA_MAP_MMAP, 0});
}
void unmap(ThreadBuilder& thread, uint64_t page, uint64_t pages, uint64_t time) {
  thread.record(PENNA_KIND_UNMAP, time, penna_unmap{kBase + page * kPage, pages * kPage});
}

TEST(Mappings, AHoleLeavesTwoPieces) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  map(thread, 0, 10, 1, 1);
  unmap(thread, 3, 2, 2);
  map(thread, 8, 4, 3, 2);  // over the last two, and two more
  unmap(thread, 40, 1, 4);  // nobody's
  const Analysed seen(build);
  const MappingTotals& totals = seen.maps.processes()[0];
  EXPECT_EQ(totals.bytes, 14 * kPage);
  EXPECT_EQ(totals.unmapped, 2 * kPage);
  EXPECT_EQ(totals.replaced, 2 * kPage);
  EXPECT_EQ(totals.unknown, 1 * kPage);
  EXPECT_EQ(totals.live_bytes, 10 * kPage);
  EXPECT_EQ(totals.peak_bytes, 10 * kPage);
  EXPECT_EQ(totals.peak_time, 1u);
  ASSERT_EQ(seen.maps.live(0).size(), 3u);
  EXPECT_EQ(seen.maps.live(0).begin()->second.end, kBase + 3 * kPage);
  EXPECT_EQ(seen.maps.live(0).count(kBase + 5 * kPage), 1u);
  ASSERT_EQ(seen.maps.stacks().size(), 2u);
  EXPECT_EQ(seen.maps.stacks()[0].live_bytes, 6 * kPage);
  EXPECT_EQ(seen.maps.stacks()[1].live_bytes, 4 * kPage);
}

TEST(Mappings, ProcessesHaveAddressesOfTheirOwn) {
  RecordingBuilder build;
  auto& one = build.thread(build.process(100), 1);
  auto& other = build.thread(build.process(200), 1);
  map(one, 0, 1, 1, 1);
  unmap(other, 0, 1, 2);
  const Analysed seen(build);
  EXPECT_EQ(seen.maps.processes()[0].live_bytes, kPage);
  EXPECT_EQ(seen.maps.processes()[1].unknown, kPage);
}

TEST(Mappings, RangesAtTheEndOfTheAddressSpace) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.record(PENNA_KIND_MAP, 1, penna_map{UINT64_MAX - 10, UINT64_MAX, 1, 77, 99});
  thread.record(PENNA_KIND_MAP, 2, penna_map{0x1000, 0, 1, 0, 0});
  thread.record(PENNA_KIND_UNMAP, 3, penna_unmap{0, UINT64_MAX});
  const Analysed seen(build);
  EXPECT_EQ(seen.maps.processes()[0].live_bytes, 0u);
  EXPECT_TRUE(seen.maps.live(0).empty());
}

TEST(Mappings, AgreesWithAnArrayOfPages) {
  constexpr uint64_t kPages = 64;
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    RecordingBuilder build;
    auto& thread = build.thread(build.process(100), 1);
    std::array<uint32_t, kPages> owner{};  // stack; 0 = not mapped
    uint64_t peak = 0, unmapped = 0;
    for (uint64_t time = 1; time < 400; ++time) {
      const uint64_t page = random() % kPages, pages = 1 + random() % (kPages - page);
      const bool maps = random() % 2 != 0;
      const auto stack = static_cast<uint32_t>(1 + random() % 5);
      if (maps)
        map(thread, page, pages, time, stack);
      else
        unmap(thread, page, pages, time);
      for (uint64_t i = page; i < page + pages; ++i) {
        unmapped += !maps && owner[i] != 0;
        owner[i] = maps ? stack : 0;
      }
      peak = std::max<uint64_t>(peak, kPages - static_cast<uint64_t>(std::count(owner.begin(), owner.end(), 0u)));
    }
    const Analysed seen(build);
    const MappingTotals& totals = seen.maps.processes()[0];
    EXPECT_EQ(totals.peak_bytes, peak * kPage);
    EXPECT_EQ(totals.unmapped, unmapped * kPage);
    EXPECT_EQ(totals.bytes, totals.live_bytes + totals.unmapped + totals.replaced);
    for (const StackMappings& one : seen.maps.stacks())
      EXPECT_EQ(one.live_bytes, kPage * static_cast<uint64_t>(std::count(owner.begin(), owner.end(), one.stack)));
    std::array<uint32_t, kPages> found{};
    for (const auto& [begin, range] : seen.maps.live(0))
      for (uint64_t at = begin; at < range.end; at += kPage)
        found.at((at - kBase) / kPage) = seen.maps.stacks()[range.slot].stack;
    EXPECT_EQ(found, owner);
  }
}

}  // namespace
}  // namespace penna::mappings_test
