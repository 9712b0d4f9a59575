// SPDX-License-Identifier: MIT
// See block_lifetimes.h.
#include "model/block_lifetimes.h"

#include <algorithm>
#include <cmath>

namespace penna {

BlockLifetimes::BlockLifetimes(const Recording& recording, bool by_freer) : by_freer_(by_freer) {
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
  if (end.whole) slot.lives.add(life);
  slot.elsewhere += end.whole && end.thread != end.block.thread;
  Decade& decade = decades_[std::upper_bound(decade_ticks_.begin(), decade_ticks_.end(), life) - decade_ticks_.begin()];
  decade.blocks += end.whole;
  decade.bytes += end.block.size;
  if (!by_freer_) return;
  const auto pair = pairs_.try_emplace(pair_key(end.block.slot, end.thread), static_cast<uint32_t>(pairs_.size()));
  auto [found, added] =
      numbers_.try_emplace(pair_key(pair.first->second, end.stack), static_cast<uint32_t>(freed_by_.size()));
  if (added) freed_by_.push_back({end.block.slot, end.thread, end.stack, 0, 0, {}});
  FreedBy& freer = freed_by_[found->second];
  freer.blocks += end.whole;
  freer.bytes += end.block.size;
  if (end.whole) freer.lives.add(life);
}

}  // namespace penna
