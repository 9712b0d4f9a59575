// SPDX-License-Identifier: MIT
// See heap_changes.h.
#include "export/heap/heap_changes.h"

#include <algorithm>

namespace penna {

// The first pass: totals for all processes, and which reallocs will fail, as their frees must not be reported in the
// second.
HeapChanges::HeapChanges(const Recording& recording, std::function<void()> step)
    : recording_(recording),
      step_(std::move(step)),
      allocations_(recording),
      last_realloc_(recording.threads().size()) {
  walk_ = for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) {
    step_();
    allocations_(event);
    note_failed(event);
  });
}

// The record of a failed realloc takes back the free by realloc that its thread wrote just before. The times of such
// frees are kept per thread, in rising order.
void HeapChanges::note_failed(const Event& event) {
  LastRealloc& last = last_realloc_[event.thread];
  const BlockRecord block = read_heap_block(event.record);
  if (block.action == BlockAction::kKept && last.address == block.address) failed_[event.thread].push_back(last.time);
  if (block.action != BlockAction::kFreed)
    last = {};
  else if (block.family == PENNA_FAMILY_REALLOC)
    last = {event.time, block.address};
}

bool HeapChanges::will_fail(const Event& event, const BlockRecord& free) const {
  if (free.family != PENNA_FAMILY_REALLOC) return false;
  const auto found = failed_.find(event.thread);
  return found != failed_.end() && std::binary_search(found->second.begin(), found->second.end(), event.time);
}

// Removes the block at an address from the live ones. False: there is none, and its free is not reported.
bool HeapChanges::take(Pass& pass, uint64_t address, HeapChange& change) {
  const auto found = pass.live.find(address);
  if (found == pass.live.end()) return false;
  change.size = found->second.size;
  change.begin = found->second.begin;
  change.stack = found->second.stack;
  change.counts = found->second.counts;
  pass.live.erase(found);
  return true;
}

HeapSums HeapChanges::sums(uint32_t process) {
  HeapSums sums;
  uint64_t live = 0;
  for_each(process, [&](const HeapChange& change) {
    sums.moved += change.size;
    // Unsigned: subtracts by wrapping around.
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

std::optional<uint32_t> HeapChanges::choose(const std::vector<bool>& among) const {
  std::optional<uint32_t> best;
  const auto all = allocations_.processes();
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].allocations == 0 || (!among.empty() && !among[i])) continue;
    if (!best || all[i].bytes > all[*best].bytes) best = i;
  }
  return best;
}

}  // namespace penna
