// SPDX-License-Identifier: MIT
// LockBlocks: which allocated blocks hold the locks that have no name, and so who made them.
//
// Why a pass of its own: a lock is known by its address only when it is used, long after its block was allocated.
// Usage:  LockBlocks blocks(recording, locks, map); if (blocks.asks()) for_each_event(recording, {kAllocEvents}, blocks);
// Events must come merged in time order. Invariant: the block of a lock was live, as far as the recording knows, when the
// lock was used first; in a forked process also one of its ancestors' that was live when it began.
// Memory: O(locks and condition variables outside of all modules).
#pragma once

#include <cstdint>
#include <vector>

#include "model/code_map.h"
#include "model/events.h"
#include "model/hash.h"
#include "model/locks.h"

namespace penna {

struct LockBlock {
  uint64_t address = 0;
  uint64_t size = 0;     // bytes asked for
  uint32_t process = 0;  // that allocated it
  uint32_t stack = 0;    // 0 = unknown
};

class LockBlocks {
 public:
  // `locks` is finished.
  LockBlocks(const Recording& recording, const Locks& locks, const CodeMap& map);

  bool asks() const { return asks_; }  // false: all locks lie in modules
  void operator()(const Event& event);

  // The block that holds a lock or condition variable; null when none is known.
  const LockBlock* of(uint32_t process, uint64_t address) const;

 private:
  struct Question {
    uint64_t address;
    uint64_t until;     // ticks: a later block is another one
    bool own;           // the process used the lock itself; false: a child of it did
    LockBlock block{};  // size 0: none so far
  };
  using Questions = std::vector<Question>;
  static Questions::iterator first_from(Questions& questions, uint64_t address);
  void ask(const Recording& recording, uint32_t process, uint64_t address, uint64_t until);
  void allocated(const Event& event, uint64_t address, uint64_t size, uint32_t stack);
  void freed(const Event& event, uint64_t address);

  bool asks_ = false;
  std::vector<uint32_t> parents_;             // by process; kNoIndex: it began with an empty heap
  mutable std::vector<Questions> questions_;  // by process, then by address
  std::vector<NumberMap<uint64_t>> sizes_;    // by process: of the blocks that hold something, by address
};

}  // namespace penna
