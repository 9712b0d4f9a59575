// SPDX-License-Identifier: MIT
// See mappings.h.
#include "model/mappings.h"

#include <algorithm>

namespace penna {
namespace {

// The end of a range; one that goes round the end of the address space ends there.
uint64_t end_of(uint64_t begin, uint64_t bytes) { return begin + std::min(bytes, UINT64_MAX - begin); }

}  // namespace

Mappings::Mappings(const Recording& recording)
    : live_(recording.processes().size()), totals_(recording.processes().size()) {}

void Mappings::operator()(const Event& event) {
  if (event.record.kind == PENNA_KIND_MAP) return mapped(event, event.record.as<penna_map>());
  if (event.record.kind != PENNA_KIND_UNMAP) return;
  const auto unmap = event.record.as<penna_unmap>();
  const uint64_t end = end_of(unmap.address, unmap.bytes), was_live = cut(event.process, unmap.address, end);
  MappingTotals& totals = totals_[event.process];
  ++totals.unmaps;
  totals.unmapped += was_live;
  totals.unknown += end - unmap.address - was_live;
}

void Mappings::mapped(const Event& event, const penna_map& map) {
  MappingTotals& totals = totals_[event.process];
  const uint64_t end = end_of(map.address, map.bytes), bytes = end - map.address;
  const uint32_t slot = slot_of(event.process, map.stack);
  totals.replaced += cut(event.process, map.address, end);
  ++totals.maps;
  ++stacks_[slot].maps;
  totals.bytes += bytes;
  stacks_[slot].bytes += bytes;
  if (bytes == 0) return;
  live_[event.process][map.address] = {end, event.time, slot, map.how, map.flags};
  stacks_[slot].live_bytes += bytes;
  totals.live_bytes += bytes;
  if (totals.live_bytes <= totals.peak_bytes) return;
  totals.peak_bytes = totals.live_bytes;
  totals.peak_time = event.time;
}

uint64_t Mappings::cut(uint32_t process, uint64_t begin, uint64_t end) {
  auto& live = live_[process];
  uint64_t taken = 0;
  auto at = live.upper_bound(begin);
  if (at != live.begin() && std::prev(at)->second.end > begin) --at;
  while (at != live.end() && at->first < end) {
    const uint64_t first = at->first;
    const LiveMapping whole = at->second;
    const uint64_t from = std::max(first, begin), to = std::min(whole.end, end);
    stacks_[whole.slot].live_bytes -= to - from;
    taken += to - from;
    if (first < from)
      at->second.end = from, ++at;
    else
      at = live.erase(at);
    if (to < whole.end) at = std::next(live.emplace(to, whole).first);
  }
  totals_[process].live_bytes -= taken;
  return taken;
}

uint32_t Mappings::slot_of(uint32_t process, uint32_t stack) {
  auto [found, added] = slots_.try_emplace(pair_key(process, stack), static_cast<uint32_t>(stacks_.size()));
  if (added) {
    StackMappings& one = stacks_.emplace_back();
    one.process = process;
    one.stack = stack;
  }
  return found->second;
}

}  // namespace penna
