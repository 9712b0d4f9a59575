// SPDX-License-Identifier: MIT
// Columns and codecs: any chunk comes back bit by bit, and no bytes make the decoder misbehave.
#include "recording/columns/columns.h"

#include <gtest/gtest.h>

#include <random>

#include "random_chunk.h"
#include "recording/columns/codec.h"
#include "recording/records.h"

namespace penna::columns_test {
namespace {

void expect_round_trip(std::span<const uint8_t> chunk) {
  ColumnEncoder encoder;
  std::vector<uint8_t> columns, back;
  ASSERT_TRUE(encoder.encode(chunk, columns));
  ASSERT_LE(columns.size(), kMaxColumnBytes);
  ASSERT_TRUE(from_columns(columns, chunk.size(), back));
  ASSERT_TRUE(std::equal(chunk.begin(), chunk.end(), back.begin(), back.end()));
}

TEST(Columns, RoundTripOfPlausibleChunks) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    auto chunk = random_chunk(random, round % 10 == 0 ? size_t{PENNA_CHUNK_BYTES} : 256 + random() % 8192);
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(chunk)) << round;
  }
}

TEST(Columns, RoundTripOfAnythingElse) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 400; ++round) {
    std::vector<uint8_t> chunk(sizeof(penna_chunk) + random() % (round % 10 == 0 ? PENNA_CHUNK_BYTES - 128 : 2000));
    for (auto& byte : chunk)
      byte = static_cast<uint8_t>(round % 3 == 0 ? random() : random() % 3 == 0 ? random() % 64 : 0);
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(chunk)) << round;
  }
  std::vector<uint8_t> zeros(PENNA_CHUNK_BYTES), ones(PENNA_CHUNK_BYTES, 0xff);
  ASSERT_NO_FATAL_FAILURE(expect_round_trip(zeros));
  ASSERT_NO_FATAL_FAILURE(expect_round_trip(ones));
  for (size_t size = sizeof(penna_chunk); size < sizeof(penna_chunk) + 20; ++size)
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(std::span(ones).first(size)));
}

// What costs most bits: values that are never foreseen and never repeat.
TEST(Columns, RoundTripOfTheWorst) {
  std::mt19937_64 random(3);
  for (int kind = 0; kind < 6; ++kind) {
    uint64_t begin = random();
    ChunkBuilder chunk(begin);
    while (chunk.has_room(40)) {
      uint64_t time = random();
      switch (kind) {
        case 0: chunk.entry(random(), time); break;
        case 1: chunk.alloc(random(), static_cast<uint32_t>(random()), static_cast<uint32_t>(random()), time); break;
        case 2: chunk.free(random(), time); break;
        case 3: chunk.full(PENNA_KIND_LOCK, time, penna_lock{random()}); break;
        case 4: chunk.full(PENNA_KIND_LOST, time, std::array<uint64_t, 2>{random(), random()}); break;
        case 5: chunk.full(40, time, std::array<uint64_t, 0>{}); break;
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(chunk.leave())) << kind;
  }
}

// What the clock does not tell takes no room, whatever else the records hold: sizes, stacks and addresses look like anything.
TEST(Columns, TimesOnAGridTakeNoBitsBelowIt) {
  std::array<size_t, 2> bits{};
  for (uint32_t shift : {0, 5}) {
    ChunkBuilder chunk(1 << 20);
    std::mt19937_64 random(7);
    for (uint64_t time = 1 << 15; chunk.has_room(40); ++time) {
      const uint64_t address = random() % 4096 * 16;
      const auto stack = static_cast<uint32_t>(time % 7);
      if (time % 3 == 0)
        chunk.free(address, time << shift);
      else
        chunk.alloc(address, 24, stack, time << shift);
    }
    ColumnEncoder encoder;
    std::vector<uint8_t> columns;
    ASSERT_TRUE(encoder.encode(chunk.leave(), columns));
    bits[shift / 5] = column_bytes_of(columns, kCodeColumns);
  }
  EXPECT_NEAR(static_cast<double>(bits[1]), static_cast<double>(bits[0]), 16);
}

// The quick pass over all records finds what looking at one after the other finds, in whatever there is.
TEST(Scan, SaysWhatTheCursorSays) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 600; ++round) {
    auto chunk = random_chunk(random, 256 + random() % 4096);
    for (uint64_t count = random() % 4; round % 2 == 0 && count > 0; --count)
      chunk[sizeof(penna_chunk) + random() % (chunk.size() - sizeof(penna_chunk))] = static_cast<uint8_t>(random() % 3);
    std::array<uint32_t, PENNA_CLASS_COUNT + 1> events{};
    uint64_t low = UINT64_MAX, high = 0;
    uint32_t records = 0, unknown = 0;
    RecordCursor in(chunk);
    for (Record record; in.next(record); ++records) {
      ++events[kClassOfKind[record.kind]];
      unknown += record.kind >= PENNA_KIND_COUNT;
      low = std::min(low, record.time);
      high = std::max(high, record.time);
    }
    const ChunkSummary summary = scan_chunk(chunk);
    ASSERT_EQ(summary.records, records) << round;
    EXPECT_TRUE(std::equal(summary.events.begin(), summary.events.end(), events.begin()));
    EXPECT_EQ(summary.unknown, unknown);
    EXPECT_EQ(summary.torn, in.torn());
    EXPECT_EQ(summary.holes, in.holes());
    EXPECT_EQ(summary.first_open, in.first_open());
    EXPECT_EQ(summary.content_bytes, in.content_end());
    EXPECT_EQ(summary.damaged, in.damaged());
    EXPECT_EQ(summary.damaged_at, in.position());
    if (records == 0) continue;
    EXPECT_EQ(summary.time_begin, low);
    EXPECT_EQ(summary.time_end, high);
  }
}

TEST(Columns, RefusesWhatIsNoChunk) {
  ColumnEncoder encoder;
  std::vector<uint8_t> columns, small(sizeof(penna_chunk) - 1), big(PENNA_CHUNK_BYTES + 1);
  EXPECT_FALSE(encoder.encode(small, columns));
  EXPECT_FALSE(encoder.encode(big, columns));
}

TEST(Columns, DecoderTakesAnyBytes) {
  std::mt19937_64 random(4);
  ColumnEncoder encoder;
  std::vector<uint8_t> columns, back;
  size_t same_size = 0;
  for (int round = 0; round < 3000; ++round) {
    auto chunk = random_chunk(random, 1500);
    ASSERT_TRUE(encoder.encode(chunk, columns));
    for (uint64_t count = 1 + random() % 8; count > 0; --count) {
      uint64_t at = random() % 3 == 0 ? random() % kColumnTable : random() % columns.size();
      columns[at] = static_cast<uint8_t>(random() >> (random() % 8));
    }
    if (random() % 4 == 0) columns.resize(random() % columns.size());
    same_size += from_columns(columns, chunk.size() - random() % 2 * 8, back);
  }
  EXPECT_GT(same_size, 20u) << "too few mutations decode";
}

TEST(Codec, EveryTypeAndSizeComesBack) {
  std::mt19937_64 random(5);
  for (int how = 0; how < 3; ++how) {
    Compressor compressor(1, how != 0);
    compressor.hurry(how == 2);
    std::vector<uint8_t> stored, back;
    for (int round = 0; round < 200; ++round) {
      auto type = round % 2 == 0 ? layout::BlockType::kChunk : layout::BlockType::kModule;
      auto raw = random_chunk(random, 300 + random() % 4000);
      if (round % 7 == 0) raw.assign(random() % 3000, 7);
      if (round % 11 == 0)
        for (auto& byte : raw) byte = static_cast<uint8_t>(random());
      auto codec = compressor.compress(type, raw, stored);
      EXPECT_LE(stored.size(), raw.size());
      if (type != layout::BlockType::kChunk) {
        EXPECT_LE(raw.size(), stored.size() * layout::kMaxExpansion + layout::kFreeExpansion);
      }
      ASSERT_TRUE(decompress(codec, stored, raw.size(), back)) << round;
      ASSERT_EQ(back, raw);
      EXPECT_FALSE(decompress(codec, stored, raw.size() + 1, back));
    }
  }
}

TEST(Codec, HurryTakesNoMoreThanTwiceTheRoomAndCanEnd) {
  std::mt19937_64 random(6);
  Compressor small(1, true), fast(1, true);
  std::vector<uint8_t> of_small, of_fast;
  for (int round = 0; round < 50; ++round) {
    const auto raw = random_chunk(random, PENNA_CHUNK_BYTES);
    (void)small.compress(layout::BlockType::kChunk, raw, of_small);
    fast.hurry(true);
    (void)fast.compress(layout::BlockType::kChunk, raw, of_fast);
    EXPECT_LE(of_fast.size(), of_small.size() * 2);
    EXPECT_NE(of_fast, of_small);
    fast.hurry(false);
    (void)fast.compress(layout::BlockType::kChunk, raw, of_fast);
    EXPECT_EQ(of_fast, of_small);
  }
}

// Low bits are noise, but not in a loop that always takes the same few times.
TEST(Codec, LowBitsAreCompressedWhereTheyRepeat) {
  constexpr std::array<uint64_t, 4> kSteps{1001, 1093, 1187, 1275};
  ChunkBuilder chunk(1 << 20);
  std::mt19937_64 random(8);
  for (uint64_t time = 1 << 20; chunk.has_room(40); time += kSteps[random() % kSteps.size()])
    chunk.full(PENNA_KIND_LOCK, time, penna_lock{0x7000});
  const auto raw = chunk.leave();
  ColumnEncoder encoder;
  std::vector<uint8_t> columns, stored, back;
  ASSERT_TRUE(encoder.encode(raw, columns));
  ASSERT_EQ(Compressor(1, true).compress(layout::BlockType::kChunk, raw, stored), layout::Codec::kColumns);
  EXPECT_LT(stored.size(), column_bytes_of(columns, kCodeColumns));
  ASSERT_TRUE(decompress(layout::Codec::kColumns, stored, raw.size(), back));
  EXPECT_EQ(back, raw);
}

TEST(Codec, ColumnsAreUsedAndSmaller) {
  std::mt19937_64 random(6);
  auto raw = random_chunk(random, PENNA_CHUNK_BYTES);
  std::vector<uint8_t> plain, columns;
  EXPECT_EQ(Compressor(1, false).compress(layout::BlockType::kChunk, raw, plain), layout::Codec::kZstd);
  EXPECT_EQ(Compressor(1, true).compress(layout::BlockType::kChunk, raw, columns), layout::Codec::kColumns);
  EXPECT_LT(columns.size(), plain.size());
}

}  // namespace
}  // namespace penna::columns_test
