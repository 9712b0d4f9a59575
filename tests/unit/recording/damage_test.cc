// SPDX-License-Identifier: MIT
// Recordings cut at every byte, altered at random, with pieces missing: a clear sentence or a shorter recording.
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "recording/block.h"
#include "sample.h"

namespace penna::damage_test {
namespace {

using testing::HasSubstr;

// Offsets of the blocks in `bytes`.
std::vector<BlockRef> blocks_of(const std::vector<uint8_t>& bytes) {
  std::vector<BlockRef> blocks;
  for (uint64_t at = layout::kBlocksAt;;) {
    auto block = parse_block(std::span(bytes).subspan(at), at);
    if (!block) break;
    blocks.push_back(*block);
    at = block->end();
  }
  return blocks;
}

// Writes the frame of a block again, with checksums that are right.
void put(std::vector<uint8_t>& bytes, BlockRef block) {
  uint8_t* const at = bytes.data() + block.offset;
  const std::span<const uint8_t> head(at + sizeof block.header, block.header.head_bytes);
  std::memcpy(at + sizeof block.header, &block.head, head.size());
  block.header.payload_sum = payload_sum({at + block.frame_bytes(), block.header.stored_bytes});
  block.header.head_sum = head_sum(block.header, head);
  std::memcpy(at, &block.header, sizeof block.header);
}

// What a newer recorder counts in slots of classes that came later is not passed over in silence.
TEST(Damage, EventsOfUnknownClassesAreCounted) {
  TempDir dir;
  auto bytes = sample_bytes();
  const auto blocks = blocks_of(bytes);
  uint64_t chunks = 0;
  for (BlockRef block : blocks) {
    if (block.type() != layout::BlockType::kChunk) continue;
    block.head.events[PENNA_CLASS_COUNT] = 7;
    block.head.events[PENNA_CLASS_SLOTS - 1] = 1;
    put(bytes, block);
    ++chunks;
  }
  bytes.resize(blocks.back().offset);  // without the index, which has a copy
  const std::string path = dir.file("a.penna");
  spill(path, bytes);
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording) << recording.error().text;
  uint64_t unknown = 0;
  for (const ChunkRef& chunk : recording->chunks()) unknown += chunk.unknown_events;
  EXPECT_EQ(unknown, recording->chunks().size() * 8);
  EXPECT_GT(chunks, 0u);
}

TEST(Damage, WhatIsNoRecordingGivesASentence) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  EXPECT_THAT(Recording::open(path).error().text, HasSubstr("cannot open"));
  EXPECT_THAT(Recording::open("/tmp").error().text, HasSubstr("not a regular file"));
  spill(path, {});
  EXPECT_THAT(Recording::open(path).error().text, HasSubstr("too few"));
  spill(path, std::vector<uint8_t>(1000, 'x'));
  EXPECT_THAT(Recording::open(path).error().text, HasSubstr("not a recording"));
  auto bytes = sample_bytes();
  auto& header = *reinterpret_cast<layout::FileHeader*>(bytes.data());
  header.version = 2;
  spill(path, bytes);
  EXPECT_TRUE(Recording::open(path)) << "a version with a wrong checksum is damage, not an unknown version";
}

TEST(Damage, CutAtEveryByte) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  const auto whole = sample_bytes();
  auto blocks = blocks_of(whole);
  size_t chunks_before = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    spill(path, {whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)});
    auto recording = Recording::open(path);
    if (size < layout::kBlocksAt) {
      ASSERT_FALSE(recording) << size;
      continue;
    }
    ASSERT_TRUE(recording) << size << ": " << recording.error().text;
    size_t chunks = 0;
    for (const auto& block : blocks) chunks += block.type() == layout::BlockType::kChunk && block.end() <= size;
    EXPECT_EQ(recording->chunks().size(), chunks) << "cut at " << size;
    EXPECT_GE(chunks, chunks_before);
    chunks_before = chunks;
    EXPECT_TRUE(recording->damage().index) << size;
    EXPECT_TRUE(recording->damage().cut) << size;
    uint64_t bad = 0;
    read_all(*recording, &bad);
    EXPECT_EQ(bad, 0u) << size;
  }
}

TEST(Damage, WithoutIndexEverythingIsFound) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto bytes = sample_bytes();
  auto blocks = blocks_of(bytes);
  const BlockRef& index = blocks.back();
  ASSERT_EQ(index.type(), layout::BlockType::kIndex);
  bytes[index.offset + 60] ^= 1;  // its payload
  spill(path, bytes);
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->damage().index);
  EXPECT_EQ(recording->damage().bytes, 0u);
  expect_sample(*recording);

  // Nor does the index need the in-place area: the trailer leads to it.
  bytes = sample_bytes();
  bytes[layout::kInPlaceAt + offsetof(layout::InPlace, index_at)] ^= 1;
  spill(path, bytes);
  recording = Recording::open(path);
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->damage().header);
  EXPECT_FALSE(recording->damage().index);
  EXPECT_FALSE(recording->write_failures());
  EXPECT_TRUE(recording->is_finished());
  expect_sample(*recording);
}

// Each block in turn: one byte of its header, of its head, of its payload; then the block cut out, or a piece of it.
TEST(Damage, CostsOnlyTheBlockThatItHit) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto whole = sample_bytes();
  auto blocks = blocks_of(whole);
  whole.resize(blocks.back().offset);  // as after a crash: no index
  blocks.pop_back();
  size_t all_chunks = 2 * kSampleChunks;
  for (const BlockRef& block : blocks) {
    bool is_chunk = block.type() == layout::BlockType::kChunk;
    for (uint64_t offset : {uint64_t{0}, uint64_t{9}, uint64_t{40}, block.frame_bytes() - 1, block.frame_bytes() + 3}) {
      auto bytes = whole;
      bytes[block.offset + offset] ^= 0x10;
      spill(path, bytes);
      auto recording = Recording::open(path);
      ASSERT_TRUE(recording);
      uint64_t bad = 0;
      read_all(*recording, &bad);
      EXPECT_EQ(recording->chunks().size() - bad, all_chunks - is_chunk) << block.offset << "+" << offset;
      bool last = &block == &blocks.back();  // then nothing tells how many blocks there were
      if (bad == 0 && !last) {
        EXPECT_EQ(recording->damage().blocks, 1u) << block.offset << "+" << offset;
      }
      if (bad == 0) {
        EXPECT_EQ(recording->damage().bytes, block.end() - block.offset) << block.offset << "+" << offset;
      }
    }
    for (uint64_t kept : {uint64_t{0}, uint64_t{30}, block.frame_bytes(), block.frame_bytes() + 5}) {
      auto bytes = whole;
      bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(block.offset + kept),
                  bytes.begin() + static_cast<ptrdiff_t>(block.end()));
      spill(path, bytes);
      auto recording = Recording::open(path);
      ASSERT_TRUE(recording);
      uint64_t bad = 0;
      read_all(*recording, &bad);
      EXPECT_EQ(recording->chunks().size() - bad, all_chunks - is_chunk) << block.offset << " kept " << kept;
      EXPECT_EQ(bad, 0u);
    }
  }
}

TEST(Damage, ByIndexABadChunkIsToldWhenItIsRead) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto bytes = sample_bytes();
  for (const BlockRef& block : blocks_of(bytes))
    if (block.type() == layout::BlockType::kChunk) {
      bytes[block.offset + block.frame_bytes()] ^= 1;
      break;
    }
  spill(path, bytes);
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  std::vector<uint8_t> out;
  auto result = recording->read_chunk(recording->chunks()[0], out);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text, HasSubstr("is damaged"));
  EXPECT_TRUE(recording->read_chunk(recording->chunks()[1], out));
}

TEST(Damage, ATruncationWhileReadingIsAnError) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  spill(path, sample_bytes());
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  ASSERT_EQ(::truncate(path.c_str(), 300), 0);
  std::vector<uint8_t> out;
  for (const ChunkRef& chunk : recording->chunks()) EXPECT_FALSE(recording->read_chunk(chunk, out));
}

TEST(Damage, JunkBehindTheEndIsCounted) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  auto bytes = sample_bytes();
  bytes.insert(bytes.end(), 77, 0);
  spill(path, bytes);
  auto recording = Recording::open(path);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->damage().bytes, 77u);
  expect_sample(*recording);
}

TEST(Damage, TenThousandMutations) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  const auto whole = sample_bytes();
  std::mt19937 random(11);
  size_t opened = 0;
  for (int round = 0; round < 10'000; ++round) {
    auto bytes = whole;
    for (uint32_t count = 1 + random() % 4; count > 0 && !bytes.empty(); --count) {
      size_t at = random() % bytes.size();
      switch (random() % 6) {
        case 0: bytes[at] = static_cast<uint8_t>(random()); break;
        case 1: bytes[at] ^= static_cast<uint8_t>(1u << random() % 8); break;
        case 2: bytes.resize(at + 1); break;
        case 3:
          bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at),
                      bytes.begin() + static_cast<ptrdiff_t>(std::min(at + random() % 64, bytes.size())));
          break;
        case 4:
          bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), random() % 64, static_cast<uint8_t>(random()));
          break;
        case 5: {  // a piece from elsewhere
          size_t from = random() % bytes.size(), size = random() % 256;
          size = std::min({size, bytes.size() - from, bytes.size() - at});
          std::memmove(bytes.data() + at, bytes.data() + from, size);
          break;
        }
      }
    }
    spill(path, bytes);
    auto recording = Recording::open(path);
    if (!recording) {
      EXPECT_THAT(recording.error().text, HasSubstr(path));
      continue;
    }
    ++opened;
    read_all(*recording);
    EXPECT_LE(recording->chunks().size(), 2 * kSampleChunks);
  }
  EXPECT_GT(opened, 9000u);
}

// Mutations behind valid checksums: what a hostile writer could make. The decoders themselves are hit, not the sums.
TEST(Damage, HostileWriters) {
  TempDir dir;
  std::string path = dir.file("a.penna");
  const auto whole = sample_bytes();
  auto blocks = blocks_of(whole);
  std::mt19937 random(13);
  for (int round = 0; round < 4'000; ++round) {
    auto bytes = whole;
    BlockRef block = blocks[random() % blocks.size()];
    if (random() % 2 != 0 && block.header.stored_bytes != 0)
      for (uint32_t count = 1 + random() % 4; count > 0; --count)
        bytes[block.offset + block.frame_bytes() + random() % block.header.stored_bytes] =
            static_cast<uint8_t>(random());
    switch (random() % 8) {
      case 0: block.header.type = static_cast<uint8_t>(random() % 16); break;
      case 1: block.header.codec = static_cast<uint8_t>(random() % 4); break;
      case 2: block.header.raw_bytes = static_cast<uint32_t>(random() >> (random() % 32)); break;
      case 3: block.header.process = random() % 4; break;
      case 4: block.header.sequence = random(); break;
      case 5: block.head.thread_serial = random() % 4; break;
      default: break;
    }
    put(bytes, block);
    if (random() % 2 != 0) bytes.resize(blocks.back().offset);  // without the index, which disagrees
    spill(path, bytes);
    auto recording = Recording::open(path);
    ASSERT_TRUE(recording);
    read_all(*recording);
  }
}

}  // namespace
}  // namespace penna::damage_test
