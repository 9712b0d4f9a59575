// SPDX-License-Identifier: MIT
// See heap.h.
#include "model/blocks/heap.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "model/events/summary.h"

namespace penna {
namespace {

uint64_t less(uint64_t a, uint64_t b) { return a < b ? 0 : a - b; }

}  // namespace

struct HeapForest::Heap {
  // The lifetimes of freed blocks: from the first allocation to the last free at this address.
  struct FreedBlock {
    uint64_t allocated, freed;
  };
  Blocks blocks;
  const Heap* parent = nullptr;                     // whose heap it started with; null = empty or unknown
  uint64_t began = 0;                               // ticks
  uint64_t first_fork = UINT64_MAX, last_fork = 0;  // of its children, in ticks; the first less the slack
  NumberMap<FreedBlock> freed_blocks;               // only while children may need it
  NumberMap<uint64_t> inherited_freed;              // address -> when
};

HeapForest::HeapForest(const Recording& recording) : fork_slack_(fork_slack(recording)) {
  const auto processes = recording.processes();
  const auto parents = process_parents(recording);
  for (uint32_t i = 0; i < processes.size(); ++i) {
    Heap& heap = *heaps_.emplace_back(std::make_unique<Heap>());
    heap.began = processes[i].process.start_ticks;
    if (processes[i].process.after_exec || parents[i] == UINT32_MAX) continue;
    Heap& parent = *heaps_[parents[i]];
    heap.parent = &parent;
    parent.first_fork = std::min(parent.first_fork, less(heap.began, fork_slack_));
    parent.last_fork = std::max(parent.last_fork, heap.began);
  }
}

HeapForest::~HeapForest() = default;

const HeapForest::Blocks& HeapForest::blocks(uint32_t process) const { return heaps_[process]->blocks; }

void HeapForest::foresee(uint32_t process, uint64_t address) const { heaps_[process]->blocks.prefetch(address); }

bool HeapForest::insert(uint32_t process, uint64_t address, const HeapBlock& block, HeapBlock& old) {
  auto [found, added] = heaps_[process]->blocks.try_emplace(address, block);
  if (added) return true;
  old = std::exchange(*found, block);
  return false;
}

bool HeapForest::erase(uint32_t process, uint64_t address, uint64_t time, HeapBlock& old) {
  Heap& heap = *heaps_[process];
  const HeapBlock* found = heap.blocks.find(address);
  if (found == nullptr) return false;
  old = *found;
  heap.blocks.erase(found);
  // Children look for blocks that were allocated before the fork and freed after it.
  if (time >= heap.first_fork && old.time <= heap.last_fork) {
    auto [grave, added] = heap.freed_blocks.try_emplace(address, Heap::FreedBlock{old.time, time});
    if (!added) grave.value() = {std::min(grave->second.allocated, old.time), std::max(grave->second.freed, time)};
  }
  return true;
}

bool HeapForest::erase_inherited(uint32_t process, uint64_t address, uint64_t time) {
  Heap& heap = *heaps_[process];
  if (heap.parent == nullptr || heap.inherited_freed.contains(address)) return false;
  if (!was_live(*heap.parent, address, heap.began)) return false;
  heap.inherited_freed.emplace(address, time);
  return true;
}

void HeapForest::restore_inherited(uint32_t process, uint64_t address) {
  heaps_[process]->inherited_freed.erase(address);
}

// Whether a block was live in `heap` at a time, its own or itself inherited. Terminates: parents are earlier processes.
bool HeapForest::was_live(const Heap& heap, uint64_t address, uint64_t time) const {
  const Heap* at = &heap;
  for (; at != nullptr; time = at->began, at = at->parent) {
    if (const HeapBlock* block = at->blocks.find(address); block != nullptr && block->time <= time) return true;
    if (auto grave = at->freed_blocks.find(address); grave != at->freed_blocks.end() &&
                                                     grave->second.allocated <= time &&
                                                     grave->second.freed >= less(time, fork_slack_))
      return true;
    if (auto freed = at->inherited_freed.find(address);
        freed != at->inherited_freed.end() && freed->second < less(time, fork_slack_))
      return false;
  }
  return false;
}

}  // namespace penna
