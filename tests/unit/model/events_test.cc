// SPDX-License-Identifier: MIT
// The walk over events: merged order, order within threads, filters, early stop, unreadable data.
#include "model/events/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>

#include <random>

#include "recording_builder.h"

namespace penna::events_test {
namespace {

using testing::ElementsAre;
using Seen = std::vector<std::pair<uint32_t, uint64_t>>;  // thread, time

Seen merged(const Recording& recording, const EventFilter& filter = {}) {
  Seen seen;
  for_each_event(recording, filter, [&](const Event& event) { seen.emplace_back(event.thread, event.time); });
  return seen;
}

TEST(Events, AreMergedByTime) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& a = build.thread(process, 1);
  auto& b = build.thread(process, 2);
  auto& c = build.thread(process, 3);
  for (uint64_t time : {10, 20, 21, 50}) a.enter(0x1000, time);
  for (uint64_t time : {11, 19, 60, 61}) b.enter(0x1000, time);
  c.enter(0x1000, 55);
  Recording recording = build.open();
  EXPECT_THAT(merged(recording), ElementsAre(std::pair{0u, 10u}, std::pair{1u, 11u}, std::pair{1u, 19u},
                                             std::pair{0u, 20u}, std::pair{0u, 21u}, std::pair{0u, 50u},
                                             std::pair{2u, 55u}, std::pair{1u, 60u}, std::pair{1u, 61u}));
}

TEST(Events, OfEqualTimesTheLowerThreadComesFirst) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  for (uint32_t serial : {2, 1, 3})
    for (int i = 0; i < 2; ++i) build.thread(process, serial).enter(0x1000, 7);
  Recording recording = build.open();
  EXPECT_THAT(merged(recording), ElementsAre(std::pair{0u, 7u}, std::pair{0u, 7u}, std::pair{1u, 7u}, std::pair{1u, 7u},
                                             std::pair{2u, 7u}, std::pair{2u, 7u}));
}

// A handler that interrupts between stamp and store leaves a record with a slightly earlier time behind a later one.
TEST(Events, KeepTheOrderOfTheirThreadAndNeverGoBackInTime) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  auto& thread = build.thread(process, 1);
  thread.enter(0x1000, 100);
  thread.enter(0x2000, 110);
  thread.enter(0x3000, 105);
  thread.new_chunk();
  thread.enter(0x4000, 108);
  thread.enter(0x5000, 120);
  build.thread(process, 2).enter(0x6000, 109);
  Recording recording = build.open();
  std::vector<std::pair<uint64_t, uint64_t>> seen;  // pc, time
  for_each_event(recording, {}, [&](const Event& event) { seen.emplace_back(event.record.pc, event.time); });
  EXPECT_THAT(seen, ElementsAre(std::pair{0x1000u, 100u}, std::pair{0x6000u, 109u}, std::pair{0x2000u, 110u},
                                std::pair{0x3000u, 110u}, std::pair{0x4000u, 110u}, std::pair{0x5000u, 120u}));
}

// Many threads with many chunks: the merge gives what sorting by (time, thread) gives.
TEST(Events, MergeAgreesWithSorting) {
  std::mt19937 random(7);
  RecordingBuilder build;
  Seen expected;
  for (uint32_t i = 0; i < 40; ++i) {
    auto& thread = build.thread(i < 20 ? (i == 0 ? build.process(100) : 0) : (i == 20 ? build.process(200) : 1), i + 1);
    uint64_t time = random() % 5000;
    for (int n = 0; n < 300; ++n) {
      time += random() % 20;
      thread.enter(0x1000, time);
      if (random() % 50 == 0) thread.new_chunk();
      expected.emplace_back(i, time);
    }
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](auto& a, auto& b) { return std::pair(a.second, a.first) < std::pair(b.second, b.first); });
  Recording recording = build.open();
  EXPECT_EQ(merged(recording), expected);
}

TEST(Events, FilterByClassProcessThreadAndTime) {
  RecordingBuilder build;
  const uint32_t first = build.process(100), second = build.process(200);
  auto& a = build.thread(first, 1);
  a.enter(0x1000, 10);
  a.alloc(0xa0, 16, 20);
  a.realloc_failed(0xa0, 25);
  a.lock(0xb0, 30);
  a.point(1, 40);
  a.lost(3, 50);
  build.thread(first, 2).alloc(0xc0, 16, 21);
  build.thread(second, 1).alloc(0xd0, 16, 22);
  Recording recording = build.open();
  EXPECT_THAT(merged(recording, {.classes = kAllocEvents}),
              ElementsAre(std::pair{0u, 20u}, std::pair{1u, 21u}, std::pair{2u, 22u}, std::pair{0u, 25u}));
  EXPECT_THAT(merged(recording, {.classes = kLockEvents | kPointEvents}),
              ElementsAre(std::pair{0u, 30u}, std::pair{0u, 40u}));
  EXPECT_THAT(merged(recording, {.classes = kOtherRecords}), ElementsAre(std::pair{0u, 50u}));
  EXPECT_THAT(merged(recording, {.process = 1}), ElementsAre(std::pair{2u, 22u}));
  EXPECT_THAT(merged(recording, {.thread = 1}), ElementsAre(std::pair{1u, 21u}));
  EXPECT_THAT(merged(recording, {.begin = 20, .end = 22}), ElementsAre(std::pair{0u, 20u}, std::pair{1u, 21u}));
  EXPECT_EQ(merged(recording, {.classes = kAllRecords}).size(), 8u);
  EXPECT_EQ(merged(recording).size(), 7u);
}

TEST(Events, ChunksWithoutWantedEventsAreNotRead) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  for (uint64_t i = 0; i < 10; ++i) {
    thread.enter(0x1000, 10 * i);
    thread.new_chunk();
  }
  thread.alloc(0xa0, 16, 200);
  Recording recording = build.open();
  auto nothing = [](const Event&) {};
  EXPECT_EQ(for_each_event(recording, {.classes = kAllocEvents}, nothing).chunks, 1u);
  EXPECT_EQ(for_each_thread_event(recording, {.begin = 30, .end = 50}, nothing).chunks, 2u);
  EXPECT_EQ(for_each_event(recording, {.classes = kPointEvents}, nothing).chunks, 0u);
}

TEST(Events, AVisitorCanStop) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  for (uint32_t serial : {1, 2})
    for (uint64_t time = 0; time < 10; ++time) build.thread(process, serial).enter(0x1000, time);
  Recording recording = build.open();
  for (bool merge : {true, false}) {
    int seen = 0;
    auto visit = [&](const Event&) { return ++seen < 5; };
    const WalkReport report =
        merge ? for_each_event(recording, {}, visit) : for_each_thread_event(recording, {}, visit);
    EXPECT_EQ(seen, 5);
    EXPECT_EQ(report.events, 5u);
    EXPECT_TRUE(report.stopped);
  }
}

TEST(Events, TornRecordsAreCounted) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.alloc(0xa0, 16, 10);
  thread.torn(11);
  thread.free(0xa0, 12);
  Recording recording = build.open();
  const WalkReport report = for_each_event(recording, {}, [](const Event&) {});
  EXPECT_EQ(report.events, 2u);
  EXPECT_EQ(report.torn, 1u);
}

// A block that breaks after the recording was opened: the rest is shown, and the loss is told.
TEST(Events, AnUnreadableChunkIsCountedAndTheRestShown) {
  RecordingBuilder build;
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(0x1000, 10);
  thread.new_chunk();
  thread.enter(0x1000, 20);
  thread.new_chunk();
  thread.enter(0x1000, 30);
  Recording recording = build.open();
  const ChunkRef& middle = recording.chunks(0)[1];
  const int fd = ::open(build.path().c_str(), O_WRONLY);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::pwrite(fd, "damage", 6, static_cast<off_t>(middle.offset + 60)), 6);
  ::close(fd);
  Seen seen;
  const WalkReport report =
      for_each_event(recording, {}, [&](const Event& event) { seen.emplace_back(event.thread, event.time); });
  EXPECT_THAT(seen, ElementsAre(std::pair{0u, 10u}, std::pair{0u, 30u}));
  EXPECT_EQ(report.unreadable, 1u);
  EXPECT_NE(report.first_error, "");
}

TEST(Events, AnEmptyRecordingHasNone) {
  RecordingBuilder build;
  build.process(100);
  Recording recording = build.open();
  EXPECT_TRUE(merged(recording, {.classes = kAllRecords}).empty());
}

}  // namespace
}  // namespace penna::events_test
