// SPDX-License-Identifier: MIT
// See heap_changes.h.
#include "export/heap_changes.h"

#include <algorithm>

namespace penna {

HeapChanges::HeapChanges(const Recording& recording, std::function<void()> step)
    : recording_(recording),
      step_(std::move(step)),
      allocations_(recording),
      last_realloc_(recording.threads().size()) {
  walk_ = for_each_event(recording, {.classes = kAllocEvents}, [&](const Event& event) {
    step_();
    allocations_(event);
    note_failed(event);
  });
}

// A REALLOC_FAILED takes back the free by realloc that its thread has written just before.
void HeapChanges::note_failed(const Event& event) {
  LastRealloc& last = last_realloc_[event.thread];
  if (event.record.kind == PENNA_KIND_FREE || event.record.kind == PENNA_KIND_FREE_STACK) {
    const uint64_t word = event.record.as<penna_free>().address_family;
    if (word >> 56 == PENNA_FAMILY_REALLOC) last = {event.time, word & PENNA_ADDRESS_MASK};
  } else if (event.record.kind == PENNA_KIND_REALLOC_FAILED) {
    const uint64_t address = event.record.as<penna_free>().address_family & PENNA_ADDRESS_MASK;
    if (last.address == address) failed_[event.thread].push_back(last.time);
    last = {};
  } else {
    last = {};
  }
}

bool HeapChanges::will_fail(const Event& free) const {
  if (free.record.as<penna_free>().address_family >> 56 != PENNA_FAMILY_REALLOC) return false;
  const auto found = failed_.find(free.thread);
  return found != failed_.end() && std::binary_search(found->second.begin(), found->second.end(), free.time);
}

bool HeapChanges::take(Pass& pass, uint64_t address, HeapChange& change) {
  const auto found = pass.live.find(address);
  if (found == pass.live.end()) return false;
  change.size = found->second.size;
  change.begin = found->second.begin;
  change.stack = found->second.stack;
  pass.live.erase(found);
  return true;
}

HeapSums HeapChanges::sums(uint32_t process) {
  HeapSums sums;
  uint64_t live = 0;
  for_each(process, [&](const HeapChange& change) {
    sums.moved += change.size;
    live += change.is_free ? 0 - change.size : change.size;
    sums.peak = std::max(sums.peak, live);
    return true;
  });
  return sums;
}

size_t HeapChanges::busy_processes() const {
  const auto all = allocations_.processes();
  return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](auto& one) { return one.allocations != 0; }));
}

std::optional<uint32_t> HeapChanges::choose(std::optional<uint32_t> pid) const {
  std::optional<uint32_t> best;
  const auto all = allocations_.processes();
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].allocations == 0 || (pid && recording_.processes()[i].process.pid != *pid)) continue;
    if (!best || all[i].bytes > all[*best].bytes) best = i;
  }
  return best;
}

}  // namespace penna
