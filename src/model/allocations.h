// SPDX-License-Identifier: MIT
// Allocations: what was allocated where, what is still there (leaks), and what there was at the peak.
//
// Usage:  Allocations heap(recording); for_each_event(recording, {.classes = kAllocEvents}, heap);
// Events must come merged in time order: a block is often freed by another thread. Results are there at any moment.
// Invariant: in each process, allocations - frees - replaced = live blocks, exactly, for the blocks that were seen.
// Memory: O(live blocks + stacks), and for processes that fork, the addresses they freed since.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/events.h"
#include "model/hash.h"
#include "model/heap.h"

namespace penna {

// Of one stack of one process. Live and peak are those of its process.
struct StackAllocations {
  uint32_t process = 0;
  uint32_t stack = 0;  // 0 = unknown
  uint64_t allocations = 0;
  uint64_t bytes = 0;                        // asked for, over all allocations
  uint64_t live_blocks = 0, live_bytes = 0;  // now; at the end: the leaks
  uint64_t peak_blocks = 0, peak_bytes = 0;  // of it at the moment of the process's peak
  uint64_t temporary = 0;  // freed by the same thread with no other allocation of it in between; not those that grew
};

// The blocks of one stack that were never freed.
struct Leak {
  uint32_t process = 0;
  uint32_t stack = 0;
  uint64_t blocks = 0, bytes = 0;
  std::vector<uint64_t> sizes;             // examples: up to kExampleSizes different ones, the largest first
  uint64_t example = 0;                    // address of the oldest block
  uint64_t first_time = 0, last_time = 0;  // ticks, of allocation
  static constexpr size_t kExampleSizes = 4;
};

struct HeapTotals {
  uint64_t allocations = 0, bytes = 0, frees = 0;  // frees: of blocks that were seen; failed reallocs taken back
  std::array<uint64_t, PENNA_FAMILY_COUNT + 1> allocations_by_family{};  // the last: of families not known here
  std::array<uint64_t, PENNA_FAMILY_COUNT + 1> frees_by_family{};        // of any block, seen or not
  uint64_t temporary = 0;
  uint64_t live_blocks = 0, live_bytes = 0;
  uint64_t peak_blocks = 0, peak_bytes = 0, peak_time = 0;  // the most live bytes at one moment; the first such moment
  uint64_t inherited_frees = 0;                             // of blocks that were there when the process was forked
  uint64_t unmatched_frees = 0;                             // of blocks whose allocation was not recorded
  uint64_t replaced = 0;         // allocations at a live address: the free in between was not recorded
  uint64_t failed_reallocs = 0;  // the block stayed
  uint64_t unknown_stacks = 0;   // allocations without a stack
};

class Allocations {
 public:
  explicit Allocations(const Recording& recording);
  ~Allocations();

  void operator()(const Event& event);

  std::span<const HeapTotals> processes() const { return totals_; }  // by process index
  // Sums over all processes; peak_* is that of the process with the largest peak.
  HeapTotals total() const;
  // In order of first appearance.
  std::vector<StackAllocations> stacks() const;
  // What is live, most bytes first. `process`: kNoIndex = of all. Blocks inherited by a fork are their parent's.
  std::vector<Leak> leaks(uint32_t process = kNoIndex) const;

 private:
  // What a thread did last, to know temporary blocks and to take back the free of a realloc that failed.
  enum class Freed : uint8_t { kNothing, kOwn, kInherited, kUnmatched };
  struct LastOfThread {
    uint64_t allocated = 0;  // address; 0 = none
    Freed freed = Freed::kNothing;
    uint64_t freed_address = 0;
    HeapBlock block;  // kOwn: what it was
  };
  void allocated(const Event& event, uint64_t address_family, uint64_t size, uint32_t stack);
  void freed(const Event& event);
  void take_back(const Event& event);
  uint32_t stack_slot(uint32_t process, uint32_t stack);
  void before_change(uint32_t slot);
  void add_live(const Event& event, uint64_t address, const HeapBlock& block);
  void remove_live(uint32_t process, const HeapBlock& block);

  HeapForest heaps_;
  std::vector<HeapTotals> totals_;  // by process
  std::vector<uint64_t> peaks_;     // by process: how many times its peak was exceeded
  std::vector<LastOfThread> threads_;
  std::vector<StackAllocations> stacks_;
  std::vector<uint64_t> seen_peak_;  // by slot of stacks_: up to which of peaks_ its peak_* is valid
  NumberMap<uint32_t> slots_;        // process, stack -> slot
};

}  // namespace penna
