// SPDX-License-Identifier: MIT
// FollowedRecording: each record comes once and in order, whatever part of the file is written, and in whatever form.
#include "recording/followed_recording.h"

#include <gmock/gmock.h>

#include "sample.h"

namespace penna::followed_recording_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kBegin = 1'000'000;
constexpr uint64_t kMost = 1 << 20;

class FollowedRecordingTest : public testing::Test {
 protected:
  FollowedRecordingTest() : path_(directory_.file("a.penna")), writer_(std::move(*RecordingWriter::create(path_))) {
    EXPECT_TRUE(writer_.write_session(sample_session()));
    EXPECT_TRUE(
        writer_.write_process({.number = 0, .pid = 100, .executable = {}, .command = {}, .start_ticks = kBegin}));
    followed_.emplace(std::move(*FollowedRecording::open(path_)));
  }

  // Entries of a thread at these times, of the chunk with that number; those before `from` are left out.
  static std::vector<uint8_t> chunk(uint64_t sequence, const std::vector<uint64_t>& times, uint64_t from = 0,
                                    uint32_t serial = 1) {
    ChunkBuilder build(kBegin, serial, sequence);
    for (const uint64_t time : times)
      if (time >= from) build.entry(0x5555'0000'1000, kBegin + time);
    std::vector<uint8_t> bytes = build.close();
    bytes.resize(build.size());
    return bytes;
  }
  void write_whole(std::vector<uint8_t> bytes) {
    bytes.resize(PENNA_CHUNK_BYTES);
    EXPECT_TRUE(writer_.write_chunk(0, bytes, scan_chunk(bytes)));
  }
  void write_pieces(const std::vector<std::vector<uint8_t>>& pieces) {
    std::vector<uint8_t> all;
    for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
    EXPECT_TRUE(writer_.write_open_pieces(0, all));
  }
  // The times that come in a turn, since kBegin; 0 for a gap.
  std::vector<uint64_t> turn() {
    std::vector<uint64_t> times;
    while (followed_->read(kMost)) {
    }
    (void)followed_->describe({kBegin, 0, 0});
    (void)followed_->deliver([&](const FollowedRecording::Records& records) {
      if (records.gap) times.push_back(0);
      RecordCursor cursor(records.chunk);
      for (Record record; cursor.next(record);) times.push_back(record.time - kBegin);
    });
    return times;
  }

  TempDir directory_;
  std::string path_;
  RecordingWriter writer_;
  std::optional<FollowedRecording> followed_;
};

TEST_F(FollowedRecordingTest, RecordsComeOneTurnLateAndOnce) {
  EXPECT_THAT(turn(), IsEmpty());
  EXPECT_EQ(followed_->recording().processes().size(), 1u);
  write_whole(chunk(0, {1, 2, 3}));
  EXPECT_THAT(turn(), IsEmpty());
  write_whole(chunk(1, {4}));
  EXPECT_THAT(turn(), ElementsAre(1, 2, 3));
  EXPECT_THAT(turn(), ElementsAre(4));
  EXPECT_THAT(turn(), IsEmpty());
  EXPECT_FALSE(followed_->is_finished());
  EXPECT_TRUE(writer_.finish());
  EXPECT_TRUE(followed_->is_finished());
  EXPECT_THAT(turn(), IsEmpty());
}

TEST_F(FollowedRecordingTest, AWholeChunkGivesWhatItsPiecesHadNot) {
  write_pieces({chunk(0, {1, 2})});
  turn();
  write_pieces({chunk(0, {3})});
  EXPECT_THAT(turn(), ElementsAre(1, 2));
  write_whole(chunk(0, {1, 2, 3, 4, 5}));
  write_pieces({chunk(1, {6})});
  EXPECT_THAT(turn(), ElementsAre(3));
  EXPECT_THAT(turn(), ElementsAre(4, 5, 6));
}

TEST_F(FollowedRecordingTest, WhatAFilterHasTakenOutOfPiecesIsToldByTime) {
  write_pieces({chunk(0, {2, 4})});
  turn();
  write_whole(chunk(0, {1, 2, 3, 4, 5}));
  EXPECT_THAT(turn(), ElementsAre(2, 4));
  EXPECT_THAT(turn(), ElementsAre(5));
}

TEST_F(FollowedRecordingTest, APieceOfTheNextChunkWaitsForTheLast) {
  write_pieces({chunk(0, {1})});
  write_pieces({chunk(1, {4})});
  turn();
  EXPECT_THAT(turn(), ElementsAre(1));
  write_whole(chunk(0, {1, 2, 3}));
  EXPECT_THAT(turn(), IsEmpty());
  EXPECT_THAT(turn(), ElementsAre(2, 3, 4));
}

TEST_F(FollowedRecordingTest, ChunksThatWereThrownAwayAreAGap) {
  write_whole(chunk(0, {1}));
  write_whole(chunk(5, {9}));
  turn();
  EXPECT_THAT(turn(), ElementsAre(1, 0, 9));
  write_pieces({chunk(9, {20})});
  turn();
  std::vector<uint64_t> all;
  for (int i = 0; i < 10; ++i)
    for (const uint64_t time : turn()) all.push_back(time);
  EXPECT_THAT(all, ElementsAre(0, 20));
}

TEST_F(FollowedRecordingTest, ABlockThatIsBeingWrittenIsWaitedFor) {
  turn();
  const std::vector<uint8_t> before = slurp(path_);
  write_whole(chunk(0, {1, 2, 3}));
  const std::vector<uint8_t> after = slurp(path_);
  const std::string cut = directory_.file("b.penna");
  for (size_t bytes = before.size(); bytes < after.size(); bytes += 13) {
    spill(cut, {after.begin(), after.begin() + static_cast<ptrdiff_t>(bytes)});
    followed_.emplace(std::move(*FollowedRecording::open(cut)));
    turn();
    ASSERT_THAT(turn(), IsEmpty()) << bytes;
    std::ofstream(cut, std::ios::binary | std::ios::app)
        .write(reinterpret_cast<const char*>(after.data() + bytes), static_cast<std::streamsize>(after.size() - bytes));
    turn();
    ASSERT_THAT(turn(), ElementsAre(1, 2, 3)) << bytes;
  }
}

TEST_F(FollowedRecordingTest, AThreadHasTheIndexInWhichOrderItCame) {
  write_whole(chunk(0, {5}, 0, 7));
  write_whole(chunk(0, {1}, 0, 2));
  turn();
  ASSERT_EQ(followed_->recording().threads().size(), 2u);
  EXPECT_EQ(followed_->recording().threads()[0].serial, 7u);
  EXPECT_TRUE(writer_.finish());
  Recording finished = std::move(*Recording::open(path_));
  EXPECT_EQ(finished.threads()[0].serial, 2u);
  const std::pair<uint32_t, uint32_t> order[] = {{0, 7}, {3, 1}, {0, 2}};
  finished.number_threads(order);
  EXPECT_EQ(finished.threads()[0].serial, 7u);
  EXPECT_THAT(finished.processes()[0].threads, ElementsAre(1, 0));
  ASSERT_EQ(finished.chunks(0).size(), 1u);
  EXPECT_EQ(finished.chunks(0)[0].time_begin, kBegin + 5);
  EXPECT_EQ(finished.chunks(1)[0].time_begin, kBegin + 1);
}

TEST_F(FollowedRecordingTest, WhatIsNoRecordingIsRefused) {
  EXPECT_FALSE(FollowedRecording::open(directory_.file("nothing")));
  const std::string path = directory_.file("text");
  spill(path, {'a', 'b'});
  EXPECT_FALSE(FollowedRecording::open(path));
}

}  // namespace
}  // namespace penna::followed_recording_test
