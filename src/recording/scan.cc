// SPDX-License-Identifier: MIT
// See scan.h.
#include "recording/scan.h"

#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recording/columns/codec.h"

namespace penna {

using layout::BlockType;

// Returns how many bytes were read. pread(2), so that threads can share the descriptor.
size_t BlockFile::read(uint64_t offset, std::span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    ssize_t got = ::pread(fd_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

void BlockFile::look_again() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) == 0) size_ = static_cast<uint64_t>(status.st_size);
}

std::optional<BlockRef> BlockFile::block_at(uint64_t offset) const {
  uint8_t bytes[kFrameBytes];
  if (offset >= size_) return std::nullopt;
  return parse_block({bytes, read(offset, bytes)}, offset);
}

bool BlockFile::read_stored(const BlockRef& block, Bytes& stored) const {
  stored.resize(block.header.stored_bytes);
  return read(block.offset + block.frame_bytes(), stored) == stored.size() &&
         payload_sum(stored) == block.header.payload_sum;
}

// The checksum covers the stored bytes: a damaged payload never reaches a decompressor.
bool BlockFile::read_payload(const BlockRef& block, Bytes& stored, Bytes& payload) const {
  return read_stored(block, stored) &&
         decompress(static_cast<layout::Codec>(block.header.codec), stored, block.header.raw_bytes, payload, version_);
}

std::optional<layout::Trailer> read_trailer(const BlockFile& file, uint64_t end) {
  if (end < sizeof(layout::Trailer)) return std::nullopt;
  auto trailer = file.read_struct<layout::Trailer>(end - sizeof(layout::Trailer));
  if (!trailer || trailer->magic != layout::kTrailerMagic) return std::nullopt;
  if (XXH3_64bits(&*trailer, offsetof(layout::Trailer, checksum)) != trailer->checksum) return std::nullopt;
  return trailer;
}

// ---- By index

namespace {

layout::ChunkHead head_of(const layout::IndexEntry& entry) { return entry.head; }
layout::ChunkHead head_of(const layout::IndexEntryWith<layout::ChunkHeadOfFour>& entry) { return widened(entry.head); }

template <typename Entry>
BlockRef block_of(const uint8_t* bytes) {
  Entry entry;
  std::memcpy(&entry, bytes, sizeof entry);
  BlockRef block;
  block.offset = entry.offset;
  block.header.magic = layout::kBlockMagic;
  block.header.type = entry.type;
  block.header.codec = entry.codec;
  block.header.head_bytes = entry.head_bytes;
  block.header.process = entry.process;
  block.header.raw_bytes = entry.raw_bytes;
  block.header.stored_bytes = entry.stored_bytes;
  block.head = head_of(entry);
  return block;
}

}  // namespace

// Empty if anything in the index is wrong: each entry must begin where the previous one ends, up to the index itself,
// and the trailer must agree. The blocks are not read.
std::optional<FoundBlocks> blocks_by_index(const BlockFile& file, uint64_t blocks_at, uint64_t index_at) {
  FoundBlocks found;
  uint64_t expected = blocks_at;  // where the next entry's block begins
  uint64_t at = index_at;
  Bytes stored, payload;
  using Old = layout::IndexEntryWith<layout::ChunkHeadOfFour>;
  const bool is_old = file.version() <= layout::kLastVersionOfFourClasses;
  const size_t entry_bytes = is_old ? sizeof(Old) : sizeof(layout::IndexEntry);
  while (auto index = file.block_at(at)) {
    if (index->type() != BlockType::kIndex || !file.read_payload(*index, stored, payload)) return std::nullopt;
    if (payload.size() % entry_bytes != 0) return std::nullopt;
    for (size_t i = 0; i < payload.size(); i += entry_bytes) {
      const uint8_t* entry = payload.data() + i;
      const BlockRef block = is_old ? block_of<Old>(entry) : block_of<layout::IndexEntry>(entry);
      if (block.offset != expected || !within_limits(block.header) || block.type() == BlockType::kIndex)
        return std::nullopt;
      expected = block.end();
      found.blocks.push_back(block);
    }
    at = index->end();
  }
  auto trailer = read_trailer(file, at + sizeof(layout::Trailer));
  if (!trailer || trailer->index_at != index_at || trailer->blocks != found.blocks.size() || expected != index_at)
    return std::nullopt;
  uint64_t end = at + sizeof(layout::Trailer);
  found.bytes_skipped = file.size() > end ? file.size() - end : 0;
  return found;
}

// ---- By walking

namespace {

constexpr size_t kWindowBytes = 1 << 20;

// From block to block, as each header says. Where none begins, the next one is searched for by its magic number.
//
// Time is linear in the size of the file, whatever it holds: windows are read once, and checks have a budget.
class Walk {
 public:
  Walk(const BlockFile& file, uint64_t blocks_at)
      : file_(file), at_(blocks_at), check_budget_(2 * file.size() + (16 << 20)) {}

  FoundBlocks run() {
    while (at_ < file_.size()) {
      if (auto block = file_.block_at(at_); block && block->end() <= file_.size())
        accept(*block);
      else if (!at_trailer())
        skip_damage();
    }
    // Blocks are numbered: gaps in the numbers are missing blocks.
    found_.blocks_missing = next_sequence_ > seen_ ? next_sequence_ - seen_ : 0;
    return std::move(found_);
  }

 private:
  void accept(const BlockRef& block) {
    at_ = block.end();
    next_sequence_ = std::max(next_sequence_, block.header.sequence + 1);
    ++seen_;
    last_unchecked_ = block.type() != BlockType::kIndex;
    if (last_unchecked_) found_.blocks.push_back(block);
  }

  bool at_trailer() {
    if (file_.size() - at_ != sizeof(layout::Trailer) || !read_trailer(file_, file_.size())) return false;
    at_ = file_.size();
    return true;
  }

  // No block begins at at_. Either the previous one is not what its header says (it lost bytes), or this one is
  // damaged: the search restarts from the start of whichever it is.
  void skip_damage() {
    uint64_t from = at_;
    if (last_unchecked_ && last_is_bad()) {
      from = found_.blocks.back().offset;
      found_.blocks.pop_back();
      --seen_;
    }
    last_unchecked_ = false;
    uint64_t next = find_next(from + 1);
    // No block follows: the end is missing, and not something in between.
    found_.cut = next == file_.size();
    found_.bytes_skipped += next - from;
    at_ = next;
  }

  bool last_is_bad() {
    const BlockRef& last = found_.blocks.back();
    if (last.header.stored_bytes > check_budget_) return false;  // enough time spent on a possibly hostile file
    check_budget_ -= last.header.stored_bytes;
    return !file_.read_stored(last, stored_);
  }

  // The offset of the next whole block at or after `from`, or of the trailer, or the size of the file.
  uint64_t find_next(uint64_t from) {
    uint64_t last = file_.size() - sizeof(layout::Trailer);
    for (uint64_t at = from; at < file_.size();) {
      if (!load_window(at)) break;
      auto rest = std::span<const uint8_t>(window_).subspan(at - window_at_);
      if (auto block = find_in(rest, at)) return *block;
      if (rest.size() <= kFrameBytes) break;
      at += rest.size() - kFrameBytes + 1;  // a frame that straddles the edge is whole in the next window
    }
    return from <= last && read_trailer(file_, file_.size()) ? last : file_.size();
  }

  // Makes the window hold at least a frame from `at`, or all up to the end of the file. Reads only if it must: damage
  // every few bytes must not cost a window each.
  bool load_window(uint64_t at) {
    bool inside = at >= window_at_ && at - window_at_ < window_.size();
    uint64_t window_end = window_at_ + window_.size();
    if (inside && (window_end == file_.size() || window_end - at > kFrameBytes)) return true;
    window_at_ = at;
    window_.resize(std::min<uint64_t>(kWindowBytes, file_.size() - at));
    window_.resize(file_.read(at, window_));
    return !window_.empty();
  }

  // The magic number may occur in a payload by chance: a hit counts only if the header's checksum matches.
  std::optional<uint64_t> find_in(std::span<const uint8_t> bytes, uint64_t offset) const {
    auto rest = bytes;
    while (const void* hit = memmem(rest.data(), rest.size(), &layout::kBlockMagic, sizeof layout::kBlockMagic)) {
      rest = rest.subspan(static_cast<size_t>(static_cast<const uint8_t*>(hit) - rest.data()));
      uint64_t found = offset + static_cast<uint64_t>(rest.data() - bytes.data());
      if (auto block = parse_block(rest, found); block && block->end() <= file_.size()) return found;
      rest = rest.subspan(1);
    }
    return std::nullopt;
  }

  const BlockFile& file_;
  uint64_t at_;
  uint64_t check_budget_;  // bytes that may still be read to check payloads
  uint64_t next_sequence_ = 0, seen_ = 0;
  bool last_unchecked_ = false;
  uint64_t window_at_ = 0;
  FoundBlocks found_;
  Bytes window_, stored_;
};

}  // namespace

FoundBlocks blocks_by_walk(const BlockFile& file, uint64_t blocks_at) { return Walk(file, blocks_at).run(); }

}  // namespace penna
