// SPDX-License-Identifier: MIT
// GrowingTracks, LiveBytes: records that come in pieces give what a finished recording gives, and what is open up to
// now is shown.
#include "view/tracks/growing_tracks.h"

#include <gmock/gmock.h>

#include "../report/sample_recording.h"
#include "column_reader.h"

namespace penna::growing_tracks_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr PixelView kView{0, 10'000, 10'000};

class GrowingTracksTest : public testing::Test {
 protected:
  // Adds the recording's chunks one by one, and settles after each.
  GrowingTracks& grow(uint64_t now, uint64_t most = GrowingTracks::kMost) {
    recording_.emplace(build.open());
    names_ = std::make_unique<Names>(*recording_, symbols_);
    tracks_ = std::make_unique<GrowingTracks>(*recording_, ids, most);
    tracks_->use_names(*names_);
    for (uint32_t thread = 0; thread < recording_->threads().size(); ++thread)
      for (const ChunkRef& chunk : recording_->chunks(thread)) {
        std::vector<uint8_t> bytes;
        EXPECT_TRUE(recording_->read_chunk(chunk, bytes));
        tracks_->add(thread, bytes, false);
        tracks_->settle(now);
      }
    return *tracks_;
  }

  RecordingBuilder build;
  NameIds ids;

 private:
  std::optional<Recording> recording_;
  SampleSymbols symbols_;
  std::unique_ptr<Names> names_;
  std::unique_ptr<GrowingTracks> tracks_;
};

TEST_F(GrowingTracksTest, OpenCallsLastUntilNow) {
  auto& thread = build.thread(build.process(100, 1, 1000), 1);
  thread.enter(0x100, 1000);
  thread.enter(0x200, 1100);
  thread.exit(0x200, 1300);
  thread.new_chunk();
  thread.enter(0x200, 1400);
  GrowingTracks& tracks = grow(3000);
  EXPECT_EQ(tracks.rows(0), 2u);
  EXPECT_EQ(tracks.events(0)[PENNA_CALLS], 4u);
  const ColumnReader read(tracks.slices_answer(0, kView));
  EXPECT_THAT(read.column<double>("start"), ElementsAre(0, 100, 400));
  EXPECT_THAT(read.column<double>("duration"), ElementsAre(2000, 200, 1600));
  EXPECT_THAT(read.column<uint8_t>("flags"), ElementsAre(Slices::kEndUnknown, 0, Slices::kEndUnknown));
}

TEST_F(GrowingTracksTest, TheNewestCallsAreKept) {
  auto& thread = build.thread(build.process(100, 1, 1000), 1);
  for (uint64_t i = 0; i < 8; ++i) thread.enter(0x100, 1000 + 10 * i), thread.exit(0x100, 1005 + 10 * i);
  const std::string answer = grow(2000, 7).slices_answer(0, kView);
  const ColumnReader read(answer);
  EXPECT_THAT(read.column<double>("start"), ElementsAre(20, 30, 40, 50, 60, 70));
  EXPECT_THAT(read.header(), testing::HasSubstr("\"left_out\":2"));
}

TEST(LiveBytes, AFreeMayComeBeforeItsAllocation) {
  LiveBytes live;
  const SampleScale scale(0);
  const auto line = [&](LineKind kind, uint64_t address, uint64_t time, uint64_t size = 0) {
    TimelineLine one;
    one.kind = kind;
    one.address = address;
    one.time = time;
    one.size = size;
    live.line(one, scale);
  };
  const auto changes = [&] {
    std::vector<std::pair<uint64_t, uint64_t>> all;
    live.changes([&](uint64_t ticks, uint64_t bytes) { all.emplace_back(ticks, bytes); });
    return all;
  };
  line(LineKind::kFree, 0x10, 50);
  line(LineKind::kAllocation, 0x20, 40, 7);
  line(LineKind::kAllocation, 0x10, 30, 100);
  EXPECT_THAT(changes(), ElementsAre(Pair(30, 100), Pair(40, 107), Pair(50, 7)));
  // The address is allocated again before its free is reported.
  line(LineKind::kAllocation, 0x20, 70, 3);
  line(LineKind::kFree, 0x20, 60);
  EXPECT_EQ(changes().back(), std::make_pair(uint64_t{70}, uint64_t{3}));
  // An unknown block is not counted, nor is a realloc that fails.
  line(LineKind::kFree, 0x99, 80);
  line(LineKind::kFree, 0x20, 90);
  line(LineKind::kReallocFailed, 0x20, 91);
  EXPECT_EQ(changes().back().second, 3u);
}

}  // namespace
}  // namespace penna::growing_tracks_test
