// SPDX-License-Identifier: MIT
// See block_lifetimes.h.
#include "model/blocks/block_lifetimes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace penna {

BlockLifetimes::BlockLifetimes(const Recording& recording, bool by_freer, bool joins_processes) : by_freer_(by_freer) {
  std::map<std::pair<uint32_t, std::string_view>, uint32_t> first;  // by serial and name
  for (uint32_t i = 0; by_freer && i < recording.threads().size(); ++i) {
    const RecordedThread& thread = recording.threads()[i];
    process_.push_back(thread.process);
    first_thread_.push_back(joins_processes ? first.try_emplace({thread.serial, thread.name}, i).first->second : i);
  }
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
  const StackOfProcess& from = end.from;
  const auto number = [](NumberMap<uint32_t>& numbers, uint32_t a, uint32_t b) {
    return numbers.try_emplace(pair_key(a, b), static_cast<uint32_t>(numbers.size())).first->second;
  };
  const uint32_t thread = first_thread_[end.thread];
  const uint32_t index =
      number(numbers_, number(pairs_, end.block.slot, thread), number(froms_, from.process, from.stack));
  if (index == freed_by_.size()) freed_by_.push_back({end.block.slot, thread, from, {}, 0, 0, {}});
  FreedBy& freer = freed_by_[index];
  const uint32_t process = process_[end.thread];
  if (holders_.try_emplace(pair_key(index, process)).second) freer.processes.push_back(process);
  freer.blocks += end.whole;
  freer.bytes += end.block.size;
  if (end.whole) freer.lives.add(life);
}

}  // namespace penna
