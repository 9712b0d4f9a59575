// SPDX-License-Identifier: MIT
// UnmatchedFrees: frees of blocks that were not there, by their stacks, and which of these blocks had been freed already.
//
// Usage: as AllocationOptions::unmatched; complete after Allocations::finish().
// Invariant: a free is counted once, or not at all when it turned out not to have happened (a realloc that failed).
// Memory: O(addresses that were freed and not allocated again).
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "model/block_records.h"
#include "model/events.h"
#include "model/hash.h"

namespace penna {

// Of one stack of frees.
struct UnmatchedFree {
  uint32_t process = 0;      // index
  uint32_t thread = 0;       // index; of the first of them
  uint32_t stack = 0;        // 0 = not recorded: those of a thread
  bool again = false;        // the last that is recorded of its address is a free, too
  uint32_t first_stack = 0;  // again: of that free; 0 = not recorded
  uint64_t frees = 0;
  uint64_t address = 0, time = 0;  // of the first; ticks
};

class UnmatchedFrees {
 public:
  explicit UnmatchedFrees(const Recording& recording);

  void allocated(uint32_t process, uint64_t address) { freed_[process].erase(address); }
  void freed(uint32_t process, uint64_t address, uint32_t stack) { freed_[process].insert_or_assign(address, stack); }
  void unmatched(const Event& event, const BlockRecord& free);  // before its freed()
  // The last free of this thread did not happen. It was counted here when `is_unmatched`.
  void taken_back(const Event& event, uint64_t address, bool is_unmatched);

  std::vector<UnmatchedFree> rows() const;  // blocks that were freed twice first, then most frees first

 private:
  std::vector<NumberMap<uint32_t>> freed_;  // by process: address -> stack of its free
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, bool, uint32_t>;
  std::map<Key, size_t> numbers_;
  std::vector<UnmatchedFree> rows_;
  std::vector<size_t> last_;  // by thread: the row of its last unmatched free
};

}  // namespace penna
