// SPDX-License-Identifier: MIT
// See block_sizes.h.
#include "model/blocks/block_sizes.h"

#include <algorithm>

namespace penna {

uint64_t BlockSizes::waste_of(uint64_t size) {
  constexpr uint64_t kHeader = 8, kAlign = 16, kSmallest = 32;
  if (size > UINT64_MAX - kHeader - kAlign) return 0;  // no such block exists: its size was misread
  return std::max(kSmallest, (size + kHeader + kAlign - 1) / kAlign * kAlign) - size;
}

SizeCounts* BlockSizes::exact(uint64_t size) {
  if (auto found = numbers_.find(size); found != numbers_.end()) return &sizes_[found->second];
  if (sizes_.size() == kMostSizes) return nullptr;
  numbers_.emplace(size, static_cast<uint32_t>(sizes_.size()));
  sizes_.push_back({size, 0, 0, 0, 0, 0});
  return &sizes_.back();
}

void BlockSizes::on_allocated(const Event&, const HeapBlock& block) {
  SizeCounts* size = exact(block.size);
  without_size_ += size == nullptr;
  for (SizeCounts* counts : {&powers_[power_of(block.size)], size}) {
    if (counts == nullptr) continue;
    ++counts->allocations;
    counts->bytes += block.size;
    counts->waste += waste_of(block.size);
  }
}

void BlockSizes::add_live(const Allocations& heap) {
  heap.each_live([&](uint32_t, uint64_t, const HeapBlock& block) {
    const auto found = numbers_.find(block.size);
    for (SizeCounts* counts :
         {&powers_[power_of(block.size)], found == numbers_.end() ? nullptr : &sizes_[found->second]}) {
      if (counts == nullptr) continue;
      ++counts->live_blocks;
      counts->live_bytes += block.size;
    }
  });
}

std::vector<SizeCounts> BlockSizes::by_power() const {
  std::vector<SizeCounts> result;
  for (size_t power = 0; power < powers_.size(); ++power) {
    if (powers_[power].allocations == 0 && powers_[power].live_blocks == 0) continue;
    result.push_back(powers_[power]);
    result.back().size = power == 0 ? 0 : uint64_t{1} << (power - 1);
  }
  return result;
}

std::vector<SizeCounts> BlockSizes::by_size() const {
  std::vector<SizeCounts> result = sizes_;
  std::sort(result.begin(), result.end(), [](const SizeCounts& a, const SizeCounts& b) {
    return a.allocations != b.allocations ? a.allocations > b.allocations : a.size < b.size;
  });
  return result;
}

}  // namespace penna
