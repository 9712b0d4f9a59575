// SPDX-License-Identifier: MIT
// See allocations.h.
//
// The peak by stack, in O(1) an event: a process counts how often its peak was exceeded. A stack whose live bytes have not
// changed since the last time had, at that time, what it has now; so its share is settled just before its next change.
#include "model/allocations.h"

#include <algorithm>
#include <functional>

namespace penna {
namespace {

uint64_t address_of(uint64_t address_family) { return address_family & PENNA_ADDRESS_MASK; }
size_t family_of(uint64_t address_family) { return std::min<size_t>(address_family >> 56, PENNA_FAMILY_COUNT); }

// The order of a hash map is no order: whatever is kept of many blocks must not depend on it.
void add_leak(Leak& leak, uint64_t address, const HeapBlock& block) {
  if (leak.blocks == 0 || block.time < leak.first_time || (block.time == leak.first_time && address < leak.example)) {
    leak.first_time = block.time;
    leak.example = address;
  }
  leak.last_time = std::max(leak.last_time, block.time);
  ++leak.blocks;
  leak.bytes += block.size;
  auto& sizes = leak.sizes;
  auto at = std::lower_bound(sizes.begin(), sizes.end(), block.size, std::greater<>());
  if (at != sizes.end() && *at == block.size) return;
  sizes.insert(at, block.size);
  if (sizes.size() > Leak::kExampleSizes) sizes.pop_back();
}

}  // namespace

Allocations::Allocations(const Recording& recording)
    : heaps_(recording),
      totals_(recording.processes().size()),
      peaks_(recording.processes().size()),
      threads_(recording.threads().size()) {}
Allocations::~Allocations() = default;

void Allocations::operator()(const Event& event) {
  switch (event.record.kind) {
    case PENNA_KIND_ALLOC: {
      const auto payload = event.record.as<penna_alloc>();
      return allocated(event, payload.address_family, payload.size, payload.stack);
    }
    case PENNA_KIND_ALLOC_LARGE: {
      const auto payload = event.record.as<penna_alloc_large>();
      return allocated(event, payload.address_family, payload.size, payload.stack);
    }
    case PENNA_KIND_FREE_STACK:  // begins as a FREE does
    case PENNA_KIND_FREE: return freed(event);
    case PENNA_KIND_REALLOC_FAILED: return take_back(event);
    default: return;
  }
}

uint32_t Allocations::stack_slot(uint32_t process, uint32_t stack) {
  auto [found, added] = slots_.try_emplace(pair_key(process, stack), static_cast<uint32_t>(stacks_.size()));
  if (added) {
    auto& one = stacks_.emplace_back();
    one.process = process;
    one.stack = stack;
    seen_peak_.push_back(peaks_[process]);
  }
  return found->second;
}

void Allocations::before_change(uint32_t slot) {
  StackAllocations& stack = stacks_[slot];
  if (seen_peak_[slot] == peaks_[stack.process]) return;
  seen_peak_[slot] = peaks_[stack.process];
  stack.peak_blocks = stack.live_blocks;
  stack.peak_bytes = stack.live_bytes;
}

void Allocations::add_live(const Event& event, uint64_t address, const HeapBlock& block) {
  HeapTotals& totals = totals_[event.process];
  HeapBlock old;
  if (!heaps_.insert(event.process, address, block, old)) {
    ++totals.replaced;
    remove_live(event.process, old);
  }
  before_change(block.slot);
  StackAllocations& stack = stacks_[block.slot];
  ++stack.live_blocks;
  stack.live_bytes += block.size;
  ++totals.live_blocks;
  totals.live_bytes += block.size;
  if (totals.live_bytes <= totals.peak_bytes) return;
  totals.peak_bytes = totals.live_bytes;
  totals.peak_blocks = totals.live_blocks;
  totals.peak_time = event.time;
  ++peaks_[event.process];
}

void Allocations::remove_live(uint32_t process, const HeapBlock& block) {
  before_change(block.slot);
  StackAllocations& stack = stacks_[block.slot];
  HeapTotals& totals = totals_[process];
  --stack.live_blocks;
  stack.live_bytes -= block.size;
  --totals.live_blocks;
  totals.live_bytes -= block.size;
}

void Allocations::allocated(const Event& event, uint64_t address_family, uint64_t size, uint32_t stack) {
  const uint64_t address = address_of(address_family);
  const uint32_t slot = stack_slot(event.process, stack);
  add_live(event, address, {size, event.time, slot});
  ++stacks_[slot].allocations;
  stacks_[slot].bytes += size;
  HeapTotals& totals = totals_[event.process];
  ++totals.allocations;
  totals.bytes += size;
  ++totals.allocations_by_family[family_of(address_family)];
  totals.unknown_stacks += stack == 0;
  threads_[event.thread].allocated = address;
  threads_[event.thread].freed = Freed::kNothing;
}

void Allocations::freed(const Event& event) {
  const auto payload = event.record.as<penna_free>();
  const uint64_t address = address_of(payload.address_family);
  const size_t family = family_of(payload.address_family);
  HeapTotals& totals = totals_[event.process];
  LastOfThread& last = threads_[event.thread];
  ++totals.frees_by_family[family];
  last.freed_address = address;
  if (heaps_.erase(event.process, address, event.time, last.block)) {
    last.freed = Freed::kOwn;
    ++totals.frees;
    remove_live(event.process, last.block);
    // What realloc moves lives on: it is not temporary.
    if (last.allocated == address && family != PENNA_FAMILY_REALLOC) {
      ++totals.temporary;
      ++stacks_[last.block.slot].temporary;
    }
  } else if (heaps_.erase_inherited(event.process, address, event.time)) {
    last.freed = Freed::kInherited;
    ++totals.inherited_frees;
  } else {
    last.freed = Freed::kUnmatched;
    ++totals.unmatched_frees;
  }
}

// The FREE of this thread just before, by realloc, did not happen. It can be missing (lost): then nothing was counted.
void Allocations::take_back(const Event& event) {
  const uint64_t address = address_of(event.record.as<penna_free>().address_family);
  HeapTotals& totals = totals_[event.process];
  LastOfThread& last = threads_[event.thread];
  ++totals.failed_reallocs;
  if (last.freed == Freed::kNothing || last.freed_address != address) return;
  if (last.freed == Freed::kOwn) {
    --totals.frees;
    add_live(event, address, last.block);
  } else if (last.freed == Freed::kInherited) {
    --totals.inherited_frees;
    heaps_.restore_inherited(event.process, address);
  } else {
    --totals.unmatched_frees;
  }
  --totals.frees_by_family[PENNA_FAMILY_REALLOC];
  last.freed = Freed::kNothing;
}

HeapTotals Allocations::total() const {
  HeapTotals sum;
  for (const HeapTotals& one : totals_) {
    sum.allocations += one.allocations;
    sum.bytes += one.bytes;
    sum.frees += one.frees;
    for (size_t i = 0; i < sum.frees_by_family.size(); ++i) {
      sum.allocations_by_family[i] += one.allocations_by_family[i];
      sum.frees_by_family[i] += one.frees_by_family[i];
    }
    sum.temporary += one.temporary;
    sum.live_blocks += one.live_blocks;
    sum.live_bytes += one.live_bytes;
    sum.inherited_frees += one.inherited_frees;
    sum.unmatched_frees += one.unmatched_frees;
    sum.replaced += one.replaced;
    sum.failed_reallocs += one.failed_reallocs;
    sum.unknown_stacks += one.unknown_stacks;
    if (one.peak_bytes > sum.peak_bytes) {
      sum.peak_bytes = one.peak_bytes;
      sum.peak_blocks = one.peak_blocks;
      sum.peak_time = one.peak_time;
    }
  }
  return sum;
}

std::vector<StackAllocations> Allocations::stacks() const {
  std::vector<StackAllocations> result = stacks_;
  for (size_t slot = 0; slot < result.size(); ++slot) {
    StackAllocations& stack = result[slot];
    if (seen_peak_[slot] == peaks_[stack.process]) continue;
    stack.peak_blocks = stack.live_blocks;
    stack.peak_bytes = stack.live_bytes;
  }
  return result;
}

std::vector<Leak> Allocations::leaks(uint32_t process) const {
  std::vector<Leak> by_slot(stacks_.size());
  for (uint32_t i = 0; i < totals_.size(); ++i) {
    if (process != kNoIndex && process != i) continue;
    for (const auto& [address, block] : heaps_.blocks(i)) add_leak(by_slot[block.slot], address, block);
  }
  std::vector<Leak> result;
  for (size_t slot = 0; slot < by_slot.size(); ++slot) {
    Leak& leak = by_slot[slot];
    if (leak.blocks == 0) continue;
    leak.process = stacks_[slot].process;
    leak.stack = stacks_[slot].stack;
    result.push_back(std::move(leak));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](auto& a, auto& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.blocks > b.blocks; });
  return result;
}

}  // namespace penna
