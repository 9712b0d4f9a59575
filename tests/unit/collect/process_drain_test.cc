// SPDX-License-Identifier: MIT
// ChannelMap and ProcessDrain on handmade channels: what goes into the recording, what is returned to the target, and
// what a target can do that breaks the rules.
#include "collect/process_drain.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fake_channel.h"
#include "recording/reader.h"

namespace penna::process_drain_test {
namespace {

constexpr uint64_t kCall = 0x1234'5678'0000'1001;  // entry, time 1024
const uint64_t kBusy = penna_full_header(PENNA_KIND_LOCK, 2, 1024) | PENNA_TAG_BUSY;

class ProcessDrainTest : public testing::Test {
 protected:
  ProcessDrainTest() {
    char folder[] = "/tmp/penna-drain-XXXXXX";
    folder_ = ::mkdtemp(folder);
    writer_.emplace(*RecordingWriter::create(path()));
  }
  ~ProcessDrainTest() override {
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/r.penna"; }

  ProcessDrain make_drain(uint32_t time_shift = 0) {
    fake_.seal();
    auto map = ChannelMap::map(fake_.memory());
    EXPECT_TRUE(map) << map.error().text;
    auto sink = std::make_shared<ChunkSink>(0);
    sink->set_time_shift(time_shift);
    return ProcessDrain(std::move(*map), 0, static_cast<uint32_t>(::getpid()), nullptr, std::move(sink));
  }
  Recording finish_and_open(ProcessDrain& drain, bool gone = true) {
    drain.finish(*writer_, gone, EndKind::kExited, 0, 9999);
    EXPECT_TRUE(writer_->finish());
    auto recording = Recording::open(path());
    EXPECT_TRUE(recording) << recording.error().text;
    return std::move(*recording);
  }

  std::string folder_;
  FakeChannel fake_;
  std::optional<RecordingWriter> writer_;
};

TEST_F(ProcessDrainTest, FullChunkIsStoredZeroedAndGivenBack) {
  ProcessDrain drain = make_drain();
  fake_.write_chunk(3, 7, 0, {kCall, kCall + 4, kCall + 8});
  fake_.hand_over(3, 3);
  EXPECT_EQ(drain.drain(*writer_, 10), 1u);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 3u);
  EXPECT_EQ(fake_.bitmap()[0], ~uint64_t{0});
  EXPECT_EQ(fake_.channel()->backlog, 0u);
  EXPECT_EQ(fake_.channel()->freed_generation, 1u);
  for (size_t i = 0; i < 256; ++i) ASSERT_EQ(fake_.chunk(3)[i], 0) << i;
  Recording recording = finish_and_open(drain);
  ASSERT_EQ(recording.chunks().size(), 1u);
  EXPECT_EQ(recording.chunks()[0].events[PENNA_CALLS], 3u);
  EXPECT_EQ(recording.threads()[0].tid, 7u);
}

TEST_F(ProcessDrainTest, ChunkWaitsForItsUnfinishedRecord) {
  ProcessDrain drain = make_drain();
  fake_.write_chunk(0, 7, 0, {kCall, kBusy, 42, kCall});
  fake_.hand_over(0, 4);
  drain.drain(*writer_, 10);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 0u);
  EXPECT_EQ(fake_.bitmap()[0] & 1, 0u) << "the chunk must not be reused yet";
  reinterpret_cast<uint64_t*>(fake_.chunk(0) + sizeof(penna_chunk))[1] &= ~uint64_t{3};  // the writer commits
  drain.drain(*writer_, 10);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 2u);
  EXPECT_EQ(drain.counts().stored[PENNA_LOCKS], 1u);
  EXPECT_EQ(fake_.bitmap()[0] & 1, 1u);
}

TEST_F(ProcessDrainTest, DeathInTheMiddleOfARecordLosesOnlyThatRecord) {
  ProcessDrain drain = make_drain();
  fake_.write_chunk(5, 7, 0, {kCall, kCall, kBusy, 42, kCall});
  Recording recording = finish_and_open(drain);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 3u);
  EXPECT_EQ(drain.counts().torn, 1u);
  ASSERT_EQ(recording.chunks().size(), 1u);
  EXPECT_EQ(recording.chunks()[0].torn, 1u);
  ASSERT_TRUE(recording.processes()[0].end);
  EXPECT_EQ(recording.processes()[0].end->how, EndKind::kExited);
}

// A thread tells what it lost, and how long it waited, in records; the counters of the process hold all of it, and what
// nobody could tell any more.
TEST_F(ProcessDrainTest, WhatAThreadLostIsItsOwnAndTheProcesss) {
  ProcessDrain drain = make_drain();
  const uint64_t lost = penna_full_header(PENNA_KIND_LOST, 3, 1024),
                 blocked = penna_full_header(PENNA_KIND_BLOCKED, 2, 1024);
  fake_.write_chunk(0, 7, 0,
                    {lost, uint64_t{5} << 32 | 3, uint64_t{1} << 32, kBusy, 42});  // 3 calls, 5 allocs, 1 point
  fake_.hand_over(0, 5);
  drain.drain(*writer_, 10);  // waits for the busy one: looked at, not counted
  reinterpret_cast<uint64_t*>(fake_.chunk(0) + sizeof(penna_chunk))[3] &= ~uint64_t{3};
  fake_.write_chunk(1, 7, 1, {lost, 10, 0, blocked, 700});
  fake_.hand_over(1, 5);
  fake_.write_chunk(2, 8, 0, {kCall});
  const uint64_t counted[PENNA_CLASS_COUNT] = {20, 5, 0, 1};
  std::memcpy(fake_.channel()->counters.lost, counted, sizeof counted);
  fake_.channel()->counters.blocked_ticks = 900;
  Recording recording = finish_and_open(drain);
  using Counts = std::array<uint64_t, PENNA_CLASS_COUNT>;
  ASSERT_EQ(recording.threads().size(), 2u);
  EXPECT_EQ(recording.threads()[0].health.lost, (Counts{13, 5, 0, 1}));
  EXPECT_EQ(recording.threads()[0].health.blocked_ticks, 700u);
  EXPECT_EQ(recording.threads()[1].health.lost, (Counts{}));
  EXPECT_EQ(recording.processes()[0].health.lost, (Counts{20, 5, 0, 1}));
  EXPECT_EQ(recording.processes()[0].health.blocked_ticks, 900u);
}

// All by the same rule, whoever tells: what was not before something else is not after it either. But calls keep their times.
TEST_F(ProcessDrainTest, TimesAreRoundedDownWhereThatIsWanted) {
  ProcessDrain drain = make_drain(5);
  const uint64_t alloc = penna_full_header(PENNA_KIND_ALLOC, 3, 1055),
                 freed = penna_full_header(PENNA_KIND_FREE, 2, 1056);
  fake_.write_chunk(0, 7, 0, {alloc, 0x1000, uint64_t{24} << 32 | 1, freed, 0x1000, kCall | 5 << 2});
  fake_.hand_over(0, 6);
  drain.drain(*writer_, 10);
  Recording recording = finish_and_open(drain);
  ASSERT_EQ(recording.chunks().size(), 1u);
  EXPECT_EQ(recording.chunks()[0].time_begin, 1024u);
  EXPECT_EQ(recording.chunks()[0].time_end, 1056u);
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(recording.read_chunk(recording.chunks()[0], bytes));
  RecordCursor records(bytes);
  EXPECT_EQ(records.header().time_begin, 992u);
  std::vector<uint64_t> times;
  for (Record record; records.next(record);) times.push_back(record.time);
  EXPECT_EQ(times, (std::vector<uint64_t>{1024, 1056, 1024 | 5}));
}

// A module is there from its record on: before the allocations that come after it in the same 2^5 ticks.
TEST_F(ProcessDrainTest, WhatIsDescribedIsRoundedWithTheRest) {
  ProcessDrain drain = make_drain(5);
  uint64_t words[1 + sizeof(penna_module) / 8 + 1] = {
      penna_full_header(PENNA_KIND_MODULE, 1 + sizeof(penna_module) / 8 + 1, 1060)};
  penna_module module{};
  module.start = 0x1000;
  module.end = 0x2000;
  module.path_bytes = 2;
  std::memcpy(words + 1, &module, sizeof module);
  std::memcpy(words + 1 + sizeof module / 8, "/x", 2);
  fake_.write_chunk(0, 7, 0, {});
  std::memcpy(fake_.chunk(0) + sizeof(penna_chunk), words, sizeof words);
  fake_.hand_over(0, std::size(words));
  drain.drain(*writer_, 10);
  Recording recording = finish_and_open(drain);
  ASSERT_EQ(recording.processes()[0].modules.size(), 1u);
  EXPECT_EQ(recording.processes()[0].modules[0].ticks, 1056u);
}

TEST_F(ProcessDrainTest, LivingTargetKeepsItsChunkWhenTheRecordingEnds) {
  ProcessDrain drain = make_drain();
  fake_.write_chunk(5, 7, 0, {kCall});
  Recording recording = finish_and_open(drain, false);
  EXPECT_EQ(recording.chunks().size(), 1u);
  EXPECT_EQ(fake_.bitmap()[0] >> 5 & 1, 0u);
  EXPECT_NE(fake_.chunk(5)[0], 0);
}

// Chunks that are returned may be full again at once: here the ring says so of those two, ten times more.
TEST_F(ProcessDrainTest, NoMoreIsTakenThanWasFull) {
  ProcessDrain drain = make_drain();
  for (uint32_t chunk = 0; chunk < 2; ++chunk) {
    fake_.write_chunk(chunk, 7, chunk, {kCall});
    fake_.hand_over(chunk, 1);
  }
  for (uint32_t i = 0; i < 10; ++i) fake_.announce(i % 2);
  drain.drain_full(*writer_);
  EXPECT_EQ(drain.max_backlog(), 2u);
  EXPECT_EQ(drain.drain(*writer_, 100), 10u);
}

// Or a recording of a busy program would end when the recorder has overtaken it.
TEST_F(ProcessDrainTest, WhatALivingTargetBeginsAfterTheEndIsNotRecorded) {
  ProcessDrain drain = make_drain();
  for (uint32_t chunk = 0; chunk < 6; ++chunk) {
    fake_.write_chunk(chunk, 7, chunk, {kCall, kCall});
    if (chunk % 2 == 0) fake_.hand_over(chunk, 2);
    if (chunk >= 2) reinterpret_cast<penna_chunk*>(fake_.chunk(chunk))->time_begin = chunk < 4 ? 9999 : 10'000;
  }
  drain.stop_at(9999);
  Recording recording = finish_and_open(drain, false);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 8u);
  EXPECT_EQ(recording.chunks().size(), 4u);
  EXPECT_EQ(fake_.bitmap()[0] & 0x3f, 0x15u) << "full ones are given back, open ones are their threads'";
}

TEST_F(ProcessDrainTest, OpenChunksAreInTheFileShouldTheRecorderDie) {
  ProcessDrain drain = make_drain();
  fake_.write_chunk(5, 7, 0, {kCall, kCall + 4});
  drain.write_open_chunks(*writer_);
  {
    auto cut_off = Recording::open(path());  // as it would be found now
    ASSERT_TRUE(cut_off) << cut_off.error().text;
    ASSERT_EQ(cut_off->chunks().size(), 1u);
    EXPECT_EQ(cut_off->chunks()[0].events[PENNA_CALLS], 2u);
  }
  const uint64_t bytes = writer_->file_bytes();
  drain.write_open_chunks(*writer_);
  EXPECT_EQ(writer_->file_bytes(), bytes) << "an unchanged chunk was written again";
  reinterpret_cast<uint64_t*>(fake_.chunk(5) + sizeof(penna_chunk))[2] = kCall + 8;
  drain.write_open_chunks(*writer_);
  EXPECT_GT(writer_->file_bytes(), bytes);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 0u) << "an open chunk is counted once it is final";
  fake_.hand_over(5, 3);
  drain.drain(*writer_, 10);
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 3u);
  // Given back, taken anew: what was written of it before says nothing.
  fake_.write_chunk(5, 8, 0, {kCall});
  drain.write_open_chunks(*writer_);
  Recording recording = finish_and_open(drain);
  ASSERT_EQ(recording.chunks().size(), 2u);
  EXPECT_EQ(recording.chunks()[0].events[PENNA_CALLS], 3u);
  EXPECT_EQ(recording.chunks()[1].events[PENNA_CALLS], 1u);
}

// What is behind a record that is still being written (or never will be) is older than a second soon, too.
TEST_F(ProcessDrainTest, FullChunkSurvivesTheRecorder) {
  ProcessDrain drain = make_drain();
  fake_.write_chunk(0, 7, 0, {kCall, kBusy, 42, kCall});
  fake_.hand_over(0, 4);
  drain.drain(*writer_, 10);
  EXPECT_EQ(drain.unfinished(), 1u);
  for (int turn = 0; turn < 3; ++turn) drain.write_open_chunks(*writer_);
  const auto cut_off = Recording::open(path());
  ASSERT_TRUE(cut_off) << cut_off.error().text;
  uint32_t calls = 0;
  for (const ChunkRef& chunk : cut_off->chunks()) calls += chunk.events[PENNA_CALLS];
  EXPECT_EQ(calls, 2u);
}

TEST_F(ProcessDrainTest, VanishedThreadsChunkIsReclaimedWhenFewAreLeft) {
  ProcessDrain drain = make_drain();
  constexpr uint32_t kNobody = 0x7ffffff0;  // no such thread of ours
  auto self = static_cast<uint32_t>(::syscall(SYS_gettid));
  fake_.write_chunk(0, kNobody, 0, {kCall});
  drain.reclaim(*writer_);
  EXPECT_EQ(fake_.bitmap()[0] & 1, 0u) << "no chunk is taken back while enough are free";
  for (uint32_t i = 1; i < FakeChannel::kChunks; ++i) fake_.write_chunk(i, self, i, {kCall});
  drain.reclaim(*writer_);
  EXPECT_EQ(fake_.bitmap()[0], 1u) << "only the vanished thread's chunk is freed";
  EXPECT_EQ(drain.counts().stored[PENNA_CALLS], 1u);
}

TEST_F(ProcessDrainTest, StacksThatAreNotThereYetAreWrittenLater) {
  ProcessDrain drain = make_drain();
  fake_.channel()->node_count = 3;
  *fake_.node(2) = {0x7000'0000'2000, 0, 1};
  fake_.write_chunk(0, 7, 0, {kCall});
  fake_.hand_over(0, 1);
  drain.drain(*writer_, 10);
  *fake_.node(1) = {0x7000'0000'1000, 2, 2};
  Recording recording = finish_and_open(drain);
  ASSERT_TRUE(recording.stack_node(0, 1));
  EXPECT_EQ(recording.stack_node(0, 1)->pc, 0x7000'0000'1000u);
  EXPECT_EQ(recording.stack_node(0, 1)->parent, 2u);
}

// What a target claims to have written costs memory only where it has written.
TEST_F(ProcessDrainTest, LookingAtUntouchedMemoryAllocatesNone) {
  ProcessDrain drain = make_drain();
  // All chunks are taken, the first half is announced: one of them has a header and nothing behind it, the others have
  // nothing at all.
  fake_.bitmap()[0] = 0;
  fake_.write_chunk(0, 7, 0, {});
  reinterpret_cast<penna_chunk*>(fake_.chunk(0))->content_bits = uint64_t{PENNA_CHUNK_BYTES} * 8;
  for (uint32_t number = 0; number < FakeChannel::kChunks / 2; ++number) fake_.announce(number);
  const auto blocks = [this] {
    struct stat status {};
    return ::fstat(fake_.memory().get(), &status) == 0 ? status.st_blocks : -1;
  };
  const auto before = blocks();
  drain.write_open_chunks(*writer_);
  drain.drain(*writer_, FakeChannel::kChunks);
  drain.write_open_chunks(*writer_);
  drain.reclaim(*writer_);
  Recording recording = finish_and_open(drain);
  EXPECT_LE(blocks(), before);
  EXPECT_EQ(fake_.bitmap()[0], UINT32_MAX) << "the announced half was not freed";
}

TEST_F(ProcessDrainTest, ChunkNumbersOutOfRangeAreCounted) {
  ProcessDrain drain = make_drain();
  uint32_t ticket = 0, wrong = 4711;
  std::memcpy(penna_ring_reserve(fake_.ring(), &ticket), &wrong, sizeof wrong);
  penna_ring_commit(fake_.ring(), ticket);
  drain.drain(*writer_, 10);
  Recording recording = finish_and_open(drain);
  EXPECT_EQ(recording.processes()[0].health.damaged, 1u);
}

TEST(ChannelMapTest, RefusesMemoryThatCanShrink) {
  FakeChannel fake;
  auto map = ChannelMap::map(fake.memory());
  ASSERT_FALSE(map);
  EXPECT_NE(map.error().text.find("not sealed"), std::string::npos);
}

TEST(ChannelMapTest, RefusesGeometryThatLeadsOutside) {
  struct {
    void (*spoil)(penna_channel&);
  } cases[] = {
      {[](penna_channel& c) { c.magic ^= 1; }},
      {[](penna_channel& c) { c.version += 1; }},
      {[](penna_channel& c) { c.chunk_count = 128; }},
      {[](penna_channel& c) { c.chunk_count = 0; }},
      {[](penna_channel& c) { c.chunk_count = 65; }},
      {[](penna_channel& c) { c.chunks_at = UINT64_MAX - 4095; }},
      {[](penna_channel& c) { c.nodes_at = c.chunks_at; }},
      {[](penna_channel& c) { c.max_nodes = UINT32_MAX; }},
      {[](penna_channel& c) { c.full_at = 4096; }},
      {[](penna_channel& c) { c.free_at = 1; }},
      {[](penna_channel& c) { c.total_bytes *= 2; }},
  };
  int number = 0;
  for (auto& each : cases) {
    FakeChannel fake;
    each.spoil(*fake.channel());
    fake.seal();
    EXPECT_FALSE(ChannelMap::map(fake.memory())) << "case " << number;
    ++number;
  }
}

TEST(ChannelMap, MemoryFarLargerThanAskedForIsRefused) {
  penna_config asked{};
  asked.chunk_count = FakeChannel::kChunks;
  asked.max_nodes = FakeChannel::kNodes;
  FakeChannel fake;
  ASSERT_EQ(::ftruncate(fake.memory().get(), off_t{1} << 40), 0);
  fake.seal();
  const auto map = ChannelMap::map(fake.memory(), &asked);
  ASSERT_FALSE(map);
  EXPECT_NE(map.error().text.find("larger than requested"), std::string::npos) << map.error().text;
  FakeChannel honest;
  honest.seal();
  EXPECT_TRUE(ChannelMap::map(honest.memory(), &asked));
}

// Only a liar gives them away; they would take his memory out of nothing.
TEST_F(ProcessDrainTest, ChunksThatNobodyHasTouchedTakeNoMemory) {
  ProcessDrain drain = make_drain();
  const auto blocks = [&] {
    struct stat status {};
    ::fstat(fake_.memory().get(), &status);
    return status.st_blocks;
  };
  const auto before = blocks();
  for (int turn = 0; turn < 3; ++turn) {
    for (uint32_t chunk = 0; chunk < FakeChannel::kChunks; ++chunk) {
      uint32_t ticket;
      void* slot = penna_ring_reserve(fake_.ring(), &ticket);
      ASSERT_NE(slot, nullptr);
      std::memcpy(slot, &chunk, sizeof chunk);
      penna_ring_commit(fake_.ring(), ticket);
    }
    EXPECT_EQ(drain.drain(*writer_, 64), 64u);
  }
  EXPECT_LE(blocks(), before + 8) << "at most one page, for stack nodes";
}

}  // namespace
}  // namespace penna::process_drain_test
