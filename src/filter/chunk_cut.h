// SPDX-License-Identifier: MIT
// ChunkCut: which records of a chunk a filter leaves out, and the remaining chunk.
//
// Why separate from the filters: some decide only when later chunks are known, and several look at the same chunk.
// Invariant: the result is a chunk that says the same about every other record, including torn ones, holes and damage.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "penna/channel.h"

namespace penna {

class ChunkCut {
 public:
  // `offset`: of the record's header from the start of the chunk. Records are aligned to 8 bytes, so one bit per word
  // suffices.
  void leave_out(size_t offset) {
    words_[offset / 512] |= uint64_t{1} << (offset / 8 % 64);
    changes_ = true;
  }
  bool leaves_out(size_t offset) const { return (words_[offset / 512] >> (offset / 8 % 64) & 1) != 0; }
  // The call exit at `offset` becomes exits of other functions, at the same time, as far as the chunk has room: if not
  // for all, the last has precedence. Call in ascending order.
  void replace_exit(size_t offset, std::vector<uint64_t> pcs) {
    exits_.push_back({offset, std::move(pcs)});
    changes_ = true;
  }
  bool changes() const { return changes_; }

  // What is left of `chunk`, in `out` (reused). A chunk that never said when it ends gets the time of its last record.
  void apply(std::span<const uint8_t> chunk, std::vector<uint8_t>& out) const;

 private:
  struct Exit {
    size_t offset;
    std::vector<uint64_t> pcs;
  };
  std::vector<uint64_t> words_ = std::vector<uint64_t>(PENNA_CHUNK_BYTES / 512);  // a bit for each word of the chunk
  std::vector<Exit> exits_;
  bool changes_ = false;
};

}  // namespace penna
