// SPDX-License-Identifier: MIT
// BlockFamily: which blocks an analysis is about: those of the heap, mappings, or those of a pool.
//
// Why: a pool's blocks lie in blocks of the heap, and these in mappings, so that families must never be added up.
// Invariant: of an address in a process, the allocations and frees of one family say all that there is to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/events/block_records.h"
#include "recording/reader.h"

namespace penna {

class BlockFamily {
 public:
  BlockFamily() = default;  // the heap

  // "heap", "maps", "maps:file", "maps:anonymous" or "pool:NAME". The error names those that the recording has.
  static Result<BlockFamily> find(const Recording& recording, const std::string& name);

  bool has(uint32_t process, const BlockRecord& block) const {
    return block.space == space_ && (space_ != BlockSpace::kPool || has_pool(process, block.pool));
  }
  // Of those that it has: of a file or anonymous, where that was asked for.
  bool counts(const BlockRecord& block) const { return (block.flags & flags_asked_) == flags_due_; }

  BlockSpace space() const { return space_; }
  bool is_heap() const { return space_ == BlockSpace::kHeap; }
  const std::string& name() const { return name_; }
  // What its allocations, blocks and frees are called.
  const char* allocation() const { return space_ == BlockSpace::kMaps ? "mapping" : "allocation"; }
  const char* block() const { return space_ == BlockSpace::kMaps ? "mapping" : "block"; }
  const char* free() const { return space_ == BlockSpace::kMaps ? "unmapping" : "free"; }
  const char* freed() const { return space_ == BlockSpace::kMaps ? "unmapped" : "freed"; }

 private:
  bool has_pool(uint32_t process, uint32_t pool) const {
    return std::binary_search(pools_.begin(), pools_.end(), uint64_t{process} << 32 | pool);
  }

  BlockSpace space_ = BlockSpace::kHeap;
  uint16_t flags_asked_ = 0, flags_due_ = 0;  // penna_map_flag
  std::string name_ = "heap";
  std::vector<uint64_t> pools_;  // process, id; sorted
};

// The names of all pools that the recording has, sorted.
std::vector<std::string> pool_names(const Recording& recording);

// In place of penna_map_flag in BlockRecord::flags: what is mapped there is not known, as what mremap moved had not
// been seen.
inline constexpr uint16_t kMapOfUnknown = 8;

// By what a block was made: malloc, calloc, ... of the heap; of mappings what they are of. A number for one of these
// words.
uint32_t block_kind(const BlockRecord& block);
const char* block_kind_text(uint32_t kind);

}  // namespace penna
