// SPDX-License-Identifier: MIT
// LiveFeed and LiveOutput: events that arrive too fast are dropped and counted; a slow reader blocks no thread.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/fd.h"
#include "live/live_feed.h"
#include "live/live_output.h"
#include "recording/records.h"

namespace penna::live_test {
namespace {

std::vector<uint8_t> chunk_of(const std::vector<uint64_t>& words) {
  penna_chunk header{};
  header.ctf_magic = PENNA_CTF_MAGIC;
  header.thread_serial = 3;
  header.content_bits = (sizeof header + words.size() * 8) * 8;
  std::vector<uint8_t> bytes(header.content_bits / 8);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!words.empty()) std::memcpy(bytes.data() + sizeof header, words.data(), words.size() * 8);
  return bytes;
}

TEST(LiveFeed, DescriptionsOutliveTheLimitAndTheRestIsCounted) {
  LiveFeed feed;
  const std::vector<uint8_t> full = chunk_of(std::vector<uint64_t>(8000, penna_call_header(PENNA_TAG_ENTRY, 1, 1)));
  size_t given = 0;
  for (; given + full.size() <= LiveFeed::kMaxBytes; given += full.size()) feed.records(0, full);
  const std::vector<uint8_t> mixed =
      chunk_of({penna_call_header(PENNA_TAG_ENTRY, 1, 1), penna_full_header(PENNA_KIND_THREAD, 3, 1), 0x41, 0,
                penna_full_header(PENNA_KIND_FREE, 2, 1), 0x1000, penna_call_header(PENNA_TAG_EXIT, 1, 1)});
  feed.records(0, full);
  feed.records(0, chunk_of(std::vector<uint64_t>(8000, penna_call_header(PENNA_TAG_EXIT, 1, 1))));
  for (int i = 0; i < 1000; ++i) feed.records(0, mixed);
  LiveBatch batch;
  feed.up_to_date();
  EXPECT_TRUE(feed.take(batch));
  EXPECT_LE(batch.bytes, LiveFeed::kMaxBytes);
  uint64_t names = 0, calls = 0, dropped = 0, others = 0;
  const auto count = [&] {
    for (const LiveRecords& records : batch.records) {
      dropped += records.calls_dropped;
      others += records.others_dropped;
      RecordCursor in(records.chunk);
      Record record;
      while (in.next(record)) {
        names += record.kind == PENNA_KIND_THREAD;
        calls += record.kind == PENNA_KIND_CALL_ENTRY;
      }
    }
  };
  count();
  ProcessEnd end;
  feed.ended(end);
  feed.close();
  EXPECT_FALSE(feed.take(batch));
  EXPECT_EQ(batch.ended.size(), 1u);
  count();
  EXPECT_EQ(names, 1000u);
  EXPECT_EQ(calls + dropped, given / full.size() * 8000 + 8000 + 1000) << "calls given";
  EXPECT_GT(dropped, 0u);
  EXPECT_LE(others, 1000u);
}

TEST(LiveFeed, DescriptionsHaveTheirOwnLimit) {
  LiveFeed feed;
  const std::vector<uint8_t> full = chunk_of(std::vector<uint64_t>(8000, penna_call_header(PENNA_TAG_ENTRY, 1, 1)));
  for (size_t given = 0; given + full.size() <= LiveFeed::kMaxBytes; given += full.size()) feed.records(0, full);
  constexpr uint64_t kNames = 1000, kChunks = 2 * LiveFeed::kMaxBytes / (kNames * 24);
  std::vector<uint64_t> words;
  for (uint64_t i = 0; i < kNames; ++i)
    words.insert(words.end(), {penna_full_header(PENNA_KIND_THREAD, 3, 1), 0x41, 0});
  feed.records(0, full);
  for (uint64_t i = 0; i < kChunks; ++i) feed.records(0, chunk_of(words));
  ProcessEnd end;
  feed.ended(end);
  feed.close();
  LiveBatch batch;
  EXPECT_FALSE(feed.take(batch));
  EXPECT_LE(batch.described, LiveFeed::kMaxBytes);
  uint64_t names = 0, others = 0;
  for (const LiveRecords& records : batch.records) {
    others += records.others_dropped;
    RecordCursor in(records.chunk);
    for (Record record; in.next(record);) names += record.kind == PENNA_KIND_THREAD;
  }
  EXPECT_GT(names, kChunks * kNames / 3);
  EXPECT_GT(others, 0u);
  EXPECT_EQ(names + others, kChunks * kNames);
}

TEST(LiveOutput, UnreadPipeKeepsTheRestForLater) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd reader(ends[0]), writer(ends[1]);
  LiveOutput output(writer.get());
  const std::string line(1000, 'x');
  for (int i = 0; i < 1000 && output.has_room(); ++i) output.put(line);
  EXPECT_FALSE(output.has_room());
  EXPECT_FALSE(output.flush(0));
  EXPECT_FALSE(output.is_over());
  std::vector<char> taken(1 << 20);
  EXPECT_GT(::read(reader.get(), taken.data(), taken.size()), 0);
  (void)output.flush(0);
  EXPECT_TRUE(output.has_room());
}

TEST(LiveOutput, AReaderWhoLeftEndsIt) {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd reader(ends[0]), writer(ends[1]);
  reader = Fd();
  LiveOutput output(writer.get());
  output.put("x");
  EXPECT_TRUE(output.flush(0)) << "the queue should be empty";
  EXPECT_TRUE(output.is_over());
}

}  // namespace
}  // namespace penna::live_test
