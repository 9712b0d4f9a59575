// SPDX-License-Identifier: MIT
// A block's frame: building one, and recognizing a valid one among arbitrary bytes. Shared by writer and reader.
//
// Invariant: parse_block() accepts no size that breaks a limit of layout.h, so it is safe to allocate by a BlockRef.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "recording/layout.h"

namespace penna {

inline constexpr size_t kFrameBytes = sizeof(layout::BlockHeader) + sizeof(layout::ChunkHead);  // the longest

// A block whose header (not payload) has been checked.
struct BlockRef {
  uint64_t offset = 0;  // in the file
  layout::BlockHeader header{};
  layout::ChunkHead head{};  // zero for blocks other than chunks

  layout::BlockType type() const { return static_cast<layout::BlockType>(header.type); }
  uint64_t frame_bytes() const { return sizeof header + header.head_bytes; }
  uint64_t end() const { return offset + frame_bytes() + header.stored_bytes; }
};

uint64_t payload_sum(std::span<const uint8_t> stored);
// `head`: the head_bytes after the header, as stored in the file.
uint64_t head_sum(const layout::BlockHeader& header, std::span<const uint8_t> head);

// Converts structures of versions 1 and 2 to the current layout.
layout::ChunkHead widened(const layout::ChunkHeadOfFour& head);
layout::InPlace widened(const layout::InPlaceOfFour& in_place);

// Sizes, codec and type agree with each other and with the limits.
bool within_limits(const layout::BlockHeader& header);

// The frame at the start of `bytes`; empty if it is not one, or if `bytes` is too short to hold it. `offset` goes into
// the result.
std::optional<BlockRef> parse_block(std::span<const uint8_t> bytes, uint64_t offset);

}  // namespace penna
