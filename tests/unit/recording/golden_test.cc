// SPDX-License-Identifier: MIT
// Stored recordings of this format version: they must stay readable.
//
// Invariant: the files in tests/golden are never rewritten, and those of an old version stay, with their reader. For a
// new version, add its files:
//   recording_test --gtest_also_run_disabled_tests --gtest_filter='*WriteNew*'
#include <algorithm>
#include <array>
#include <iterator>

#include "every_kind.h"
#include "random_chunk.h"
#include "random_stacks.h"
#include "sample.h"

#ifndef PENNA_GOLDEN_DIR
#error "PENNA_GOLDEN_DIR is set by CMakeLists.txt"
#endif

namespace penna::golden_test {
namespace {

constexpr size_t kStoredChunks = 8;

std::string golden(const std::string& name, uint32_t version = layout::kVersion) {
  return PENNA_GOLDEN_DIR "/recording-v" + std::to_string(version) + name + ".penna";
}
// Format 1 has goldens of its own, without some of what sample.h describes.
constexpr uint32_t kSampled[] = {2, 3};
static_assert(kSampled[std::size(kSampled) - 1] == layout::kVersion, "the newest version has goldens");

void expect_same_chunks(Recording& one, Recording& other) {
  ASSERT_EQ(one.chunks().size(), other.chunks().size());
  std::vector<uint8_t> bytes, expected;
  for (size_t i = 0; i < one.chunks().size(); ++i) {
    ASSERT_TRUE(one.read_chunk(one.chunks()[i], bytes)) << i;
    ASSERT_TRUE(other.read_chunk(other.chunks()[i], expected)) << i;
    EXPECT_EQ(bytes, expected) << i;
  }
}

TEST(Golden, Finished) {
  for (uint32_t version : kSampled) {
    auto recording = Recording::open(golden("", version));
    ASSERT_TRUE(recording) << recording.error().text;
    EXPECT_TRUE(recording->is_finished());
    EXPECT_FALSE(recording->damage().any()) << recording->damage().text();
    expect_sample(*recording);
  }
}

// Of an older version, too, the index is used: without it, a file of gigabytes would be walked.
TEST(Golden, TheIndexIsRead) {
  for (uint32_t version = layout::kOldestVersion; version <= layout::kVersion; ++version) {
    auto bytes = slurp(golden("", version));
    const std::string path = ::testing::TempDir() + "penna-golden-index.penna";
    bytes[layout::kBlocksAt] ^= 1;  // a walk would tell of the damage
    spill(path, bytes);
    auto recording = Recording::open(path);
    ASSERT_TRUE(recording) << recording.error().text;
    EXPECT_FALSE(recording->damage().index) << version;
    EXPECT_EQ(recording->damage().blocks, 1u) << version;
    ::unlink(path.c_str());
  }
}

// Format 1 had fewer columns; its chunks, whatever their codec, are read to the bit.
TEST(Golden, Version1) {
  for (const char* name : {"recording-v1.penna", "recording-v1-unfinished.penna", "recording-v1-kinds.penna"}) {
    auto recording = Recording::open(std::string(PENNA_GOLDEN_DIR "/") + name);
    ASSERT_TRUE(recording) << recording.error().text;
    EXPECT_FALSE(recording->damage().any()) << name << ": " << recording->damage().text();
    for (const auto& chunk : recording->chunks()) {
      std::vector<uint8_t> bytes;
      ASSERT_TRUE(recording->read_chunk(chunk, bytes)) << name;
      EXPECT_FALSE(scan_chunk(bytes).damaged) << name;
    }
  }
  auto finished = Recording::open(PENNA_GOLDEN_DIR "/recording-v1.penna");
  auto unfinished = Recording::open(PENNA_GOLDEN_DIR "/recording-v1-unfinished.penna");
  expect_same_chunks(*finished, *unfinished);
}

TEST(Golden, Version1Chunks) {
  auto columns = Recording::open(PENNA_GOLDEN_DIR "/recording-v1-chunks.penna");
  auto plain = Recording::open(PENNA_GOLDEN_DIR "/recording-v1-chunks-zstd.penna");
  ASSERT_TRUE(columns) << columns.error().text;
  ASSERT_TRUE(plain) << plain.error().text;
  EXPECT_EQ(columns->chunks().size(), kStoredChunks);
  expect_same_chunks(*columns, *plain);
}

TEST(Golden, UnfinishedWithoutColumns) {
  for (uint32_t version : kSampled) {
    auto recording = Recording::open(golden("-unfinished", version));
    ASSERT_TRUE(recording) << recording.error().text;
    EXPECT_FALSE(recording->is_finished());
    EXPECT_FALSE(recording->damage().any());
    expect_sample(*recording);
  }
}

// Chunks in which everything may come behind everything: those that were stored as columns are, bit by bit, those that
// were stored as they were.
void expect_chunks(uint32_t version) {
  auto columns = Recording::open(golden("-chunks", version));
  auto plain = Recording::open(golden("-chunks-zstd", version));
  ASSERT_TRUE(columns) << columns.error().text;
  ASSERT_TRUE(plain) << plain.error().text;
  ASSERT_EQ(columns->chunks().size(), kStoredChunks);
  ASSERT_EQ(plain->chunks().size(), kStoredChunks);
  std::vector<uint8_t> bytes, expected;
  std::array<uint64_t, PENNA_KIND_COUNT + 1> kinds{};
  uint64_t torn = 0;
  for (size_t i = 0; i < kStoredChunks; ++i) {
    ASSERT_TRUE(columns->read_chunk(columns->chunks()[i], bytes));
    ASSERT_TRUE(plain->read_chunk(plain->chunks()[i], expected));
    EXPECT_EQ(bytes, expected) << i;
    RecordCursor in(bytes);
    for (Record record; in.next(record);) ++kinds[std::min<uint32_t>(record.kind, PENNA_KIND_COUNT)];
    torn += in.torn();
  }
  for (uint32_t kind :
       {PENNA_KIND_CALL_ENTRY, PENNA_KIND_CALL_EXIT, PENNA_KIND_ALLOC, PENNA_KIND_ALLOC_LARGE, PENNA_KIND_FREE,
        PENNA_KIND_REALLOC_FAILED, PENNA_KIND_LOCK, PENNA_KIND_UNLOCK, PENNA_KIND_LOCK_WAIT, PENNA_KIND_LOCK_BUSY,
        PENNA_KIND_COND_WAIT, PENNA_KIND_POINT, PENNA_KIND_LOST, PENNA_KIND_BLOCKED})
    EXPECT_GT(kinds[kind], 0u) << kind;
  EXPECT_GT(torn, 0u);
}

TEST(Golden, Chunks) {
  for (uint32_t version : kSampled) expect_chunks(version);
}

// A record of every kind there is, and each says what it said when it was stored.
void expect_every_kind(uint32_t version) {
  auto recording = Recording::open(golden("-every-kind", version));
  ASSERT_TRUE(recording) << recording.error().text;
  EXPECT_FALSE(recording->damage().any());
  ASSERT_EQ(recording->chunks().size(), 1u);
  std::vector<uint8_t> bytes;
  ASSERT_TRUE(recording->read_chunk(recording->chunks()[0], bytes));
  const auto expected = slurp(PENNA_GOLDEN_DIR "/recording-v" + std::to_string(version) + "-every-kind.txt");
  EXPECT_EQ(text_of_records(bytes), std::string(expected.begin(), expected.end()));
  EXPECT_EQ(bytes, EveryKind(version).chunk());
  std::array<uint64_t, PENNA_KIND_COUNT> kinds{};
  RecordCursor in(bytes);
  for (Record record; in.next(record);) ++kinds.at(record.kind);
  EXPECT_FALSE(in.damaged());
  for (uint32_t kind = PENNA_KIND_PAD + 1; kind < PENNA_KIND_COUNT; ++kind)
    EXPECT_GT(kinds[kind], 0u) << kind_word(kind);
}

TEST(Golden, EveryKind) {
  for (uint32_t version : kSampled) expect_every_kind(version);
}

void write_chunks(RecordingWriter& writer) {
  for (uint64_t sequence = 0; sequence < kStoredChunks; ++sequence) {
    std::mt19937_64 random(sequence + 1);
    const auto chunk = random_chunk(random, 3000 + sequence * 500, 1, sequence);
    ASSERT_TRUE(writer.write_chunk(1, chunk, scan_chunk(chunk)));
  }
  std::mt19937_64 random(100);
  ASSERT_TRUE(writer.write_stacks(1, 5, random_stacks(random, 300, 5)));
}

void write_every_kind(RecordingWriter& writer, const std::string& path) {
  const auto chunk = EveryKind().chunk();
  ASSERT_TRUE(writer.write_chunk(1, chunk, scan_chunk(chunk)));
  const std::string text = text_of_records(chunk);
  spill(path.substr(0, path.rfind('.')) + ".txt", {text.begin(), text.end()});
}

// Writes those that are not there yet.
TEST(Golden, DISABLED_WriteNewOnes) {
  for (const char* name : {"", "-unfinished", "-chunks", "-chunks-zstd", "-every-kind"}) {
    const std::string kind = name;
    if (::access(golden(kind).c_str(), F_OK) == 0) continue;
    WriterOptions options;
    options.columns = kind.empty() || kind == "-chunks" || kind == "-every-kind";
    auto writer = RecordingWriter::create(golden(kind), options);
    ASSERT_TRUE(writer) << writer.error().text;
    if (kind == "-every-kind")
      write_every_kind(*writer, golden(kind));
    else
      kind.substr(0, 7) == "-chunks" ? write_chunks(*writer) : write_sample(*writer);
    if (kind != "-unfinished") {
      ASSERT_TRUE(writer->finish());
    }
  }
}

}  // namespace
}  // namespace penna::golden_test
