// SPDX-License-Identifier: MIT
// UnmatchedFrees: frees of blocks that were not live, by their stacks, and which of these blocks had already been
// freed.
//
// Usage: as AllocationOptions::unmatched; complete after Allocations::finish().
// Invariant: a free is counted once, or not at all if it turned out not to have happened (a realloc that failed).
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

// The frees of one stack.
struct UnmatchedFree {
  uint32_t process = 0;    // index; process and thread are those of the first free
  uint32_t thread = 0;     // index
  StackOfProcess stack{};  // 0 = not recorded: then a thread's frees
  bool again = false;      // the last record of the address is a free, too
  StackOfProcess first{};  // if `again`: of that free; stack 0 = not recorded
  uint32_t processes = 0;  // number of processes with such frees
  uint64_t frees = 0;
  uint64_t address = 0, time = 0;  // of the first; ticks
};

class UnmatchedFrees {
 public:
  // `same`: stacks that read the same are one; null: each stands alone.
  explicit UnmatchedFrees(const Recording& recording, SameStacks* same = nullptr);

  void allocated(uint32_t process, uint64_t address) { freed_[process].erase(address); }
  void freed(uint32_t process, uint64_t address, uint32_t stack) { freed_[process].insert_or_assign(address, stack); }
  void unmatched(const Event& event, const BlockRecord& free);  // before its freed()
  // This thread's last free did not happen. It was counted here if `is_unmatched`.
  void undone(const Event& event, uint64_t address, bool is_unmatched);

  std::vector<UnmatchedFree> rows() const;  // blocks freed twice first, then most frees first

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
