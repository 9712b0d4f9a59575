// SPDX-License-Identifier: MIT
// HeapForest: the live blocks of every process, and which blocks a forked process found in its heap.
//
// Why a forest: after fork the child frees blocks that its parent allocated. To copy the parent's blocks at each fork
// would cost memory for children that never free any; instead the parent is asked when a child frees something of
// unknown origin. A process with forked children therefore remembers what it freed since the first of them began.
// Invariant: a block that was live in the parent when the child began is found, once. (An address that the parent used
// both before and after that moment is taken for inherited, too.)
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "recording/reader.h"

namespace penna {

struct HeapBlock {
  uint64_t size = 0;      // bytes asked for
  uint64_t time = 0;      // ticks, of allocation
  uint32_t slot = 0;      // the owner's: of its stack
  uint32_t thread = 0;    // that allocated it (index)
  uint64_t sequence = 0;  // of allocations of that thread, from 0
};

class HeapForest {
 public:
  explicit HeapForest(const Recording& recording);
  ~HeapForest();

  using Blocks = NumberMap<HeapBlock>;  // by address

  // The live blocks of a process that it allocated itself.
  const Blocks& blocks(uint32_t process) const;
  // False when the address was live already: it now is `block`, and `old` the one that was there.
  bool insert(uint32_t process, uint64_t address, const HeapBlock& block, HeapBlock& old);
  // False when the process has no such block of its own.
  bool erase(uint32_t process, uint64_t address, uint64_t time, HeapBlock& old);
  // The process frees a block that is not its own: true when it had inherited it, and not freed it yet.
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
