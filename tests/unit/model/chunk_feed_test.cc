// SPDX-License-Identifier: MIT
// ChunkFeed: every chunk once, in order, whichever thread unpacked it; damaged ones too; and stopping early.
#include "model/events/chunk_feed.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "recording_builder.h"

namespace penna::chunk_feed_test {
namespace {

constexpr uint64_t kChunks = 60;

// A thread of so many chunks.
Recording made(RecordingBuilder& build) {
  auto& thread = build.thread(build.process(100), 1);
  for (uint64_t i = 0; i < kChunks; ++i) {
    for (uint64_t n = 0; n < 50 + i; ++n) thread.enter(0x1000 + i, 1000 * i + n);
    thread.new_chunk();
  }
  return build.open();
}
std::vector<ChunkRef> chunks_of(const Recording& recording) {
  return {recording.chunks(0).begin(), recording.chunks(0).end()};
}

TEST(ChunkFeed, GivesAllChunksInOrder) {
  RecordingBuilder build;
  const Recording recording = made(build);
  ASSERT_EQ(recording.chunks(0).size(), kChunks);
  ChunkFeed feed(recording, chunks_of(recording), std::make_shared<Unpackers>());
  std::vector<uint8_t> bytes, expected;
  for (const ChunkRef& chunk : recording.chunks(0)) {
    ASSERT_TRUE(recording.read_chunk(chunk, expected));
    ASSERT_TRUE(feed.next(bytes));
    EXPECT_EQ(bytes, expected) << chunk.sequence;
  }
}

TEST(ChunkFeed, TellsWhichChunksCannotBeRead) {
  RecordingBuilder build;
  const Recording recording = made(build);
  const int file = ::open(build.path().c_str(), O_WRONLY);
  for (const size_t bad : {0, 7, 8, 59}) {
    const ChunkRef& chunk = recording.chunks(0)[bad];
    const uint64_t end = chunk.offset + sizeof(layout::BlockHeader) + sizeof(layout::ChunkHead) + chunk.stored_bytes;
    ASSERT_EQ(::pwrite(file, "\xff\xff\xff\xff", 4, static_cast<off_t>(end - 4)), 4);
  }
  ::close(file);
  ChunkFeed feed(recording, chunks_of(recording), std::make_shared<Unpackers>());
  std::vector<uint8_t> bytes;
  std::vector<size_t> bad;
  for (size_t i = 0; i < kChunks; ++i) {
    const Result<> read = feed.next(bytes);
    if (read) continue;
    bad.push_back(i);
    EXPECT_NE(read.error().text.find(build.path()), std::string::npos) << read.error().text;
  }
  EXPECT_EQ(bad, (std::vector<size_t>{0, 7, 8, 59}));
}

TEST(ChunkFeed, NeedNotBeReadToItsEnd) {
  RecordingBuilder build;
  const Recording recording = made(build);
  std::vector<uint8_t> bytes;
  for (int taken = 0; taken < 20; ++taken) {
    ChunkFeed feed(recording, chunks_of(recording), std::make_shared<Unpackers>());
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(feed.next(bytes));
  }
}

}  // namespace
}  // namespace penna::chunk_feed_test
