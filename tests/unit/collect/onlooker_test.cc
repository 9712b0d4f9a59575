// SPDX-License-Identifier: MIT
// FreshRecords and the looks at open chunks: every committed record once, in its order, whatever way its chunk takes.
#include "collect/onlooker.h"

#include <gtest/gtest.h>

#include "collect/process_drain.h"
#include "fake_channel.h"
#include "recording/records.h"

namespace penna::onlooker_test {
namespace {

// Entries of different functions, told apart by the upper half.
constexpr uint64_t call(uint64_t number) { return number << 32 | 4096 | PENNA_TAG_ENTRY; }
const uint64_t kBusy = penna_full_header(PENNA_KIND_LOCK, 2, 1024) | PENNA_TAG_BUSY;

struct Seen : Onlooker {
  std::vector<uint64_t> calls;  // numbers, as they came
  int ends = 0;
  void began(const Process&) override {}
  void records(uint32_t, std::span<const uint8_t> chunk) override {
    RecordCursor in(chunk);
    Record record;
    while (in.next(record)) calls.push_back(record.pc & UINT32_MAX);
  }
  void stacks(uint32_t, uint32_t, std::span<const penna_stack_node>) override {}
  void ended(const ProcessEnd&) override { ++ends; }
  void up_to_date() override {}
};
using Calls = std::vector<uint64_t>;

class OnlookerTest : public testing::Test {
 protected:
  OnlookerTest() {
    char folder[] = "/tmp/penna-onlooker-XXXXXX";
    folder_ = ::mkdtemp(folder);
    writer_.emplace(*RecordingWriter::create(folder_ + "/r.penna"));
    fake_.seal();
    drain_.emplace(*ChannelMap::map(fake_.memory()), 0, static_cast<uint32_t>(::getpid()));
    drain_->set_onlooker(&seen_);
  }
  ~OnlookerTest() override {
    ::unlink((folder_ + "/r.penna").c_str());
    ::rmdir(folder_.c_str());
  }
  uint64_t* words(uint32_t chunk) const {
    return reinterpret_cast<uint64_t*>(fake_.chunk(chunk) + sizeof(penna_chunk));
  }

  std::string folder_;
  FakeChannel fake_;
  std::optional<RecordingWriter> writer_;
  Seen seen_;
  std::optional<ProcessDrain> drain_;
};

TEST_F(OnlookerTest, AnOpenChunkIsSeenAsItGrowsAndItsRestWhenItIsFull) {
  fake_.write_chunk(3, 7, 0, {call(1), call(2)});
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, (Calls{1, 2}));
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, (Calls{1, 2})) << "nothing new";
  words(3)[2] = call(3);
  drain_->show_open_chunks(*writer_);
  words(3)[3] = call(4);
  fake_.hand_over(3, 4);
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, (Calls{1, 2, 3})) << "it is on its way";
  drain_->drain(*writer_, 10);
  EXPECT_EQ(seen_.calls, (Calls{1, 2, 3, 4}));
}

TEST_F(OnlookerTest, WhatLiesBehindARecordBeingWrittenWaits) {
  fake_.write_chunk(0, 7, 0, {call(1), kBusy, 42, call(2)});
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, (Calls{1}));
  words(0)[1] &= ~uint64_t{3};  // committed: a lock
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, (Calls{1, 0, 2}));
}

TEST_F(OnlookerTest, AChunkIsNotSeenBeforeTheOneInFrontOfIt) {
  fake_.write_chunk(0, 7, 0, {call(1)});
  fake_.hand_over(0, 1);
  fake_.write_chunk(1, 7, 1, {call(2)});
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, Calls{});
  drain_->drain(*writer_, 10);
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, (Calls{1, 2}));
}

// The collector stores a full chunk while the one in front of it still waits for a record.
TEST_F(OnlookerTest, AChunkThatOvertookAnotherIsSeenBehindIt) {
  fake_.write_chunk(0, 7, 0, {call(1), kBusy, 42});
  fake_.hand_over(0, 3);
  fake_.write_chunk(1, 7, 1, {call(2)});
  fake_.hand_over(1, 1);
  drain_->drain(*writer_, 10);
  EXPECT_EQ(seen_.calls, Calls{});
  words(0)[1] &= ~uint64_t{3};
  drain_->drain(*writer_, 10);
  EXPECT_EQ(seen_.calls, (Calls{1, 0, 2}));
}

TEST_F(OnlookerTest, AtTheEndEverythingIsSeen) {
  fake_.write_chunk(0, 7, 0, {call(1)});
  drain_->show_open_chunks(*writer_);
  fake_.write_chunk(2, 8, 5, {call(9)});  // its first five were lost
  fake_.hand_over(2, 1);
  words(0)[1] = call(2);
  words(0)[2] = kBusy;
  words(0)[4] = call(3);
  drain_->finish(*writer_, true, EndKind::kExited, 0, 9999);
  std::sort(seen_.calls.begin(), seen_.calls.end());
  EXPECT_EQ(seen_.calls, (Calls{1, 2, 3, 9}));
  EXPECT_EQ(seen_.ends, 1);
}

TEST_F(OnlookerTest, HostileChunksAreBounded) {
  Seen seen;
  FreshRecords fresh(0, seen);
  std::vector<uint8_t> chunk(PENNA_CHUNK_BYTES, 0xff);
  penna_chunk header{};
  for (uint64_t sequence = 1000; sequence > 0; --sequence) {
    header.sequence = sequence;
    header.content_bits = UINT64_MAX;
    std::memcpy(chunk.data(), &header, sizeof header);
    fresh.full_chunk(chunk, chunk.size());
    fresh.open_chunk(chunk, sizeof header);
  }
  fresh.finish();
  SUCCEED();
}

}  // namespace
}  // namespace penna::onlooker_test
