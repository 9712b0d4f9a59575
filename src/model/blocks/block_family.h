// SPDX-License-Identifier: MIT
// BlockFamily: which blocks an analysis is about: the heap's, mappings, or a pool's.
//
// Why: a pool's blocks lie in heap blocks, and these in mappings, so families must never be added up.
// Invariant: within one process, the allocations and frees of one family are all that ever happens to an address in
// that family.
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

  // "heap", "maps", "maps:file", "maps:anonymous" or "pool:NAME". The error lists those in the recording.
  static Result<BlockFamily> find(const Recording& recording, const std::string& name);

  bool has(uint32_t process, const BlockRecord& block) const {
    return block.space == space_ && (space_ != BlockSpace::kPool || has_pool(process, block.pool));
  }
  // For a block that has() accepts: it passes the restriction to files or anonymous mappings, if any.
  bool counts(const BlockRecord& block) const { return (block.flags & flag_mask_) == flag_value_; }

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
  uint16_t flag_mask_ = 0, flag_value_ = 0;  // penna_map_flag
  std::string name_ = "heap";
  std::vector<uint64_t> pools_;  // process, id; sorted
};

// The names of all pools in the recording, sorted.
std::vector<std::string> pool_names(const Recording& recording);

// Replaces penna_map_flag in BlockRecord::flags: it is unknown what is mapped, because mremap moved a mapping that had
// not been seen.
inline constexpr uint16_t kMapOfUnknown = 8;

// The kind of a block: for the heap the function that made it (malloc, calloc, ...), for mappings what they map. A
// number that stands for one of these words.
uint32_t block_kind(const BlockRecord& block);
const char* block_kind_text(uint32_t kind);

}  // namespace penna
