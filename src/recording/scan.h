// SPDX-License-Identifier: MIT
// Finding the blocks of a file: by its index, or by walking from block to block and searching for the next one after
// damage.
//
// Why both: the index makes a big recording open at once; the walk reads what a crash, a full disk or a bad sector
// left.
// Invariant: time and memory are bounded by the size of the file, whatever its contents.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "recording/block.h"
#include "recording/metadata.h"

namespace penna {

// A file read by offset. Thread-safe.
class BlockFile {
 public:
  BlockFile() = default;
  BlockFile(Fd fd, uint64_t size) : fd_(std::move(fd)), size_(size) {}

  // The format version from the file header; kVersion until that has been read.
  void set_version(uint32_t version) { version_ = version; }
  uint32_t version() const { return version_; }
  uint64_t size() const { return size_; }  // when it was last looked at: it may have become shorter
  void look_again();                       // at its size
  // As many of out.size() bytes as there are.
  size_t read(uint64_t offset, std::span<uint8_t> out) const;
  template <typename T>
  std::optional<T> read_struct(uint64_t offset) const {
    T value;
    if (read(offset, {reinterpret_cast<uint8_t*>(&value), sizeof value}) != sizeof value) return std::nullopt;
    return value;
  }
  std::optional<BlockRef> block_at(uint64_t offset) const;
  // The stored payload, checked, in `stored`; false if it cannot be read or its checksum is wrong.
  bool read_stored(const BlockRef& block, Bytes& stored) const;
  // The same, decompressed.
  bool read_payload(const BlockRef& block, Bytes& stored, Bytes& payload) const;

 private:
  Fd fd_;
  uint64_t size_ = 0;
  uint32_t version_ = layout::kVersion;
};

struct FoundBlocks {
  std::vector<BlockRef> blocks;  // by offset; without index blocks; payloads unchecked
  uint64_t bytes_skipped = 0;    // in no block
  uint64_t blocks_missing = 0;   // by the gaps in their sequence
  bool cut = false;              // the last block is incomplete
};

// The blocks listed in the index, if it accounts for every byte of the file; else empty.
std::optional<FoundBlocks> blocks_by_index(const BlockFile& file, uint64_t blocks_at, uint64_t index_at);

// Walks the file from `blocks_at`.
FoundBlocks blocks_by_walk(const BlockFile& file, uint64_t blocks_at);

// The trailer at the end of the file, if valid.
std::optional<layout::Trailer> read_trailer(const BlockFile& file, uint64_t end);

}  // namespace penna
