// SPDX-License-Identifier: MIT
// See allocations.h.
//
// The peak by stack, in O(1) per event: count how often the peak was exceeded. A stack whose live bytes have not
// changed since the last time it was exceeded had then what it has now; so its share is settled just before its next
// change.
// What a process holds goes when the process ends. The end takes effect only when a later event happens elsewhere: at
// the end of the recording none does, so what was live last stays live.
#include "model/blocks/allocations.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "model/blocks/allocation_choice.h"
#include "model/blocks/unmatched_frees.h"
#include "model/events/summary.h"

namespace penna {
namespace {

size_t family_of(const BlockRecord& block) { return std::min<size_t>(block.family, PENNA_FAMILY_COUNT); }

// Hash map order is arbitrary: what is kept of many blocks must not depend on it.
void add_leak(Leak& leak, uint32_t process, uint64_t address, const HeapBlock& block, const SampleWeight& weight) {
  if (leak.blocks == 0 ||
      std::tie(block.time, process, address) < std::tie(leak.first_time, leak.holder, leak.example)) {
    leak.first_time = block.time;
    leak.holder = process;
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
    : recording_(recording),
      options_(std::move(options)),
      family_(options_.choice == nullptr ? options_.family : options_.choice->limits().family),
      is_sampled_(family_.is_heap() && SampleScale(recording).is_sampled()),  // everything else is recorded in full
      scale_(is_sampled_ && !options_.as_recorded ? SampleScale(recording) : SampleScale(0)),
      heaps_(recording),
      totals_(recording.processes().size()),
      levels_(options_.peak == PeakOf::kRecording ? 1 : recording.processes().size()),
      ended_(recording.processes().size()),
      threads_(recording.threads().size()),
      ranges_(family_.space() == BlockSpace::kMaps ? recording.processes().size() : 0) {
  PENNA_CHECK(options_.peak == PeakOf::kRecording || options_.same == nullptr || !options_.same->joins_processes());
  if (totals_.size() < 2) return;
  for (const ProcessSummary& process : summarize(recording).processes)
    if (process.ended && process.how != EndKind::kStopped) ends_.emplace_back(process.last_time, process.process);
  std::sort(ends_.begin(), ends_.end(), std::greater<>());
  if (!ends_.empty()) next_end_ = ends_.back().first;
}
Allocations::~Allocations() = default;

void Allocations::operator()(const Event& event) {
  if (event.time > next_end_) end_processes(event.time);
  BlockRecord block = read_block(event.record);
  if (block.action == BlockAction::kNone) return;
  if (family_.has(event.process, block)) return visit(event, block);
  if (block.action != BlockAction::kAllocated) return;
  others_.heap_allocations += block.space == BlockSpace::kHeap;
  others_.mappings += block.space == BlockSpace::kMaps;
  others_.pool_allocations += block.space == BlockSpace::kPool;
}

// Block records begin with the block's address; of other records, what is fetched is of no use and does no harm.
void Allocations::foresee(const Event& event) const {
  const Record& record = event.record;
  if (class_bit(record.kind) == kAllocEvents && record.payload_bytes >= sizeof(uint64_t))
    heaps_.foresee(event.process, load_word(record.payload) & PENNA_ADDRESS_MASK);
}

void Allocations::end_processes(uint64_t time) {
  for (; !ends_.empty() && ends_.back().first < time; ends_.pop_back()) {
    const auto [end, process] = ends_.back();
    if (totals_[process].live_blocks == 0) continue;
    set_ended(process, true);
    if (options_.observer != nullptr) options_.observer->on_live(process, end, 0, 0);
  }
  next_end_ = ends_.empty() ? UINT64_MAX : ends_.back().first;
}

// What the process holds goes, or comes back.
void Allocations::set_ended(uint32_t process, bool ended) {
  ended_[process] = ended;
  const uint64_t sign = ended ? 1 : UINT64_MAX;  // modulo 2^64
  heaps_.blocks(process).for_each([&](uint64_t, const HeapBlock& block) {
    if (block.slot == kNoSlot) return;
    before_change(block.slot);
    const SampleWeight weight = scale_.weigh(block.size);
    present_[block.slot].gone_blocks += sign * weight.blocks;
    present_[block.slot].gone_bytes += sign * weight.bytes;
  });
  Level& level = level_of(process);
  level.blocks -= sign * totals_[process].live_blocks;
  level.bytes -= sign * totals_[process].live_bytes;
}

void Allocations::visit(const Event& event, BlockRecord& block) {
  if (ended_[event.process]) set_ended(event.process, false);  // it has not ended: the recording contradicts itself
  const bool maps = block.space == BlockSpace::kMaps;
  switch (block.action) {
    case BlockAction::kNone: return;
    case BlockAction::kAllocated: return maps ? mapped(event, block) : allocated(event, block);
    case BlockAction::kFreed: return maps ? unmapped(event, block) : freed(event, block);
    case BlockAction::kKept: return undo_free(event, block.address);
  }
}

StackOfProcess Allocations::first_like(uint32_t process, uint32_t stack) const {
  return options_.same == nullptr ? StackOfProcess{process, stack} : options_.same->first_like(process, stack);
}

uint32_t Allocations::slot_of(const Event& event, const BlockRecord& record) {
  const auto [known, is_unknown] = numbers_.try_emplace(pair_key(event.process, record.stack), next_number_);
  uint32_t slot = known->second, context = 0;
  const StackOfProcess own{event.process, record.stack};
  StackOfProcess stack = own;
  bool is_new = is_unknown;
  if (is_new) stack = first_like(event.process, record.stack);
  if (stack != own) {
    const auto [first, added] = numbers_.try_emplace(pair_key(stack.process, stack.stack), next_number_);
    slot = first->second;
    is_new = added;
    numbers_.insert_or_assign(pair_key(event.process, record.stack), slot);
  }
  next_number_ += is_new;
  if (options_.context || options_.by_kind) {
    context = options_.by_kind ? block_kind(record) : options_.context(event);
    auto [found, added] = slots_.try_emplace(pair_key(slot, context), static_cast<uint32_t>(stacks_.size()));
    slot = found->second;
    is_new = added;
  }
  if (is_new) {
    auto& one = stacks_.emplace_back();
    one.process = stack.process;
    one.stack = stack.stack;
    one.context = context;
    one.processes = 0;
    present_.push_back({0, 0, level_of(event.process).exceeded});
  }
  if (is_unknown || is_new) stacks_[slot].processes += holders_.try_emplace(pair_key(slot, event.process)).second;
  return slot;
}

// What the stack has now it had at the last peak, if the peak came after its last change.
inline void Allocations::settle_peak(uint32_t slot, StackAllocations& stack) const {
  const Present& present = present_[slot];
  if (present.seen_peak == level_of(stack.process).exceeded) return;
  stack.peak_blocks = stack.live_blocks - present.gone_blocks;
  stack.peak_bytes = stack.live_bytes - present.gone_bytes;
}

void Allocations::before_change(uint32_t slot) {
  settle_peak(slot, stacks_[slot]);
  present_[slot].seen_peak = level_of(stacks_[slot].process).exceeded;
}

inline void Allocations::change_live(uint32_t process, uint32_t slot, uint64_t blocks, uint64_t bytes) {
  before_change(slot);
  StackAllocations& stack = stacks_[slot];
  stack.live_blocks += blocks;
  stack.live_bytes += bytes;
  HeapTotals& totals = totals_[process];
  totals.live_blocks += blocks;
  totals.live_bytes += bytes;
  Level& level = level_of(process);
  level.blocks += blocks;
  level.bytes += bytes;
}

void Allocations::add_live(const Event& event, uint64_t address, const HeapBlock& block) {
  HeapBlock old;
  if (!heaps_.insert(event.process, address, block, old)) {
    ++totals_[event.process].replaced;
    remove_live(event.process, old);
  }
  if (block.slot != kNoSlot) count_live(event, block);
}

void Allocations::count_live(const Event& event, const HeapBlock& block) {
  const SampleWeight weight = scale_.weigh(block.size);
  change_live(event.process, block.slot, weight.blocks, weight.bytes);
  StackAllocations& stack = stacks_[block.slot];
  stack.own_peak_bytes = std::max(stack.own_peak_bytes, stack.live_bytes - present_[block.slot].gone_bytes);
  report_live(event.process, event.time);
  HeapTotals& totals = totals_[event.process];
  if (totals.live_bytes > totals.peak_bytes) {
    totals.peak_bytes = totals.live_bytes;
    totals.peak_blocks = totals.live_blocks;
    totals.peak_time = event.time;
  }
  Level& level = level_of(event.process);
  if (level.bytes <= level.peak_bytes) return;
  level.peak_bytes = level.bytes;
  level.peak_blocks = level.blocks;
  level.peak_time = event.time;
  ++level.exceeded;
}

void Allocations::remove_live(uint32_t process, const HeapBlock& block) {
  if (block.slot == kNoSlot) return;
  const SampleWeight weight = scale_.weigh(block.size);
  change_live(process, block.slot, -weight.blocks, -weight.bytes);  // modulo 2^64
}

void Allocations::report_live(uint32_t process, uint64_t time) {
  if (options_.observer != nullptr)
    options_.observer->on_live(process, time, totals_[process].live_bytes, totals_[process].live_blocks);
}

void Allocations::allocated(const Event& event, const BlockRecord& record) {
  settle(event.thread);
  LastOfThread& last = threads_[event.thread];
  last.freed = Freed::kNothing;
  HeapTotals& totals = totals_[event.process];
  HeapBlock block{record.size, event.time, kNoSlot, event.thread, last.allocations++};
  const SampleWeight weight = scale_.weigh(record.size);
  const bool counts =
      takes_thread(recording_, event.thread) &&
      (options_.choice == nullptr || options_.choice->takes(event.process, event.thread, block.sequence, record));
  if (counts) block.slot = slot_of(event, record);
  if (options_.unmatched != nullptr) options_.unmatched->allocated(event.process, record.address);
  add_live(event, record.address, block);
  if (!counts) {
    totals.left_out += weight.blocks;
    return;
  }
  ++totals.samples;
  stacks_[block.slot].allocations += weight.blocks;
  stacks_[block.slot].bytes += weight.bytes;
  totals.allocations += weight.blocks;
  totals.bytes += weight.bytes;
  totals.allocations_by_family[family_of(record)] += weight.blocks;
  if (record.stack == 0) totals.unknown_stacks += weight.blocks;
  if (options_.observer != nullptr) options_.observer->on_allocated(event, block);
}

void Allocations::freed(const Event& event, const BlockRecord& free) {
  settle(event.thread);
  HeapTotals& totals = totals_[event.process];
  LastOfThread& last = threads_[event.thread];
  last.freed = Freed::kNothing;
  if (event.undone) return;
  last.freed_address = free.address;
  last.freed_from = free.stack;
  last.temporary = false;
  if (!heaps_.erase(event.process, free.address, event.time, last.block)) return freed_unknown(event, free);
  if (options_.unmatched != nullptr) options_.unmatched->freed(event.process, free.address, free.stack);
  last.freed = Freed::kOwn;
  last.freed_at = event.time;
  const SampleWeight weight = scale_.weigh(last.block.size);
  totals.frees_by_family[family_of(free)] += weight.blocks;
  last.is_reported = last.block.slot == kNoSlot;
  if (last.is_reported) return;
  totals.frees += weight.blocks;
  remove_live(event.process, last.block);
  report_live(event.process, event.time);
  // A block that realloc moves lives on: it is not temporary. Whether realloc moved it is known at the thread's next
  // event.
  if (free.space == BlockSpace::kHeap && free.family == PENNA_FAMILY_REALLOC) return;
  note_temporary(last, event.thread, true);
  settle(event.thread);
}

// Free of a block that is not this process's own.
void Allocations::freed_unknown(const Event& event, const BlockRecord& free) {
  HeapTotals& totals = totals_[event.process];
  const bool is_inherited = heaps_.erase_inherited(event.process, free.address, event.time);
  if (takes_thread(recording_, event.thread)) {
    ++totals.frees_by_family[family_of(free)];
    threads_[event.thread].freed = is_inherited ? Freed::kInherited : Freed::kUnmatched;
    ++(is_inherited ? totals.inherited_frees : totals.unmatched_frees);
    if (options_.unmatched != nullptr && !is_inherited) options_.unmatched->unmatched(event, free);
  }
  if (options_.unmatched != nullptr && free.space != BlockSpace::kMaps)
    options_.unmatched->freed(event.process, free.address, free.stack);
}

// The thread's last free, of a block that counts, ended a temporary block if the thread itself had allocated it
// recently enough; or, as is known now, it did not.
void Allocations::note_temporary(LastOfThread& last, uint32_t thread, bool is_temporary) {
  if (!knows_temporary()) return;
  if (is_temporary &&
      (last.block.thread != thread || last.allocations - last.block.sequence > options_.within || last.temporary))
    return;
  if (is_temporary == last.temporary) return;
  last.temporary = is_temporary;
  const SampleWeight weight = scale_.weigh(last.block.size);
  StackAllocations& stack = stacks_[last.block.slot];
  HeapTotals& totals = totals_[recording_.threads()[thread].process];
  const uint64_t sign = is_temporary ? 1 : UINT64_MAX;  // modulo 2^64
  totals.temporary += sign * weight.blocks;
  totals.temporary_bytes += sign * weight.bytes;
  stack.temporary += sign * weight.blocks;
  stack.temporary_bytes += sign * weight.bytes;
}

// mremap maps what it has just unmapped: same kind, and not temporary.
void Allocations::mapped(const Event& event, BlockRecord& record) {
  if (record.size == 0) return;
  LastOfThread& last = threads_[event.thread];
  if (record.family == PENNA_MAP_MREMAP) {
    record.flags = last.freed == Freed::kOwn ? last.flags : kMapOfUnknown;
    if (last.freed == Freed::kOwn && last.temporary) note_temporary(last, event.thread, false);
  }
  const uint64_t end = MappedRanges::end_of(record.address, record.size);
  record.size = end - record.address;
  MappedRanges& ranges = ranges_[event.process];
  ranges.take(record.address, end, [&](const MappedPart& part) { take_part(event, part, false); });
  ranges.add(record.address, end, record.flags);
  allocated(event, record);
}

void Allocations::unmapped(const Event& event, const BlockRecord& record) {
  LastOfThread& last = threads_[event.thread];
  last.freed = Freed::kNothing;
  ranges_[event.process].take(record.address, MappedRanges::end_of(record.address, record.size),
                              [&](const MappedPart& part) {
                                take_part(event, part, true);
                                last.freed = Freed::kOwn;
                                last.flags = part.flags;
                              });
  if (last.freed == Freed::kNothing) freed_unknown(event, record);
}

// Part of a mapping has gone: unmapped, or replaced by another mapping.
void Allocations::take_part(const Event& event, const MappedPart& part, bool by_unmap) {
  HeapTotals& totals = totals_[event.process];
  HeapBlock whole, unused;
  PENNA_CHECK(heaps_.erase(event.process, part.first, event.time, whole));
  HeapBlock gone = whole;
  gone.size = part.taken_end - part.taken;
  const bool head = part.first < part.taken, tail = part.taken_end < part.end;
  for (const auto& [left, begin, end] :
       {std::tuple{head, part.first, part.taken}, std::tuple{tail, part.taken_end, part.end}}) {
    if (!left) continue;
    HeapBlock piece = whole;
    piece.size = end - begin;
    heaps_.insert(event.process, begin, piece, unused);
  }
  if (whole.slot == kNoSlot) return;
  const uint64_t blocks = uint64_t{head} + uint64_t{tail} - 1;  // net change of the block count, modulo 2^64
  change_live(event.process, whole.slot, blocks, -gone.size);
  totals.splits += head && tail;
  totals.frees += part.is_whole();
  report_live(event.process, event.time);
  LastOfThread& last = threads_[event.thread];
  last.block = gone;
  last.temporary = false;
  if (part.is_whole() && !part.was_cut && by_unmap) note_temporary(last, event.thread, true);
  if (options_.observer != nullptr) options_.observer->on_freed({gone, event.thread, {}, event.time, part.is_whole()});
}

// The thread's last free is final: nothing can take it back now.
void Allocations::settle(uint32_t thread) {
  LastOfThread& last = threads_[thread];
  if (last.is_reported) return;
  last.is_reported = true;
  if (options_.observer == nullptr) return;
  StackOfProcess from;
  if (last.freed_from != 0) from = first_like(recording_.threads()[thread].process, last.freed_from);
  options_.observer->on_freed({last.block, thread, from, last.freed_at, true});
}

void Allocations::finish() {
  for (uint32_t thread = 0; thread < threads_.size(); ++thread) settle(thread);
}

// This thread's FREE just before, by realloc, did not happen. Nearly always this was known then (Event::undone), or the
// FREE is missing (lost): in both cases nothing was counted.
void Allocations::undo_free(const Event& event, uint64_t address) {
  HeapTotals& totals = totals_[event.process];
  LastOfThread& last = threads_[event.thread];
  ++totals.failed_reallocs;
  if (last.freed == Freed::kNothing || last.freed_address != address) return settle(event.thread);
  if (options_.unmatched != nullptr) options_.unmatched->undone(event, address, last.freed == Freed::kUnmatched);
  uint64_t blocks = 1;
  if (last.freed == Freed::kOwn) {
    blocks = scale_.weigh(last.block.size).blocks;
    if (last.block.slot != kNoSlot) totals.frees -= blocks;
    last.is_reported = true;
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
    sum.splits += one.splits;
    sum.replaced += one.replaced;
    sum.failed_reallocs += one.failed_reallocs;
    sum.unknown_stacks += one.unknown_stacks;
  }
  for (const Level& level : levels_) {
    if (level.peak_bytes <= sum.peak_bytes) continue;
    sum.peak_bytes = level.peak_bytes;
    sum.peak_blocks = level.peak_blocks;
    sum.peak_time = level.peak_time;
  }
  return sum;
}

std::vector<StackAllocations> Allocations::stacks() const {
  std::vector<StackAllocations> result = stacks_;
  for (uint32_t slot = 0; slot < result.size(); ++slot) settle_peak(slot, result[slot]);
  return result;
}

std::vector<Leak> Allocations::leaks(uint32_t process) const {
  std::vector<Leak> by_slot(stacks_.size());
  std::vector<uint32_t> last(stacks_.size(), kNoIndex);  // by slot: the last process with such a block
  for (uint32_t i = 0; i < totals_.size(); ++i) {
    if (process != kNoIndex && process != i) continue;
    heaps_.blocks(i).for_each([&](uint64_t address, const HeapBlock& block) {
      if (block.slot == kNoSlot) return;
      by_slot[block.slot].processes += std::exchange(last[block.slot], i) != i;
      add_leak(by_slot[block.slot], i, address, block, scale_.weigh(block.size));
    });
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
