// SPDX-License-Identifier: MIT
// FlightRecorder: its memory is bounded, a function's entry stores the newest chunks in the recording, and missing ones
// are counted.
#include "collect/flight_recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "collect/process_drain.h"
#include "fake_channel.h"
#include "recording/description_store.h"
#include "recording/reader.h"

namespace penna::flight_recorder_test {
namespace {

constexpr uint64_t kUpper = 0x5555;
constexpr uint64_t kTrouble = 9;

// Of function `number`, `time` ticks behind where its chunk begins.
uint64_t entry(uint64_t number, uint64_t time) { return penna_call_header(PENNA_TAG_ENTRY, number, 1000 + time); }
uint64_t leave(uint64_t number, uint64_t time) { return penna_call_header(PENNA_TAG_EXIT, number, 1000 + time); }

class FlightRecorderTest : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = 1 << 20, kEnd = 1 << 30;
  explicit FlightRecorderTest(uint64_t ticks = 0, bool takes_the_end = false, SnapshotFiles files = {}) {
    char folder[] = "/tmp/penna-flight-XXXXXX";
    folder_ = ::mkdtemp(folder);
    writer_.emplace(*RecordingWriter::create(path()));
    SnapshotRules rules;
    rules.bytes = kBytes;
    rules.ticks = ticks;
    rules.takes_the_end = takes_the_end;
    rules.files = std::move(files);
    rules.again_ticks = rules.files.create ? 1000 : 0;
    rules.functions.ask = [](uint32_t, uint64_t pc, uint64_t) {
      FunctionTraits traits;
      traits.snapshot = pc == (kUpper << 32 | kTrouble);
      return traits;
    };
    rules.functions.learn = [](uint32_t, const Module&) { return false; };
    flight_.emplace(std::move(rules));
    fake_.seal();
    drain_.emplace(*ChannelMap::map(fake_.memory()), 0, static_cast<uint32_t>(::getpid()), nullptr,
                   std::make_shared<ChunkSink>(0, counts_, true));
    drain_->set_observer(&*flight_);
    drain_->set_flight_recorder(&*flight_);
  }
  ~FlightRecorderTest() override {
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/r.penna"; }

  // The next chunk of a thread, full of calls of function `number`.
  void full_chunk(uint32_t thread, uint64_t number, size_t calls = 4000) {
    const uint64_t sequence = next_[thread]++;
    fake_.write_chunk(1, thread, sequence, {});
    auto* header = reinterpret_cast<penna_chunk*>(fake_.chunk(1));
    header->time_begin += clock_;
    auto* word = reinterpret_cast<uint64_t*>(fake_.chunk(1) + sizeof(penna_chunk));
    for (size_t i = 0; i < calls; ++i) {
      *word++ = entry(number, clock_++);
      *word++ = leave(number, clock_++);
    }
    header->time_end = 1000 + clock_;
    fake_.hand_over(1, 2 * calls);
    drain_->drain(*writer_, 10);
  }
  Recording finish() {
    drain_->finish(*writer_, true, EndKind::kExited, 0, kEnd);
    (void)flight_->take_snapshot_if_due(*writer_);
    flight_->end(*writer_, kEnd);
    EXPECT_TRUE(writer_->finish());
    auto recording = Recording::open(path());
    EXPECT_TRUE(recording);
    return std::move(*recording);
  }

  std::string folder_;
  FakeChannel fake_;
  std::optional<RecordingWriter> writer_;
  std::optional<FlightRecorder> flight_;
  std::shared_ptr<StoreCounts> counts_ = std::make_shared<StoreCounts>();
  std::optional<ProcessDrain> drain_;
  std::map<uint32_t, uint64_t> next_;
  uint64_t clock_ = 0;
};

TEST_F(FlightRecorderTest, WithoutTheFunctionNothingIsStored) {
  for (int i = 0; i < 100; ++i) {
    full_chunk(1 + i % 3, 1);
    EXPECT_LE(flight_->bytes(), kBytes);
  }
  for (int i = 0; i < 30000; ++i) full_chunk(7, 1, 1);  // small ones have their price, too
  EXPECT_LE(flight_->bytes(), kBytes);
  EXPECT_GT(flight_->bytes(), kBytes * 9 / 10);
  const Recording recording = finish();
  EXPECT_EQ(flight_->bytes(), 0u);
  EXPECT_EQ(flight_->snapshots(), 0u);
  for (uint32_t thread = 0; thread < recording.threads().size(); ++thread)
    EXPECT_TRUE(recording.chunks(thread).empty());
  EXPECT_EQ(counts_->thrown_away[PENNA_CALLS], 2u * (100 * 4000 + 30000));
  EXPECT_EQ(counts_->stored[PENNA_CALLS], 0u);
}

TEST_F(FlightRecorderTest, SnapshotStoresTheNewestChunksAndGoesOn) {
  for (int i = 0; i < 50; ++i) full_chunk(1, 1);
  full_chunk(1, kTrouble, 1);
  EXPECT_TRUE(flight_->take_snapshot_if_due(*writer_));
  EXPECT_FALSE(flight_->take_snapshot_if_due(*writer_));
  EXPECT_EQ(flight_->bytes(), 0u);
  for (int i = 0; i < 50; ++i) full_chunk(1, 2);
  full_chunk(2, kTrouble, 2);
  full_chunk(1, 3);
  const Recording recording = finish();
  EXPECT_EQ(flight_->snapshots(), 2u);
  ASSERT_EQ(recording.threads().size(), 2u);
  const auto chunks = recording.chunks(0);
  ASSERT_GE(chunks.size(), 25u);  // 64 KB each
  EXPECT_LE(chunks.size(), 36u);
  uint64_t calls = 0;
  for (uint32_t thread = 0; thread < 2; ++thread)
    for (const ChunkRef& chunk : recording.chunks(thread)) calls += chunk.events[PENNA_CALLS];
  EXPECT_EQ(calls, counts_->stored[PENNA_CALLS]);
  EXPECT_EQ(calls + counts_->thrown_away[PENNA_CALLS], 2u * (101 * 4000 + 3));
  // Each number that no chunk has was thrown away.
  EXPECT_EQ(recording.threads()[0].health.skipped, chunks.back().sequence - (chunks.size() - 1));
}

// The recorder may be late: a program may have gone on, and even ended, before a snapshot is taken.
TEST_F(FlightRecorderTest, WhatBeginsLaterIsNotPartOfIt) {
  for (int i = 0; i < 10; ++i) full_chunk(1, 1);
  full_chunk(1, kTrouble, 1);
  for (int i = 0; i < 50; ++i) {
    full_chunk(1 + i % 2, 2);
    EXPECT_LE(flight_->bytes(), kBytes);
  }
  const Recording recording = finish();
  EXPECT_EQ(flight_->snapshots(), 1u);
  EXPECT_EQ(counts_->stored[PENNA_CALLS], 2u * (10 * 4000 + 1));
  EXPECT_EQ(counts_->thrown_away[PENNA_CALLS], 2u * 50 * 4000);
  EXPECT_EQ(recording.chunks(0).size(), 11u);
}

TEST_F(FlightRecorderTest, AChunkThatComesLateBringsNoOthers) {
  fake_.write_chunk(3, 2, 0, {entry(1, clock_)});
  reinterpret_cast<penna_chunk*>(fake_.chunk(3))->time_begin += clock_;
  full_chunk(1, 1);
  full_chunk(1, kTrouble, 1);
  EXPECT_TRUE(flight_->take_snapshot_if_due(*writer_));
  for (int i = 0; i < 3; ++i) full_chunk(1, 2);
  fake_.hand_over(3, 1);
  drain_->drain(*writer_, 10);
  EXPECT_EQ(counts_->stored[PENNA_CALLS], 2u * 4001 + 1);
  (void)finish();
  EXPECT_EQ(counts_->thrown_away[PENNA_CALLS], 2u * 3 * 4000);
}

TEST_F(FlightRecorderTest, ChunksThatAreStillFilledBelongToIt) {
  for (int i = 0; i < 50; ++i) full_chunk(1, 1);
  fake_.write_chunk(2, 1, 50, {entry(1, clock_), entry(kTrouble, clock_ + 1)});
  reinterpret_cast<penna_chunk*>(fake_.chunk(2))->time_begin += clock_;
  fake_.write_chunk(3, 2, 0, {entry(1, clock_)});
  reinterpret_cast<penna_chunk*>(fake_.chunk(3))->time_begin += clock_ + 5;  // only begun behind it
  drain_->show_open_chunks(*writer_);
  EXPECT_TRUE(flight_->take_snapshot_if_due(*writer_));
  drain_->write_open_chunks(*writer_);
  const Recording recording = finish();
  ASSERT_EQ(recording.threads().size(), 2u);
  EXPECT_EQ(recording.chunks(0).back().sequence, 50u);
  EXPECT_TRUE(recording.chunks(1).empty());
}

// --ring: 5000 ticks, and the end is stored.
class RingTest : public FlightRecorderTest {
 protected:
  RingTest() : FlightRecorderTest(5000, true) {}
};

TEST_F(RingTest, TheNewestTimeIsStoredAtTheEnd) {
  clock_ = kEnd - 1000 - 3 * 8000;  // a chunk of 4000 calls takes 8000 ticks
  for (int i = 0; i < 3; ++i) full_chunk(1, 1);
  const Recording recording = finish();
  EXPECT_EQ(flight_->snapshots(), 1u);
  ASSERT_EQ(recording.threads().size(), 1u);
  ASSERT_EQ(recording.chunks(0).size(), 1u) << "those before ended more than 5000 ticks ago";
  EXPECT_EQ(recording.chunks(0)[0].sequence, 2u);
  EXPECT_EQ(counts_->thrown_away[PENNA_CALLS], 2u * 2 * 4000);
  EXPECT_EQ(flight_->bytes(), 0u);
}

TEST_F(RingTest, WhatIsOldAtTheEndIsThrownAway) {
  full_chunk(1, 1);
  const Recording recording = finish();
  for (uint32_t thread = 0; thread < recording.threads().size(); ++thread)
    EXPECT_TRUE(recording.chunks(thread).empty());
  EXPECT_EQ(counts_->thrown_away[PENNA_CALLS], 2u * 4000);
}

TEST_F(RingTest, AFunctionLetsTheNewestInBefore) {
  for (int i = 0; i < 3; ++i) full_chunk(1, 1);
  full_chunk(1, kTrouble, 1);
  EXPECT_TRUE(flight_->take_snapshot_if_due(*writer_));
  const Recording recording = finish();
  EXPECT_EQ(flight_->snapshots(), 2u) << "the end is one, too";
  EXPECT_FALSE(recording.chunks(0).empty());
}

// --on: as Collector::write_snapshot() does it.
class OwnFilesTest : public FlightRecorderTest {
 protected:
  explicit OwnFilesTest(uint64_t ticks = 0)
      : FlightRecorderTest(ticks, false, {[] { return RecordingWriter::nowhere(); }, {}}) {
    writer_.emplace(RecordingWriter::into(store_));
    EXPECT_TRUE(writer_->write_process(
        {.number = 0, .pid = static_cast<uint32_t>(::getpid()), .executable = {}, .command = {}}));
  }
  Recording snapshot() {
    const std::string file_path = folder_ + "/snapshot.penna";
    RecordingWriter file = *RecordingWriter::create(file_path, {.overwrite = true});
    store_.write(file);
    flight_->store_in(file, *writer_);
    drain_->copy_open_chunks(file);
    drain_->write_new_stacks(*writer_);
    drain_->write_state(file, kEnd);
    store_.write_rest(file);
    drain_->begin_file();
    EXPECT_TRUE(file.finish());
    auto recording = Recording::open(file_path);
    EXPECT_TRUE(recording);
    ::unlink(file_path.c_str());
    return std::move(*recording);
  }
  static uint64_t calls_in(const Recording& recording) {
    uint64_t sum = 0;
    for (const ChunkRef& chunk : recording.chunks()) sum += chunk.events[PENNA_CALLS];
    return sum;
  }

  DescriptionStore store_{[](uint32_t, uint32_t) { return true; }};
};

// Months, in which nothing grows: each file has what came since the last one, and says what it lacks.
TEST_F(OwnFilesTest, EachSnapshotHasWhatCameSinceTheLast) {
  for (uint64_t round = 1; round <= 1000; ++round) {
    for (uint32_t thread = 1; thread <= 3; ++thread) full_chunk(thread, 1, 10);
    fake_.write_chunk(2, 4, 0, {entry(2, 0)});  // open all the time
    flight_->ask({"cause", clock_ * 2000});
    ASSERT_TRUE(flight_->is_due());
    const Recording recording = snapshot();
    EXPECT_FALSE(flight_->is_due());
    ASSERT_EQ(calls_in(recording), 3 * 20u + 1);
    ASSERT_EQ(recording.threads().size(), 4u);
    for (uint32_t thread = 0; thread < 3; ++thread) {
      ASSERT_EQ(recording.chunks(thread).size(), 1u);
      ASSERT_EQ(recording.chunks(thread)[0].sequence, round - 1);
      ASSERT_EQ(recording.threads()[thread].health.skipped, round - 1);
      ASSERT_EQ(recording.threads()[thread].health.stored[PENNA_CALLS], 20u);
    }
    ASSERT_EQ(flight_->bytes(), 0u);
    ASSERT_EQ(store_.processes(), 1u);
    ASSERT_EQ(store_.threads(), 0u) << "none has a name";
  }
  EXPECT_EQ(flight_->snapshots(), 1000u);
}

TEST_F(OwnFilesTest, WhatCameBeforeItsCauseStaysUntilItIsTaken) {
  for (int i = 0; i < 10; ++i) full_chunk(1, 1);
  flight_->ask({"cause", 1000 + clock_});
  for (int i = 0; i < 50; ++i) full_chunk(1 + i % 2, 2);
  EXPECT_GT(flight_->bytes(), kBytes);
  const Recording recording = snapshot();
  ASSERT_FALSE(recording.chunks(0).empty());
  EXPECT_EQ(recording.chunks(0)[0].sequence, 0u);
  for (int i = 0; i < 50; ++i) full_chunk(1, 2);
  EXPECT_LE(flight_->bytes(), kBytes);
}

// --ring with --on.
class OwnFilesRingTest : public OwnFilesTest {
 protected:
  OwnFilesRingTest() : OwnFilesTest(30000) {}
};

TEST_F(OwnFilesRingTest, ItsTimeEndsWithTheCause) {
  for (int i = 0; i < 10; ++i) full_chunk(1, 1);
  flight_->ask({"cause", 1000 + clock_});
  for (int i = 0; i < 10; ++i) full_chunk(1, 2);
  const Recording recording = snapshot();
  ASSERT_FALSE(recording.chunks(0).empty());
  EXPECT_EQ(recording.chunks(0)[0].sequence, 6u) << "the fourth last: 8000 ticks each";
}

TEST_F(OwnFilesTest, CallsThatAreOpenAreInEachFile) {
  fake_.write_chunk(1, 1, 0, {entry(7, 0)});
  fake_.hand_over(1, 1);
  drain_->drain(*writer_, 10);
  next_[1] = 1;
  for (int round = 0; round < 3; ++round) {
    full_chunk(1, 1, 10);
    flight_->ask({"cause", clock_ * 2000, true});
    const Recording recording = snapshot();
    EXPECT_EQ(calls_in(recording), 21u) << "the entry of the open call, and ten calls";
  }
}

TEST_F(OwnFilesTest, ACauseThatComesTooSoonIsCounted) {
  full_chunk(1, 1, 10);
  flight_->ask({"first", 5000});
  (void)snapshot();
  flight_->ask({"second", 5999});
  EXPECT_FALSE(flight_->is_due());
  EXPECT_EQ(flight_->suppressed(), 1u);
  flight_->ask({"by the user", 5999, true});
  EXPECT_TRUE(flight_->is_due());
  EXPECT_EQ(flight_->cause().text, "by the user");
  flight_->could_not_store();
  flight_->ask({"third", 6000});
  EXPECT_FALSE(flight_->is_due());
  flight_->ask({"fourth", 7000});
  EXPECT_TRUE(flight_->is_due());
}

TEST_F(OwnFilesTest, ProcessesThatAreGoneAreTold) {
  full_chunk(1, 1, 10);
  drain_->finish(*writer_, true, EndKind::kExited, 0, kEnd);
  EXPECT_TRUE(flight_->take_gone().empty()) << "its events are kept";
  flight_->ask({"cause", kEnd});
  RecordingWriter file = RecordingWriter::nowhere();
  flight_->store_in(file, *writer_);
  EXPECT_EQ(flight_->take_gone(), std::vector<uint32_t>{0});
  EXPECT_TRUE(flight_->take_gone().empty());
}

}  // namespace
}  // namespace penna::flight_recorder_test
