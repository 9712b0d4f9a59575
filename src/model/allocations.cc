// SPDX-License-Identifier: MIT
// See allocations.h.
//
// The peak by stack, in O(1) an event: a process counts how often its peak was exceeded. A stack whose live bytes have not
// changed since the last time had, at that time, what it has now; so its share is settled just before its next change.
#include "model/allocations.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/allocation_choice.h"

namespace penna {
namespace {

size_t family_of(const BlockRecord& block) { return std::min<size_t>(block.family, PENNA_FAMILY_COUNT); }

// The order of a hash map is no order: whatever is kept of many blocks must not depend on it.
void add_leak(Leak& leak, uint64_t address, const HeapBlock& block, const SampleWeight& weight) {
  if (leak.blocks == 0 || block.time < leak.first_time || (block.time == leak.first_time && address < leak.example)) {
    leak.first_time = block.time;
    leak.example = address;
  }
  leak.last_time = std::max(leak.last_time, block.time);
  leak.blocks += weight.blocks;
  leak.bytes += weight.bytes;
  auto& sizes = leak.sizes;
  auto at = std::lower_bound(sizes.begin(), sizes.end(), block.size, std::greater<>());
  if (at != sizes.end() && *at == block.size) return;
  sizes.insert(at, block.size);
  if (sizes.size() > Leak::kExampleSizes) sizes.pop_back();
}

}  // namespace

Allocations::Allocations(const Recording& recording, AllocationOptions options)
    : options_(std::move(options)),
      scale_(recording),
      heaps_(recording),
      totals_(recording.processes().size()),
      peaks_(recording.processes().size()),
      threads_(recording.threads().size()) {}
Allocations::~Allocations() = default;

void Allocations::operator()(const Event& event) {
  const BlockRecord block = read_block(event.record);
  switch (block.deed) {
    case BlockDeed::kNone: return;
    case BlockDeed::kAllocated: return allocated(event, block);
    case BlockDeed::kFreed: return freed(event, block);
    case BlockDeed::kKept: return take_back(event, block.address);
  }
}

uint32_t Allocations::slot_of(const Event& event, uint32_t stack) {
  auto [number, is_new] = numbers_.try_emplace(pair_key(event.process, stack), static_cast<uint32_t>(numbers_.size()));
  uint32_t slot = number->second, context = 0;
  if (options_.context) {
    context = options_.context(event);
    auto [found, added] = slots_.try_emplace(pair_key(slot, context), static_cast<uint32_t>(stacks_.size()));
    slot = found->second;
    is_new = added;
  }
  if (is_new) {
    auto& one = stacks_.emplace_back();
    one.process = event.process;
    one.stack = stack;
    one.context = context;
    seen_peak_.push_back(peaks_[event.process]);
  }
  return slot;
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
  if (block.slot == kNoSlot) return;
  before_change(block.slot);
  StackAllocations& stack = stacks_[block.slot];
  const SampleWeight weight = scale_.weigh(block.size);
  stack.live_blocks += weight.blocks;
  stack.live_bytes += weight.bytes;
  stack.own_peak_bytes = std::max(stack.own_peak_bytes, stack.live_bytes);
  totals.live_blocks += weight.blocks;
  totals.live_bytes += weight.bytes;
  tell_live(event.process, event.time);
  if (totals.live_bytes <= totals.peak_bytes) return;
  totals.peak_bytes = totals.live_bytes;
  totals.peak_blocks = totals.live_blocks;
  totals.peak_time = event.time;
  ++peaks_[event.process];
}

void Allocations::remove_live(uint32_t process, const HeapBlock& block) {
  if (block.slot == kNoSlot) return;
  before_change(block.slot);
  StackAllocations& stack = stacks_[block.slot];
  HeapTotals& totals = totals_[process];
  const SampleWeight weight = scale_.weigh(block.size);
  stack.live_blocks -= weight.blocks;
  stack.live_bytes -= weight.bytes;
  totals.live_blocks -= weight.blocks;
  totals.live_bytes -= weight.bytes;
}

void Allocations::tell_live(uint32_t process, uint64_t time) {
  if (options_.observer != nullptr)
    options_.observer->on_live(process, time, totals_[process].live_bytes, totals_[process].live_blocks);
}

void Allocations::allocated(const Event& event, const BlockRecord& told) {
  settle(event.thread);
  LastOfThread& last = threads_[event.thread];
  last.freed = Freed::kNothing;
  HeapTotals& totals = totals_[event.process];
  HeapBlock block{told.size, event.time, kNoSlot, event.thread, last.allocations++};
  const SampleWeight weight = scale_.weigh(told.size);
  const bool counts = options_.choice == nullptr ||
                      options_.choice->takes(event.process, event.thread, block.sequence, told.stack, told.size);
  if (counts) block.slot = slot_of(event, told.stack);
  add_live(event, told.address, block);
  if (!counts) {
    totals.left_out += weight.blocks;
    return;
  }
  ++totals.samples;
  stacks_[block.slot].allocations += weight.blocks;
  stacks_[block.slot].bytes += weight.bytes;
  totals.allocations += weight.blocks;
  totals.bytes += weight.bytes;
  totals.allocations_by_family[family_of(told)] += weight.blocks;
  if (told.stack == 0) totals.unknown_stacks += weight.blocks;
  if (options_.observer != nullptr) options_.observer->on_allocated(event, block);
}

void Allocations::freed(const Event& event, const BlockRecord& free) {
  settle(event.thread);
  const uint64_t address = free.address;
  const size_t family = family_of(free);
  HeapTotals& totals = totals_[event.process];
  LastOfThread& last = threads_[event.thread];
  last.freed_address = address;
  if (heaps_.erase(event.process, address, event.time, last.block)) {
    last.freed = Freed::kOwn;
    last.freed_at = event.time;
    const SampleWeight weight = scale_.weigh(last.block.size);
    totals.frees_by_family[family] += weight.blocks;
    last.is_told = last.block.slot == kNoSlot;
    if (last.is_told) return;
    totals.frees += weight.blocks;
    remove_live(event.process, last.block);
    tell_live(event.process, event.time);
    // What realloc moves lives on: it is not temporary, and whether it moved is known at the thread's next event.
    if (family == PENNA_FAMILY_REALLOC) return;
    if (last.block.thread == event.thread && last.allocations - last.block.sequence <= options_.within) {
      StackAllocations& stack = stacks_[last.block.slot];
      totals.temporary += weight.blocks;
      totals.temporary_bytes += weight.bytes;
      stack.temporary += weight.blocks;
      stack.temporary_bytes += weight.bytes;
    }
    settle(event.thread);
  } else if (heaps_.erase_inherited(event.process, address, event.time)) {
    last.freed = Freed::kInherited;
    ++totals.frees_by_family[family];
    ++totals.inherited_frees;
  } else {
    last.freed = Freed::kUnmatched;
    ++totals.frees_by_family[family];
    ++totals.unmatched_frees;
  }
}

// The thread's last free has happened: nothing can take it back any more.
void Allocations::settle(uint32_t thread) {
  LastOfThread& last = threads_[thread];
  if (last.is_told) return;
  last.is_told = true;
  if (options_.observer != nullptr) options_.observer->on_freed({last.block, thread, last.freed_at});
}

void Allocations::finish() {
  for (uint32_t thread = 0; thread < threads_.size(); ++thread) settle(thread);
}

// The FREE of this thread just before, by realloc, did not happen. It can be missing (lost): then nothing was counted.
void Allocations::take_back(const Event& event, uint64_t address) {
  HeapTotals& totals = totals_[event.process];
  LastOfThread& last = threads_[event.thread];
  ++totals.failed_reallocs;
  if (last.freed == Freed::kNothing || last.freed_address != address) return settle(event.thread);
  uint64_t blocks = 1;
  if (last.freed == Freed::kOwn) {
    blocks = scale_.weigh(last.block.size).blocks;
    if (last.block.slot != kNoSlot) totals.frees -= blocks;
    last.is_told = true;
    add_live(event, address, last.block);
  } else if (last.freed == Freed::kInherited) {
    --totals.inherited_frees;
    heaps_.restore_inherited(event.process, address);
  } else {
    --totals.unmatched_frees;
  }
  totals.frees_by_family[PENNA_FAMILY_REALLOC] -= blocks;
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
    sum.temporary_bytes += one.temporary_bytes;
    sum.samples += one.samples;
    sum.left_out += one.left_out;
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
    for (const auto& [address, block] : heaps_.blocks(i))
      if (block.slot != kNoSlot) add_leak(by_slot[block.slot], address, block, scale_.weigh(block.size));
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
