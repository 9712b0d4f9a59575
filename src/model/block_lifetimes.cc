// SPDX-License-Identifier: MIT
// See block_lifetimes.h.
#include "model/block_lifetimes.h"

#include <algorithm>
#include <cmath>

namespace penna {

BlockLifetimes::BlockLifetimes(const Recording& recording, bool by_thread) : by_thread_(by_thread) {
  constexpr int64_t kShortest = 100, kLongest = 1'000'000'000'000'000;  // ns; eleven days
  decades_.push_back({});
  for (int64_t ns = kShortest; ns <= kLongest; ns *= 10) {
    decades_.push_back({ns, 0, 0});
    decade_ticks_.push_back(static_cast<uint64_t>(std::ceil(static_cast<double>(ns) / recording.time().ns_per_tick())));
  }
}

void BlockLifetimes::on_freed(const BlockEnd& end) {
  const uint64_t life = end.time - std::min(end.time, end.block.time);
  if (end.block.slot >= slots_.size()) slots_.resize(size_t{end.block.slot} + 1);
  OfSlot& slot = slots_[end.block.slot];
  slot.lives.add(life);
  slot.elsewhere += end.thread != end.block.thread;
  Decade& decade = decades_[std::upper_bound(decade_ticks_.begin(), decade_ticks_.end(), life) - decade_ticks_.begin()];
  ++decade.blocks;
  decade.bytes += end.block.size;
  if (!by_thread_) return;
  auto [found, added] =
      numbers_.try_emplace(pair_key(end.block.slot, end.thread), static_cast<uint32_t>(freed_by_.size()));
  if (added) freed_by_.push_back({end.block.slot, end.thread, 0, 0, {}});
  FreedBy& pair = freed_by_[found->second];
  ++pair.blocks;
  pair.bytes += end.block.size;
  pair.lives.add(life);
}

}  // namespace penna
