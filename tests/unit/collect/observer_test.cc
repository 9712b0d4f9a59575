// SPDX-License-Identifier: MIT
// FreshRecords and the checks of open chunks: every committed record once, in order, however its chunk arrives.
#include "collect/observer.h"

#include <gtest/gtest.h>

#include "collect/process_drain.h"
#include "fake_channel.h"
#include "recording/records.h"

namespace penna::observer_test {
namespace {

// Entries of different functions, told apart by the upper half.
constexpr uint64_t call(uint64_t number) { return number << 32 | 4096 | PENNA_TAG_ENTRY; }
const uint64_t kBusy = penna_full_header(PENNA_KIND_LOCK, 2, 1024) | PENNA_TAG_BUSY;

struct Seen : Observer {
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

class ObserverTest : public testing::Test {
 protected:
  ObserverTest() {
    char folder[] = "/tmp/penna-observer-XXXXXX";
    folder_ = ::mkdtemp(folder);
    writer_.emplace(*RecordingWriter::create(folder_ + "/r.penna"));
    fake_.seal();
    drain_.emplace(*ChannelMap::map(fake_.memory()), 0, static_cast<uint32_t>(::getpid()));
    drain_->set_observer(&seen_);
  }
  ~ObserverTest() override {
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

TEST_F(ObserverTest, OpenChunkIsSeenAsItGrows) {
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
  EXPECT_EQ(seen_.calls, (Calls{1, 2, 3})) << "the events were not shown yet";
  drain_->drain(*writer_, 10);
  EXPECT_EQ(seen_.calls, (Calls{1, 2, 3, 4}));
}

TEST_F(ObserverTest, WhatLiesBehindARecordBeingWrittenWaits) {
  fake_.write_chunk(0, 7, 0, {call(1), kBusy, 42, call(2)});
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, (Calls{1}));
  words(0)[1] &= ~uint64_t{3};  // committed: a lock
  drain_->show_open_chunks(*writer_);
  EXPECT_EQ(seen_.calls, (Calls{1, 0, 2}));
}

TEST_F(ObserverTest, AChunkIsNotSeenBeforeTheOneInFrontOfIt) {
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
TEST_F(ObserverTest, AChunkThatOvertookAnotherIsSeenBehindIt) {
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

TEST_F(ObserverTest, AtTheEndEverythingIsSeen) {
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

// A chunk of one record, by a thread that says that it is so and so.
std::vector<uint8_t> chunk_of(uint32_t serial, uint64_t sequence, uint64_t number) {
  std::vector<uint8_t> chunk(sizeof(penna_chunk) + sizeof(uint64_t));
  penna_chunk header{};
  header.ctf_magic = PENNA_CTF_MAGIC;
  header.thread_serial = serial;
  header.sequence = sequence;
  header.content_bits = chunk.size() * 8;
  const uint64_t record = call(number);
  std::memcpy(chunk.data(), &header, sizeof header);
  std::memcpy(chunk.data() + sizeof header, &record, sizeof record);
  return chunk;
}

TEST_F(ObserverTest, HostileThreadsAreBounded) {
  constexpr uint32_t kThreads = Budget::kThreads + 1000;
  Seen seen;
  FreshRecords fresh(0, seen);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const auto chunk = chunk_of(i * 16001 + 1, 0, 1);
    fresh.open_chunk(chunk, chunk.size());
    fresh.full_chunk(chunk, chunk.size());
  }
  EXPECT_LE(fresh.threads(), Budget::kThreads + 1);
  EXPECT_EQ(seen.calls.size(), kThreads) << "each once";
  fresh.full_chunk(chunk_of(1, 1, 2), sizeof(penna_chunk) + sizeof(uint64_t));
  EXPECT_EQ(seen.calls.back(), 2u) << "threads seen earlier must not lose events";
}

TEST_F(ObserverTest, WaitingHostileChunksAreBounded) {
  auto budget = std::make_shared<Budget>();
  Seen seen;
  FreshRecords one(0, seen, budget), other(1, seen, budget);
  std::vector<uint8_t> chunk = chunk_of(0, 0, 0);
  chunk.resize(PENNA_CHUNK_BYTES);
  constexpr uint32_t kSerials = 2 * Budget::kWaitingBytes / PENNA_CHUNK_BYTES;
  size_t most = 0;
  for (uint64_t sequence : {7, 9, 5}) {  // each waits for the first, which never comes
    for (uint32_t serial = 1; serial <= kSerials; ++serial) {
      const auto header = chunk_of(serial, sequence, serial);
      std::copy(header.begin(), header.end(), chunk.begin());
      (serial % 2 == 0 ? one : other).full_chunk(chunk, chunk.size());
      most = std::max(most, one.waiting_bytes() + other.waiting_bytes());
    }
  }
  EXPECT_LE(most, Budget::kWaitingBytes);
  EXPECT_GT(most, Budget::kWaitingBytes / 2);
  one.finish();
  other.finish();
  EXPECT_EQ(one.waiting_bytes() + other.waiting_bytes(), 0u);
  EXPECT_GE(seen.calls.size(), size_t{kSerials}) << "at least the first threads are shown";
}

TEST_F(ObserverTest, WhatIsKeptOfHostileThreadsIsBounded) {
  constexpr uint32_t kThreads = Budget::kThreads + 1000;
  auto budget = std::make_shared<Budget>();
  CallRules rules;
  rules.depth = 1;
  {
    ChunkSink sink(0, nullptr, false, budget);
    ChunkFilter filter(0, nullptr, &rules, budget);
    for (uint32_t i = 0; i < kThreads; ++i) {
      const auto chunk = chunk_of(i * 16001 + 1, 0, 1);
      const ChunkSummary summary = sink.scan(chunk);
      sink.store(*writer_, chunk, summary);
      if (i % 16 == 0) filter.apply(chunk);
    }
    EXPECT_LE(sink.threads() + filter.threads(), Budget::kThreads + 2);
    EXPECT_EQ(sink.counts().stored[PENNA_CALLS], kThreads) << "every event must be stored and counted";
    EXPECT_TRUE(budget->threads_reached());
  }
  EXPECT_EQ(budget->threads(), 0u) << "the limit is on threads held at one time";
}

// A chunk full of calls that are never left, each of another function.
std::vector<uint8_t> deep_chunk(uint32_t serial, uint64_t sequence) {
  std::vector<uint8_t> chunk = chunk_of(serial, sequence, 0);
  for (uint64_t number = sequence << 13; chunk.size() + 8 <= PENNA_CHUNK_BYTES; ++number) {
    const uint64_t record = call(number);
    chunk.insert(chunk.end(), reinterpret_cast<const uint8_t*>(&record), reinterpret_cast<const uint8_t*>(&record) + 8);
  }
  reinterpret_cast<penna_chunk*>(chunk.data())->content_bits = chunk.size() * 8;
  return chunk;
}

TEST_F(ObserverTest, WhatStatesOfHostileThreadsGrowToIsBounded) {
  constexpr size_t kMost = 4 << 20;
  auto budget = std::make_shared<Budget>(Budget::Limits{Budget::kThreads, kMost, Budget::kWaitingBytes});
  CallRules rules;
  rules.rough = true;
  rules.min_ticks = 1;
  size_t most = 0;
  {
    ChunkSink sink(0, nullptr, true, budget);
    ChunkFilter filter(0, nullptr, &rules, budget);
    for (uint32_t serial = 1; serial <= 4; ++serial) {
      for (uint64_t sequence = 0; sequence < 16; ++sequence) {
        const auto chunk = deep_chunk(serial, sequence);
        const ChunkSummary summary = sink.scan(chunk);
        sink.discard(chunk, summary);
        filter.apply(chunk);
        filter.preview(chunk);
        most = std::max(most, budget->state_bytes());
      }
    }
    EXPECT_LE(most, kMost);
    EXPECT_GT(most, kMost / 2) << "nothing may be dropped while there is room";
    EXPECT_TRUE(budget->state_reached());
  }
  EXPECT_EQ(budget->state_bytes(), 0u);
}

// While a record in it is being written it waits; a hostile thread gives it away again and again.
TEST_F(ObserverTest, AChunkThatWaitsIsNotTakenTwice) {
  fake_.write_chunk(0, static_cast<uint32_t>(::gettid()), 0, {call(1), kBusy, 42});
  for (int i = 0; i < 1000; ++i) {
    fake_.hand_over(0, 3);
    drain_->drain(*writer_, 10);
  }
  EXPECT_EQ(drain_->unfinished(), 1u);
}

}  // namespace
}  // namespace penna::observer_test
