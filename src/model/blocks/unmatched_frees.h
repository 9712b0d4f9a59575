// SPDX-License-Identifier: MIT
// UnmatchedFrees: frees of blocks that were not there, by their stacks, and which of these blocks had been freed
// already.
//
// Usage: as AllocationOptions::unmatched; complete after Allocations::finish().
// Invariant: a free is counted once, or not at all when it turned out not to have happened (a realloc that failed).
// Memory: O(addresses that were freed and not allocated again).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "model/events/block_records.h"
#include "model/events/events.h"
#include "model/names/same_stacks.h"

namespace penna {

// Of one stack of frees.
struct UnmatchedFree {
  uint32_t process = 0;    // index; these two of the first of them
  uint32_t thread = 0;     // index
  StackOfProcess stack{};  // 0 = not recorded: those of a thread
  bool again = false;      // the last that is recorded of its address is a free, too
  StackOfProcess first{};  // again: of that free; stack 0 = not recorded
  uint32_t processes = 0;  // that freed so
  uint64_t frees = 0;
  uint64_t address = 0, time = 0;  // of the first; ticks
};

class UnmatchedFrees {
 public:
  // `same`: those that read the same are one stack; null: each for itself.
  explicit UnmatchedFrees(const Recording& recording, SameStacks* same = nullptr);

  void allocated(uint32_t process, uint64_t address) { freed_[process].erase(address); }
  void freed(uint32_t process, uint64_t address, uint32_t stack) { freed_[process].insert_or_assign(address, stack); }
  void unmatched(const Event& event, const BlockRecord& free);  // before its freed()
  // The last free of this thread did not happen. It was counted here when `is_unmatched`.
  void taken_back(const Event& event, uint64_t address, bool is_unmatched);

  std::vector<UnmatchedFree> rows() const;  // blocks that were freed twice first, then most frees first

 private:
  std::vector<NumberMap<uint32_t>> freed_;  // by process: address -> stack of its free
  StackOfProcess first_like(uint32_t process, uint32_t stack) const;

  using Key = std::tuple<uint32_t, uint32_t, bool, uint32_t, uint32_t>;
  SameStacks* same_;
  std::map<Key, size_t> numbers_;
  std::set<std::pair<size_t, uint32_t>> holders_;  // row, process
  std::vector<UnmatchedFree> rows_;
  std::vector<size_t> last_;  // by thread: the row of its last unmatched free
};

}  // namespace penna
