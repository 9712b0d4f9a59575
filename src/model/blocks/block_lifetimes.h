// SPDX-License-Identifier: MIT
// BlockLifetimes: how long the blocks of each slot of Allocations lived, and which threads freed them.
//
// Usage: as AllocationOptions::observer; complete after Allocations::finish().
// Invariant: `lives` holds each certain free once; blocks never freed are not in it.
// Memory: one distribution per slot with a freed block, and one per triple of slot, freeing thread and stack of the
// free.
#pragma once

#include <vector>

#include "model/blocks/allocations.h"
#include "model/events/distribution.h"

namespace penna {

struct FreedBy {
  uint32_t slot = 0;
  uint32_t thread = 0;                // index of the freeing thread; with several processes, the first
  StackOfProcess from{};              // where; stack 0: not recorded
  std::vector<uint32_t> processes{};  // processes these threads belong to
  uint64_t blocks = 0, bytes = 0;
  Distribution lives;  // ticks
};

class BlockLifetimes : public AllocationObserver {
 public:
  struct OfSlot {
    Distribution lives;      // ticks
    uint64_t elsewhere = 0;  // freed by a thread other than the allocating one
    void merge(const OfSlot& other) {
      lives.merge(other.lives);
      elsewhere += other.elsewhere;
    }
  };
  // Freed blocks that lived from `ns` (a power of ten, or 0) to below the next power of ten.
  struct Decade {
    int64_t ns = 0;
    uint64_t blocks = 0, bytes = 0;
  };

  // `by_freer`: freed_by() is wanted. `joins_processes`: freed_by() treats the same thread of several processes (same
  // name, and same number of threads before it in its process) as one.
  BlockLifetimes(const Recording& recording, bool by_freer, bool joins_processes = false);

  void on_freed(const BlockEnd& end) override;

  const OfSlot& of_slot(uint32_t slot) const { return slot < slots_.size() ? slots_[slot] : none_; }
  const std::vector<Decade>& decades() const { return decades_; }     // rising, including empty ones
  const std::vector<FreedBy>& freed_by() const { return freed_by_; }  // in order of first appearance

 private:
  bool by_freer_;
  std::vector<uint32_t> first_thread_;  // by thread: the first that is the same
  std::vector<uint32_t> process_;       // by thread
  OfSlot none_;
  std::vector<OfSlot> slots_;
  std::vector<Decade> decades_;
  std::vector<uint64_t> decade_ticks_;  // where each ends
  std::vector<FreedBy> freed_by_;
  NumberMap<uint32_t> pairs_;    // slot, thread -> a number
  NumberMap<uint32_t> froms_;    // process, stack of the free -> a number
  NumberMap<uint32_t> numbers_;  // those two -> index of freed_by_
  NumberMap<bool> holders_;      // index of freed_by_, process: those in FreedBy::processes
};

}  // namespace penna
