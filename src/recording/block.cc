// SPDX-License-Identifier: MIT
// See block.h.
#include "recording/block.h"

#include <xxhash.h>

#include <cstring>

#include "penna/channel.h"

namespace penna {

using layout::BlockHeader;
using layout::BlockType;
using layout::ChunkHead;
using layout::Codec;

uint64_t payload_sum(std::span<const uint8_t> stored) { return XXH3_64bits(stored.data(), stored.size()); }

uint64_t head_sum(const BlockHeader& header, const ChunkHead& head) {
  constexpr size_t kCovered = offsetof(BlockHeader, head_sum);
  uint8_t bytes[kCovered + sizeof head];
  std::memcpy(bytes, &header, kCovered);
  std::memcpy(bytes + kCovered, &head, sizeof head);
  return XXH3_64bits(bytes, kCovered + header.head_bytes);
}

bool within_limits(const BlockHeader& header) {
  if (header.stored_bytes > header.raw_bytes || header.raw_bytes > layout::kMaxRawBytes) return false;
  if (header.type == static_cast<uint8_t>(BlockType::kChunk))
    return header.head_bytes == sizeof(ChunkHead) && header.raw_bytes >= sizeof(penna_chunk) &&
           header.raw_bytes <= PENNA_CHUNK_BYTES;
  return header.head_bytes == 0 &&
         header.raw_bytes <= uint64_t{header.stored_bytes} * layout::kMaxExpansion + layout::kFreeExpansion;
}

std::optional<BlockRef> parse_block(std::span<const uint8_t> bytes, uint64_t offset) {
  BlockRef block;
  block.offset = offset;
  if (bytes.size() < sizeof block.header) return std::nullopt;
  std::memcpy(&block.header, bytes.data(), sizeof block.header);
  if (block.header.magic != layout::kBlockMagic || !within_limits(block.header)) return std::nullopt;
  if (bytes.size() < block.frame_bytes()) return std::nullopt;
  std::memcpy(&block.head, bytes.data() + sizeof block.header, block.header.head_bytes);
  if (head_sum(block.header, block.head) != block.header.head_sum) return std::nullopt;
  return block;
}

}  // namespace penna
