// SPDX-License-Identifier: MIT
// Tracks of recordings built event by event: what becomes a slice, a wait, a hold, a point.
#include "view/tracks/tracks.h"

#include <gmock/gmock.h>

#include "../report/sample_recording.h"

namespace penna::tracks_test {
namespace {

using testing::ElementsAre;

class TracksTest : public testing::Test {
 protected:
  const std::vector<Track>& tracks(uint64_t most = kMostSlices) {
    recording_.emplace(build.open());
    names_ = std::make_unique<Names>(*recording_, symbols_);
    WalkReport walk;
    tracks_ = make_tracks(
        *recording_, names_->map(), *names_, ids, [] {}, &walk, most);
    return tracks_;
  }

  RecordingBuilder build;
  NameIds ids;

 private:
  std::optional<Recording> recording_;
  SampleSymbols symbols_;
  std::unique_ptr<Names> names_;
  std::vector<Track> tracks_;
};

TEST_F(TracksTest, CallsAreSlicesByDepth) {
  auto& thread = build.thread(build.process(100), 1);
  thread.enter(0x100, 1000);
  thread.enter(0x200, 1100);
  thread.exit(0x200, 1300);
  thread.enter(0x200, 1400);
  thread.exit(0x200, 1500);
  thread.exit(0x100, 2000);
  thread.enter(0x300, 2500);
  const Track& track = tracks()[0];
  ASSERT_EQ(track.rows.size(), 2u);
  EXPECT_THAT(track.rows[0].start, ElementsAre(0, 1500));
  EXPECT_THAT(track.rows[0].end, ElementsAre(1000, 1500));
  EXPECT_THAT(track.rows[0].flags, ElementsAre(0, Slices::kEndUnknown));
  EXPECT_THAT(track.rows[1].start, ElementsAre(100, 400));
  EXPECT_EQ(track.rows[1].name[0], track.rows[1].name[1]);
  EXPECT_NE(track.rows[0].name[0], track.rows[1].name[0]);
}

TEST_F(TracksTest, WhatFindsNoRoomIsCounted) {
  auto& thread = build.thread(build.process(100), 1);
  for (uint64_t i = 0; i < 5; ++i) thread.enter(0x100, 1000 + 10 * i), thread.exit(0x100, 1005 + 10 * i);
  const Track& track = tracks(3)[0];
  EXPECT_EQ(track.rows[0].size(), 3u);
  EXPECT_EQ(track.calls_left_out, 2u);
}

TEST_F(TracksTest, AWaitKnowsWhoHeldTheLock) {
  const auto process = build.process(100);
  auto& holder = build.thread(process, 7);
  auto& waiter = build.thread(process, 8);
  holder.lock(0x9000, 1000);
  holder.unlock(0x9000, 1600);
  waiter.waited(0x9000, 1100, 1600, 0, 1007);
  waiter.unlock(0x9000, 1700);
  const std::vector<Track>& all = tracks();
  ASSERT_EQ(all[1].waits.size(), 1u);
  EXPECT_EQ(all[1].waits[0].start, 100);
  EXPECT_EQ(all[1].waits[0].end, 600);
  EXPECT_EQ(all[1].waits[0].holder, 0);
  EXPECT_EQ(all[1].waits[0].kind, TrackWait::kLock);
  ASSERT_EQ(all[0].holds.size(), 1u);
  EXPECT_EQ(all[0].holds[0].end - all[0].holds[0].start, 600);
  EXPECT_EQ(all[0].holds[0].name, all[1].waits[0].name);
}

}  // namespace
}  // namespace penna::tracks_test
