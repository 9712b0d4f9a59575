// SPDX-License-Identifier: MIT
// LockIndex: which lock lies at an address now. One that was destroyed, made anew, or whose block of memory was allocated
// again, gives way to another one at the same place.
//
// Why by allocations and not by frees: that a block is allocated says all that is needed, without the sizes of all that live.
// Invariant: an index is given once; an address has at most one lock of a kind at a time.
// Memory: O(locks), of which at most kMostRemade are those that came after others: what comes then is counted with them.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "model/events.h"
#include "model/hash.h"
#include "model/lock_stats.h"

namespace penna {

class LockIndex {
 public:
  static constexpr uint64_t kMostRemade = 1 << 16;

  explicit LockIndex(const Recording& recording);

  // The lock that an event is about; `added`: it is a new one, with the index `next`.
  uint32_t find(uint32_t process, LockKind kind, uint64_t address, uint32_t next, bool* added);
  // Null: none was used there so far.
  const uint32_t* peek(uint32_t process, LockKind kind, uint64_t address) const;
  // What is at this place next is another one: true when a lock (`index`) was there.
  bool retire(uint32_t process, LockKind kind, uint64_t address, uint32_t* index);
  // The record of a block: calls gone(index) for each lock that cannot be there any more.
  template <typename Gone>
  void memory(const Event& event, Gone&& gone);

  uint64_t folded() const { return folded_; }

 private:
  static uint64_t key(LockKind kind, uint64_t address) { return address | static_cast<uint64_t>(kind) << 56; }
  // The range of memory that a record says is new; empty: none.
  std::pair<uint64_t, uint64_t> new_memory(const Event& event);

  std::vector<NumberMap<uint32_t>> at_;        // by process: kind, address -> index
  std::vector<std::set<uint64_t>> addresses_;  // by process; of those that new memory may replace
  bool follows_memory_;
  NumberMap<uint64_t> moved_;  // by thread: what its realloc freed last
  uint64_t remade_ = 0, folded_ = 0;
};

template <typename Gone>
void LockIndex::memory(const Event& event, Gone&& gone) {
  std::set<uint64_t>& addresses = addresses_[event.process];
  const auto [begin, end] = new_memory(event);
  if (begin == end || addresses.empty() || end <= *addresses.begin() || begin > *addresses.rbegin()) return;
  for (auto one = addresses.lower_bound(begin); one != addresses.end() && *one < end; one = addresses.erase(one)) {
    for (int kind = 0; kind <= static_cast<int>(LockKind::kFutex); ++kind) {
      uint32_t index;
      if (retire(event.process, static_cast<LockKind>(kind), *one, &index)) gone(index);
    }
  }
}

}  // namespace penna
