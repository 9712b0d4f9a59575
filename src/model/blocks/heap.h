// SPDX-License-Identifier: MIT
// HeapForest: the live blocks of every process, and which blocks a forked process inherited.
//
// Why a forest: after fork the child frees blocks that its parent allocated. Copying the parent's blocks at each fork
// would cost memory for children that never free any; instead the parent is looked up when a child frees a block of
// unknown origin. A process with forked children therefore remembers what it freed since the first fork.
// Invariant: a block that was live in the parent at the fork is found, once. (An address that the parent used both
// before and after the fork also counts as inherited.)
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/number_table.h"
#include "recording/reader.h"

namespace penna {

struct HeapBlock {
  uint64_t size = 0;      // bytes requested
  uint64_t time = 0;      // ticks, of allocation
  uint32_t slot = 0;      // the user's: slot of its stack
  uint32_t thread = 0;    // that allocated it (index)
  uint64_t sequence = 0;  // among the allocations of that thread, from 0
};

class HeapForest {
 public:
  explicit HeapForest(const Recording& recording);
  ~HeapForest();

  using Blocks = NumberTable<HeapBlock>;  // by address

  // The process will soon allocate or free a block here.
  void foresee(uint32_t process, uint64_t address) const;
  // A process's live blocks that it allocated itself.
  const Blocks& blocks(uint32_t process) const;
  // False if the address was already live: it now holds `block`, and `old` is the previous block.
  bool insert(uint32_t process, uint64_t address, const HeapBlock& block, HeapBlock& old);
  // False if the process has no such block of its own.
  bool erase(uint32_t process, uint64_t address, uint64_t time, HeapBlock& old);
  // The process frees a block that is not its own: true if it had inherited it and not yet freed it.
  bool erase_inherited(uint32_t process, uint64_t address, uint64_t time);
  // The last erase_inherited of this address did not happen.
  void restore_inherited(uint32_t process, uint64_t address);

 private:
  struct Heap;
  bool was_live(const Heap& heap, uint64_t address, uint64_t time) const;

  std::vector<std::unique_ptr<Heap>> heaps_;  // by process
  uint64_t fork_slack_;
};

}  // namespace penna
