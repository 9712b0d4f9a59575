// SPDX-License-Identifier: MIT
// Allocations: what was allocated where, what is still there (leaks), and what there was at the peak.
//
// Usage:  Allocations heap(recording); for_each_event(recording, {.classes = kAllocEvents}, heap); heap.finish();
// Events must come merged in time order: a block is often freed by another thread.
// Invariant: in each process, allocations - frees = live blocks, exactly, for the blocks that were seen.
// Memory: O(live blocks + stacks), and for processes that fork, the addresses they freed since.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/events.h"

namespace penna {

// Of one stack of one process. Live and peak are those of its process.
struct StackAllocations {
  uint32_t process = 0;
  uint32_t stack = 0;  // 0 = unknown
  uint64_t allocations = 0;
  uint64_t bytes = 0;  // asked for, over all allocations
  uint64_t live_blocks = 0, live_bytes = 0;  // at the end: the leaks
  uint64_t peak_blocks = 0, peak_bytes = 0;  // of it at the moment of the process's peak
  uint64_t temporary = 0;  // freed by the same thread with no other allocation of it in between
};

// The blocks of one stack that were never freed.
struct Leak {
  uint32_t process = 0;
  uint32_t stack = 0;
  uint64_t blocks = 0, bytes = 0;
  uint64_t smallest = 0, largest = 0;
  std::vector<uint64_t> sizes;  // examples: up to 4 different ones, ascending
  uint64_t example = 0;         // address of the first block
  uint64_t first_time = 0, last_time = 0;  // ticks, of allocation
};

struct HeapTotals {
  uint64_t allocations = 0, bytes = 0, frees = 0;
  std::array<uint64_t, PENNA_FAMILY_COUNT + 1> allocations_by_family{};  // the last: of families not known here
  std::array<uint64_t, PENNA_FAMILY_COUNT + 1> frees_by_family{};
  uint64_t temporary = 0;
  uint64_t live_blocks = 0, live_bytes = 0;
  uint64_t peak_blocks = 0, peak_bytes = 0, peak_time = 0;  // the most live bytes at one moment; the first such moment
  uint64_t inherited_frees = 0;  // of blocks that were there when the process was forked
  uint64_t unmatched_frees = 0;  // of blocks whose allocation was not recorded
  uint64_t replaced = 0;         // allocations at a live address: the free in between was not recorded
  uint64_t failed_reallocs = 0;  // the block stayed
  uint64_t unknown_stacks = 0;   // allocations without a stack
};

class Allocations {
 public:
  explicit Allocations(const Recording& recording);  // must outlive it
  ~Allocations();

  void operator()(const Event& event);
  void finish();  // then the results are there

  std::span<const HeapTotals> processes() const { return totals_; }  // by process index
  // Sums over all processes; peak_* is that of the process with the largest peak.
  HeapTotals total() const;
  const std::vector<StackAllocations>& stacks() const { return stacks_; }  // in order of first appearance
  // Most bytes first. `process`: kNoIndex = of all. Blocks inherited by a fork are their parent's.
  std::vector<Leak> leaks(uint32_t process = kNoIndex) const;

 private:
  struct Block;
  struct Heap;
  struct LastOfThread;
  void allocated(const Event& event, uint64_t address_family, uint64_t size, uint32_t stack);
  void freed(const Event& event);
  void revived(const Event& event);
  uint32_t stack_slot(uint32_t process, uint32_t stack);
  void before_change(uint32_t slot);
  void remove(Heap& heap, HeapTotals& totals, const Block& block);
  void insert(Heap& heap, HeapTotals& totals, uint64_t address, const Block& block);

  const Recording& recording_;
  std::vector<HeapTotals> totals_;
  std::vector<std::unique_ptr<Heap>> heaps_;  // by process; null before its first event
  std::vector<LastOfThread> threads_;
  std::vector<StackAllocations> stacks_;
  std::vector<uint64_t> seen_peak_;  // by stack slot: the number of the peak that its peak_* belongs to
  tsl::robin_map<uint64_t, uint32_t> slots_;  // process << 32 | stack
};

}  // namespace penna
