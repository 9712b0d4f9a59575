// SPDX-License-Identifier: MIT
// See live_bytes.h.
#include "view/tracks/live_bytes.h"

#include <algorithm>

namespace penna {

void LiveBytes::line(const TimelineLine& line, const SampleScale& scale) {
  if (blocks_.size() <= line.process) blocks_.resize(line.process + 1);
  NumberMap<Block>& blocks = blocks_[line.process];
  if (line.kind == LineKind::kAllocation)
    allocate(blocks, line.address, line.time, scale.weigh(line.size).bytes);
  else if (line.kind == LineKind::kFree)
    free(blocks, line.address, line.time);
  else if (line.kind == LineKind::kReallocFailed && line.address == last_freed_)
    allocate(blocks, line.address, line.time, last_bytes_);
}

void LiveBytes::allocate(NumberMap<Block>& blocks, uint64_t address, uint64_t time, uint64_t bytes) {
  const auto [found, is_new] = blocks.try_emplace(address, Block{time, bytes, false});
  if (!is_new) {
    Block& other = found.value();
    if (other.freed && other.time >= time) {  // by a thread whose records came earlier
      changes_.push_back({time, static_cast<int64_t>(bytes)});
      changes_.push_back({other.time, -static_cast<int64_t>(bytes)});
      blocks.erase(found);
      return;
    }
    // It was freed, but that record is yet to come.
    if (!other.freed) changes_.push_back({time, -static_cast<int64_t>(other.bytes)});
    other = {time, bytes, false};
  }
  changes_.push_back({time, static_cast<int64_t>(bytes)});
}

void LiveBytes::free(NumberMap<Block>& blocks, uint64_t address, uint64_t time) {
  if (address == 0) return;
  const auto [found, is_new] = blocks.try_emplace(address, Block{time, 0, true});
  if (is_new || found->second.freed || time < found->second.time) return;
  last_freed_ = address, last_bytes_ = found->second.bytes;
  changes_.push_back({time, -static_cast<int64_t>(last_bytes_)});
  blocks.erase(found);
}

void LiveBytes::changes(const std::function<void(uint64_t ticks, uint64_t bytes)>& visit) {
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const Change& one, const Change& other) { return one.time < other.time; });
  for (const Change& one : changes_) {
    now_ += one.bytes;
    visit(one.time, static_cast<uint64_t>(std::max<int64_t>(now_, 0)));
  }
  changes_.clear();
}

}  // namespace penna
