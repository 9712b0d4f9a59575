// SPDX-License-Identifier: MIT
// Allocations: what was allocated where, what is still live (leaks), and what was live at the peak: in the heap, or in
// another family of blocks (block_family.h), such as mappings.
//
// Usage:  Allocations heap(recording); for_each_event(recording, {.classes = kAllocEvents}, heap); heap.finish();
// Events must come merged in time order: a block is often freed by another thread. Results can be read at any time; an
// observer has seen everything only after finish().
// Invariant: in each process, allocations + splits - frees - replaced = live blocks, exactly, for the blocks that were
// seen. A mapping that is unmapped in part is the same block, smaller, or two of them; it is freed when nothing is
// left.
// Memory: O(live blocks + stacks, each once per context), and for processes that fork, the addresses they have freed
// since.
// In a sampled recording (record --sample-bytes), each block counts as the blocks it stands for
// (model/events/sampling.h): counts and byte sums are estimates, sizes of single blocks are not.
// AllocationOptions::as_recorded turns this off.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "model/blocks/block_family.h"
#include "model/blocks/heap.h"
#include "model/events/events.h"
#include "model/events/mapped_ranges.h"
#include "model/events/sampling.h"
#include "model/names/same_stacks.h"

namespace penna {

// One stack in one context: of one process, or of all processes that have such a stack (AllocationOptions::same).
struct StackAllocations {
  uint32_t process = 0;    // the first that has it
  uint32_t stack = 0;      // of that process; 0 = unknown
  uint32_t context = 0;    // as returned by AllocationOptions::context; else 0
  uint32_t processes = 1;  // number of processes that allocated here
  uint64_t allocations = 0;
  uint64_t bytes = 0;  // requested, over all allocations
  // Now, or for an ended process when it ended; at the end of the recording: the leaks.
  uint64_t live_blocks = 0, live_bytes = 0;
  uint64_t peak_blocks = 0, peak_bytes = 0;  // live at the moment of the peak (PeakOf)
  uint64_t own_peak_bytes = 0;               // this stack's own maximum at any one time, over all processes
  // Freed by the thread that allocated them, before it made AllocationOptions::within more; without those that grew.
  uint64_t temporary = 0, temporary_bytes = 0;
};

// The blocks of one stack that were never freed.
struct Leak {
  uint32_t process = 0;  // these two as in StackAllocations
  uint32_t stack = 0;
  uint32_t holder = 0;     // the process that has the oldest of them
  uint32_t processes = 0;  // number of processes that have some
  uint64_t blocks = 0, bytes = 0;
  std::vector<uint64_t> sizes;             // examples: up to kExampleSizes different ones, largest first
  uint64_t example = 0;                    // address of the oldest block
  uint64_t first_time = 0, last_time = 0;  // of allocation, in ticks
  static constexpr size_t kExampleSizes = 4;
};

class AllocationChoice;
class UnmatchedFrees;

// The end of a block, or of a part of a mapping.
struct BlockEnd {
  HeapBlock block;        // its size: what ended
  uint32_t thread = 0;    // that freed it (index)
  StackOfProcess from{};  // where; both 0: not recorded
  uint64_t time = 0;      // ticks
  bool whole = true;      // nothing of it is left
};

// Observer. Blocks that the choice leaves out are not reported to it.
class AllocationObserver {
 public:
  virtual ~AllocationObserver() = default;
  virtual void on_allocated(const Event&, const HeapBlock&) {}
  virtual void on_freed(const BlockEnd&) {}  // when certain: a failed realloc frees nothing
  // What a process has now: after each change, and zero when it has ended and another process goes on.
  virtual void on_live(uint32_t, uint64_t /* time */, uint64_t /* bytes */, uint64_t /* blocks */) {}
};

// When the peak_* of stacks are taken. kRecording: at the moment, on the recording's one clock, when all processes
// together held the most; what a process held goes when it ends.
enum class PeakOf : uint8_t { kRecording, kEachProcess };

// What is counted, and how finely. Everything it points to must outlive the Allocations.
struct AllocationOptions {
  static constexpr uint32_t kMostWithin = 1 << 16;
  uint32_t within = 1;  // for temporary, 1 to kMostWithin
  // What distinguishes allocations besides their stack: a number, asked for at each. Empty: nothing.
  std::function<uint32_t(const Event&)> context;
  bool by_kind = false;              // use block_kind() instead of `context`
  bool as_recorded = false;          // sampled: each block counts as itself, not as the blocks it stands for
  PeakOf peak = PeakOf::kRecording;  // kEachProcess: `same` must not join processes
  // Stacks that read the same count as one, under the first of them; null: each stands alone.
  SameStacks* same = nullptr;
  BlockFamily family;  // used if there is no choice: a choice has its own
  // Which allocations count; null: all. (Of the family's other allocations only the blocks are tracked, to recognise
  // their frees.)
  AllocationChoice* choice = nullptr;
  AllocationObserver* observer = nullptr;
  UnmatchedFrees* unmatched = nullptr;  // for more about them than their number
};

struct HeapTotals {
  uint64_t allocations = 0, bytes = 0,
           frees = 0;  // that count. Frees: of blocks that were seen; failed reallocs are taken back
  std::array<uint64_t, PENNA_FAMILY_COUNT + 1> allocations_by_family{};  // last element: families unknown here
  std::array<uint64_t, PENNA_FAMILY_COUNT + 1> frees_by_family{};        // of any block, seen or not
  uint64_t temporary = 0, temporary_bytes = 0;
  uint64_t samples = 0;   // allocations that were recorded and count, regardless of what each stands for
  uint64_t left_out = 0;  // allocations that do not count
  uint64_t live_blocks = 0, live_bytes = 0;
  uint64_t peak_blocks = 0, peak_bytes = 0, peak_time = 0;  // the most live bytes at any moment; the first such moment
  uint64_t inherited_frees = 0;                             // of blocks inherited at the fork
  uint64_t unmatched_frees = 0;                             // of blocks whose allocation was not recorded
  uint64_t splits = 0;                                      // mappings that lost a part from their middle
  uint64_t replaced = 0;         // allocations at a live address: the free in between is missing
  uint64_t failed_reallocs = 0;  // the block stayed
  uint64_t unknown_stacks = 0;   // allocations without stack
};

// What the recording has of the families that were not asked for.
struct OtherFamilies {
  uint64_t heap_allocations = 0, mappings = 0, pool_allocations = 0;
};

class Allocations {
 public:
  explicit Allocations(const Recording& recording, AllocationOptions options = {});
  ~Allocations();

  void operator()(const Event& event);
  // The event will come soon: fetches what will be needed then.
  void foresee(const Event& event) const;
  void finish();  // no more events follow

  std::span<const HeapTotals> processes() const { return totals_; }  // by process index
  // Sums over all processes; peak_* is that of all together (PeakOf), or of the process with the largest peak.
  HeapTotals total() const;
  bool is_sampled() const { return is_sampled_; }
  bool is_estimated() const { return scale_.is_sampled(); }  // sums estimate the whole, not just what was recorded
  uint64_t sample_mean() const { return scale_.mean(); }     // bytes; 0: sums are no estimates
  // In a sampled recording a thread's next allocation is unknown: nothing counts as temporary.
  bool knows_temporary() const { return !is_sampled_; }
  // In order of first appearance: by slot, as HeapBlock::slot.
  std::vector<StackAllocations> stacks() const;
  size_t slot_count() const { return stacks_.size(); }
  uint32_t within() const { return options_.within; }
  const BlockFamily& family() const { return family_; }
  const OtherFamilies& others() const { return others_; }
  // Live blocks, most bytes first; one row per slot. `process`: kNoIndex = all. Blocks inherited by a fork are their
  // parent's.
  std::vector<Leak> leaks(uint32_t process = kNoIndex) const;
  // Each live block that counts: visit(process index, address, const HeapBlock&). In no order.
  template <typename Visit>
  void each_live(Visit&& visit) const {
    for (uint32_t process = 0; process < totals_.size(); ++process)
      heaps_.blocks(process).for_each([&](uint64_t address, const HeapBlock& block) {
        if (block.slot != kNoSlot) visit(process, address, block);
      });
  }

 private:
  static constexpr uint32_t kNoSlot = UINT32_MAX;  // for blocks that do not count
  // The thread's last free, kept to take it back when it belongs to a realloc that failed.
  enum class Freed : uint8_t { kNothing, kOwn, kInherited, kUnmatched };
  struct LastOfThread {
    uint64_t allocations = 0;  // made by the thread so far
    Freed freed = Freed::kNothing;
    bool temporary = false;   // kOwn: the block was temporary
    uint16_t flags = 0;       // kOwn: penna_map_flag, for mappings
    uint32_t freed_from = 0;  // its stack
    uint64_t freed_address = 0;
    HeapBlock block;          // kOwn: the freed block
    uint64_t freed_at = 0;    // ticks
    bool is_reported = true;  // kOwn: reported to the observer
  };
  void visit(const Event& event, BlockRecord& block);
  void mapped(const Event& event, BlockRecord& record);
  void unmapped(const Event& event, const BlockRecord& record);
  void take_part(const Event& event, const MappedPart& part, bool by_unmap);
  void note_temporary(LastOfThread& last, uint32_t thread, bool is_temporary);
  void allocated(const Event& event, const BlockRecord& record);
  void settle(uint32_t thread);
  void report_live(uint32_t process, uint64_t time);
  void freed(const Event& event, const BlockRecord& free);
  void freed_unknown(const Event& event, const BlockRecord& free);
  void undo_free(const Event& event, uint64_t address);
  uint32_t slot_of(const Event& event, const BlockRecord& record);
  StackOfProcess first_like(uint32_t process, uint32_t stack) const;
  void end_processes(uint64_t time);
  void set_ended(uint32_t process, bool ended);
  void settle_peak(uint32_t slot, StackAllocations& stack) const;
  void before_change(uint32_t slot);
  void change_live(uint32_t process, uint32_t slot, uint64_t blocks, uint64_t bytes);  // by these amounts, modulo 2^64
  void count_live(const Event& event, const HeapBlock& block);
  void add_live(const Event& event, uint64_t address, const HeapBlock& block);
  void remove_live(uint32_t process, const HeapBlock& block);

  const Recording& recording_;
  AllocationOptions options_;
  BlockFamily family_;
  OtherFamilies others_;
  bool is_sampled_;
  SampleScale scale_;
  HeapForest heaps_;
  std::vector<HeapTotals> totals_;  // by process
  // What is live at one time: in the recording or in each process, as PeakOf says.
  struct Level {
    uint64_t blocks = 0, bytes = 0;
    uint64_t peak_blocks = 0, peak_bytes = 0, peak_time = 0;
    uint64_t exceeded = 0;  // how often the peak was exceeded
  };
  Level& level_of(uint32_t process) { return levels_[options_.peak == PeakOf::kRecording ? 0 : process]; }
  const Level& level_of(uint32_t process) const { return levels_[options_.peak == PeakOf::kRecording ? 0 : process]; }
  // Per slot: what is live in processes that have ended, and up to which Level::exceeded its peak_* is valid.
  struct Present {
    uint64_t gone_blocks = 0, gone_bytes = 0, seen_peak = 0;
  };
  std::vector<Level> levels_;
  std::vector<std::pair<uint64_t, uint32_t>> ends_;  // of processes, and which; the next one last
  uint64_t next_end_ = UINT64_MAX;
  std::vector<bool> ended_;  // by process
  std::vector<LastOfThread> threads_;
  std::vector<MappedRanges> ranges_;  // by process, for mappings
  std::vector<StackAllocations> stacks_;
  std::vector<Present> present_;  // by slot of stacks_
  NumberMap<uint32_t> numbers_;   // process, stack -> a number; without contexts: its slot
  uint32_t next_number_ = 0;
  NumberMap<uint32_t> slots_;  // that number, context -> slot
  NumberMap<bool> holders_;    // slot, process: those in StackAllocations::processes
};

}  // namespace penna
