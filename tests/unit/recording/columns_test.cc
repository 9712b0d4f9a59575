// SPDX-License-Identifier: MIT
// Columns and codecs: any chunk comes back bit by bit, and no bytes make the decoder misbehave.
#include "recording/columns.h"

#include <gtest/gtest.h>

#include <random>

#include "chunk_builder.h"
#include "recording/codec.h"

namespace penna {
namespace {

void expect_round_trip(std::span<const uint8_t> chunk) {
  ColumnEncoder encoder;
  std::vector<uint8_t> columns, back;
  ASSERT_TRUE(encoder.encode(chunk, columns));
  ASSERT_LE(columns.size(), kMaxColumnBytes);
  ASSERT_TRUE(from_columns(columns, chunk.size(), back));
  ASSERT_TRUE(std::equal(chunk.begin(), chunk.end(), back.begin(), back.end()));
}

// Programs in miniature; `random` decides what comes next.
std::vector<uint8_t> random_chunk(std::mt19937_64& random, size_t limit) {
  uint64_t time = random() >> (random() % 40);
  if (random() % 2 != 0) time &= ~uint64_t{3};
  ChunkBuilder chunk(time);
  std::vector<uint64_t> stack, blocks;
  uint64_t top = 0x5555'0000'1000;
  auto step = [&] {
    return time += (random() % 60) * 2 >> (random() % 8 == 0 ? 6 : 0) << (random() % 64 == 0 ? 20 : 0);
  };
  while (chunk.size() + 64 < limit) {
    switch (random() % 12) {
      case 0:
      case 1:
      case 2:
        stack.push_back(0x5555'0000'1000 + random() % 30 * 16);
        chunk.entry(stack.back(), step());
        break;
      case 3:
      case 4:
        if (stack.empty() || random() % 50 == 0) stack.push_back(random());
        chunk.exit(stack.back(), step());
        stack.pop_back();
        break;
      case 5:
      case 6: {
        auto size = static_cast<uint32_t>(random() % 5 * 24 + (random() % 20 == 0 ? random() : 0));
        uint64_t address = random() % 3 == 0 ? top += 48 : random() % 40 * 48 + 0x1000;
        if (random() % 30 == 0) address = random();
        chunk.alloc(address, size, static_cast<uint32_t>(random() % 6), step());
        blocks.push_back(address);
        break;
      }
      case 7:
        if (blocks.empty() || random() % 20 == 0) blocks.push_back(random() >> (random() % 32));
        std::swap(blocks[random() % blocks.size()], blocks.back());
        chunk.free(blocks.back(), step());
        if (random() % 10 != 0) blocks.pop_back();
        break;
      case 8:
        chunk.full(random() % 2 != 0 ? PENNA_KIND_LOCK : PENNA_KIND_UNLOCK, step(),
                   penna_lock{0x7000 + random() % 3 * 40});
        break;
      case 9:
        chunk.full(PENNA_KIND_POINT, step(), penna_point{static_cast<uint32_t>(random() % 3), 0},
                   std::string(random() % 24, 'p'));
        break;
      case 10:
        if (random() % 8 == 0) chunk.full(PENNA_KIND_ALLOC, step(), penna_alloc{random(), 3, 4}, "", PENNA_TAG_BUSY);
        break;
      case 11:
        if (random() % 8 == 0) chunk.word(0).word(0);
        if (random() % 40 == 0) chunk.word(random());
        if (random() % 8 == 0) time -= random() % 100;  // a nested handler
        break;
    }
  }
  auto bytes = chunk.close();
  bytes.resize(chunk.size());
  return bytes;
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
  EXPECT_GT(same_size, 20u) << "some mutations decode, to something else";
}

TEST(Codec, EveryTypeAndSizeComesBack) {
  std::mt19937_64 random(5);
  for (bool as_columns : {false, true}) {
    Compressor compressor(1, as_columns);
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

TEST(Codec, ColumnsAreUsedAndSmaller) {
  std::mt19937_64 random(6);
  auto raw = random_chunk(random, PENNA_CHUNK_BYTES);
  std::vector<uint8_t> plain, columns;
  EXPECT_EQ(Compressor(1, false).compress(layout::BlockType::kChunk, raw, plain), layout::Codec::kZstd);
  EXPECT_EQ(Compressor(1, true).compress(layout::BlockType::kChunk, raw, columns), layout::Codec::kColumns);
  EXPECT_LT(columns.size(), plain.size());
}

}  // namespace
}  // namespace penna
