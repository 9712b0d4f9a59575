// SPDX-License-Identifier: MIT
// See block.h.
#include "recording/block.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "penna/channel.h"

namespace penna {

using layout::BlockHeader;
using layout::BlockType;
using layout::ChunkHead;
using layout::ChunkHeadOfFour;

uint64_t payload_sum(std::span<const uint8_t> stored) { return XXH3_64bits(stored.data(), stored.size()); }

// Covers the header before this field, and a chunk's head: a walk can trust where a block ends without reading its
// payload.
uint64_t head_sum(const BlockHeader& header, std::span<const uint8_t> head) {
  constexpr size_t kCovered = offsetof(BlockHeader, head_sum);
  uint8_t bytes[kCovered + sizeof(ChunkHead)];
  const size_t head_bytes = std::min(head.size(), sizeof(ChunkHead));
  std::memcpy(bytes, &header, kCovered);
  if (head_bytes != 0) std::memcpy(bytes + kCovered, head.data(), head_bytes);
  return XXH3_64bits(bytes, kCovered + head_bytes);
}

// Formats 1 and 2 had exactly four event classes. Their structures are widened to the current layout once, here.
ChunkHead widened(const ChunkHeadOfFour& head) {
  ChunkHead wide{};
  wide.thread_serial = head.thread_serial;
  wide.tid = head.tid;
  wide.chunk_sequence = head.chunk_sequence;
  wide.time_begin = head.time_begin;
  wide.time_end = head.time_end;
  std::copy(std::begin(head.events), std::end(head.events), wide.events);
  wide.torn = head.torn;
  wide.damaged = head.damaged;
  return wide;
}

layout::InPlace widened(const layout::InPlaceOfFour& in_place) {
  layout::InPlace wide{};
  std::copy(std::begin(in_place.lost), std::end(in_place.lost), wide.lost);
  wide.lost_blocks = in_place.lost_blocks;
  wide.lost_bytes = in_place.lost_bytes;
  wide.index_at = in_place.index_at;
  wide.end = in_place.end;
  wide.finished = in_place.finished;
  wide.error = in_place.error;
  wide.checksum = in_place.checksum;
  return wide;
}

// Limits on what a header may claim, checked before any allocation: sizes come from the file, and a payload must not
// expand to more than its compressed size can honestly hold.
bool within_limits(const BlockHeader& header) {
  if (header.stored_bytes > header.raw_bytes || header.raw_bytes > layout::kMaxRawBytes) return false;
  if (header.type == static_cast<uint8_t>(BlockType::kChunk))
    return (header.head_bytes == sizeof(ChunkHead) || header.head_bytes == sizeof(ChunkHeadOfFour)) &&
           header.raw_bytes >= sizeof(penna_chunk) && header.raw_bytes <= PENNA_CHUNK_BYTES;
  return header.head_bytes == 0 &&
         header.raw_bytes <= uint64_t{header.stored_bytes} * layout::kMaxExpansion + layout::kFreeExpansion;
}

// `bytes` begins at `offset`. Empty if no whole frame begins there.
std::optional<BlockRef> parse_block(std::span<const uint8_t> bytes, uint64_t offset) {
  BlockRef block;
  block.offset = offset;
  if (bytes.size() < sizeof block.header) return std::nullopt;
  std::memcpy(&block.header, bytes.data(), sizeof block.header);
  if (block.header.magic != layout::kBlockMagic || !within_limits(block.header)) return std::nullopt;
  if (bytes.size() < block.frame_bytes()) return std::nullopt;
  const auto head = bytes.subspan(sizeof block.header, block.header.head_bytes);
  if (head_sum(block.header, head) != block.header.head_sum) return std::nullopt;
  if (head.size() == sizeof(ChunkHeadOfFour)) {
    ChunkHeadOfFour old;
    std::memcpy(&old, head.data(), sizeof old);
    block.head = widened(old);
  } else if (!head.empty()) {
    std::memcpy(&block.head, head.data(), sizeof block.head);
  }
  return block;
}

}  // namespace penna
