// SPDX-License-Identifier: MIT
// LockBlocks: which allocated blocks hold the locks that have no name, and thus who made them.
//
// Why a separate pass: a lock's address is known only when it is used, long after its block was allocated.
// Usage:  LockBlocks blocks(recording, locks, map); if (blocks.asks()) for_each_event(recording, {kAllocEvents},
// blocks);
// Events must come merged in time order.
// Invariant: the block of a lock was live, as far as the recording knows, when the lock was first used; in a forked
// process it may also be an ancestor's block that was live at the fork. Successive locks at one address have a block
// each. Memory: O(locks outside of all modules).
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "model/events/events.h"
#include "model/locks/locks.h"
#include "model/names/code_map.h"

namespace penna {

struct LockBlock {
  uint64_t address = 0;
  uint64_t size = 0;     // bytes requested
  uint32_t process = 0;  // that allocated it
  uint32_t stack = 0;    // 0 = unknown
};

class LockBlocks {
 public:
  // `locks` is finished.
  LockBlocks(const Recording& recording, const Locks& locks, const CodeMap& map);

  bool asks() const { return asks_; }  // false: all locks lie in modules
  void operator()(const Event& event);
  void finish();  // of() is valid after it

  // The block that holds a lock; null if unknown. `first`: ticks of its first use.
  const LockBlock* of(uint32_t process, uint64_t address, uint64_t first) const;

 private:
  struct Question {
    uint64_t address;
    uint64_t until;     // ticks: a later block is another one
    LockBlock block{};  // size 0: none so far
  };
  // The questions about one address, [next, end), by time: those before `next` are answered.
  struct Place {
    uint64_t address;
    size_t next, end;
    LockBlock block{};  // currently at this address
  };
  struct Asked {
    std::vector<Question> questions;  // by address and time
    std::vector<Place> places;        // by address
  };
  void ask(const Recording& recording, uint32_t process, uint64_t address, uint64_t until);
  static std::vector<Place>::iterator first_from(Asked& asked, uint64_t address);
  static void pass(Asked& asked, Place& place, uint64_t time);
  void allocated(const Event& event, uint64_t address, uint64_t size, uint32_t stack);
  void freed(const Event& event, uint64_t address);

  bool asks_ = false;
  const Recording& recording_;
  std::vector<uint32_t> parents_;           // by process; kNoIndex: it started with an empty heap
  std::vector<Asked> asked_;                // by process
  std::vector<NumberMap<uint64_t>> sizes_;  // by process: sizes of the blocks that hold a lock, by address
};

}  // namespace penna
