// SPDX-License-Identifier: MIT
// BlockSizes: how large the allocated blocks are, by powers of two and by exact size, and what glibc's malloc adds to
// them.
//
// Why computed: what the allocator really used is not recorded. glibc (malloc/malloc.c, "chunk2mem") puts 8 bytes
// before the block and rounds up to a multiple of 16, at least 32; blocks with a mapping of their own, rounded up to
// pages, are not distinguished.
// Usage: as AllocationOptions::observer; read after Allocations::finish().
// Invariant: the sums of both tables are those of the allocations, except that sizes beyond kMostSizes are in the
// powers only.
#pragma once

#include <array>
#include <vector>

#include "model/blocks/allocations.h"

namespace penna {

struct SizeCounts {
  uint64_t size = 0;  // the exact one, or the smallest of the power
  uint64_t allocations = 0, bytes = 0, waste = 0;
  uint64_t live_blocks = 0, live_bytes = 0;
};

class BlockSizes : public AllocationObserver {
 public:
  static constexpr size_t kMostSizes = 1 << 18;  // different ones

  void on_allocated(const Event& event, const HeapBlock& block) override;
  void add_live(const Allocations& heap);  // once, after the walk

  std::vector<SizeCounts> by_power() const;                // 0, 1, 2..3, 4..7, ...; those that occur, rising
  std::vector<SizeCounts> by_size() const;                 // the most frequent first
  uint64_t without_size() const { return without_size_; }  // allocations missing from by_size()

  // Bytes that malloc(size) takes beyond `size`.
  static uint64_t waste_of(uint64_t size);

 private:
  SizeCounts* exact(uint64_t size);
  static size_t power_of(uint64_t size) { return size == 0 ? 0 : 64 - static_cast<size_t>(__builtin_clzll(size)); }

  std::array<SizeCounts, 65> powers_{};
  std::vector<SizeCounts> sizes_;
  NumberMap<uint32_t> numbers_;  // size -> index of sizes_
  uint64_t without_size_ = 0;
};

}  // namespace penna
