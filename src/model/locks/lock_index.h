// SPDX-License-Identifier: MIT
// LockIndex: which lock is at an address now. A lock gives way to a new one at the same address when it is destroyed or
// initialised again, its block of memory is allocated again, or its library is unmapped and another one mapped there.
//
// Why by allocations and not by frees: an allocation says all that is needed, without the sizes of all live blocks.
// Invariant: an index is assigned once; an address has at most one lock of a kind at a time.
// Memory: O(locks), of which at most kMostRemade succeed others: further ones are counted with their predecessors.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "model/events/events.h"
#include "model/locks/lock_stats.h"

namespace penna {

class LockIndex {
 public:
  static constexpr uint64_t kMostRemade = 1 << 16;

  explicit LockIndex(const Recording& recording);
  // For one process (index), by its lock events only: does not follow its memory. For users of forget(): the number of
  // remade locks is not limited.
  explicit LockIndex(uint32_t only_process);

  // The lock that an event is about; `added`: it is new, with the index `next`.
  uint32_t find(uint32_t process, LockKind kind, uint64_t address, uint32_t next, bool* added);
  // Null: none has been used there.
  const uint32_t* peek(uint32_t process, LockKind kind, uint64_t address) const;
  // The next lock at this address is a new one: true if there was a lock (`index`).
  bool retire(uint32_t process, LockKind kind, uint64_t address, uint32_t* index);
  // Removes the lock from its address, so that its index can be reused.
  void forget(uint32_t process, LockKind kind, uint64_t address, uint32_t index);
  // Before each event: calls gone(index) for each lock where another library has since been mapped.
  template <typename Gone>
  void pass(uint64_t time, Gone&& gone) {
    for (; next_mapping_ < mappings_.size() && mappings_[next_mapping_].time <= time; ++next_mapping_) {
      const Mapping& one = mappings_[next_mapping_];
      replace(one.process, one.begin, one.end, gone);
    }
  }
  // For a block record: calls gone(index) for each lock that can no longer exist.
  template <typename Gone>
  void memory(const Event& event, Gone&& gone);

  uint64_t folded() const { return folded_; }

 private:
  static uint64_t key(LockKind kind, uint64_t address) { return address | static_cast<uint64_t>(kind) << 56; }
  // A library mapped where another one was before.
  struct Mapping {
    uint64_t time;
    uint32_t process;
    uint64_t begin, end;
  };
  static void add_mappings(uint32_t process, const std::vector<Module>& modules, std::vector<Mapping>& mappings);
  // Locks in this range are new from now on.
  template <typename Gone>
  void replace(uint32_t process, uint64_t begin, uint64_t end, Gone&& gone);
  // The range of memory that a record reports as new; empty: none.
  std::pair<uint64_t, uint64_t> new_memory(const Event& event);

  uint32_t first_process_ = 0;                 // index of the first process in at_
  std::vector<NumberMap<uint32_t>> at_;        // by process: kind, address -> index
  std::vector<std::set<uint64_t>> addresses_;  // by process; those that new memory may replace
  std::vector<Mapping> mappings_;              // by time
  size_t next_mapping_ = 0;
  bool follows_memory_;
  NumberMap<uint64_t> moved_;  // by thread: the block its realloc freed last
  uint64_t most_remade_ = kMostRemade;
  uint64_t remade_ = 0, folded_ = 0;
};

template <typename Gone>
void LockIndex::memory(const Event& event, Gone&& gone) {
  if (!follows_memory_) return;
  const auto [begin, end] = new_memory(event);
  replace(event.process, begin, end, gone);
}

template <typename Gone>
void LockIndex::replace(uint32_t process, uint64_t begin, uint64_t end, Gone&& gone) {
  std::set<uint64_t>& addresses = addresses_[process];
  if (begin == end || addresses.empty() || end <= *addresses.begin() || begin > *addresses.rbegin()) return;
  for (auto one = addresses.lower_bound(begin); one != addresses.end() && *one < end; one = addresses.erase(one)) {
    for (int kind = 0; kind <= static_cast<int>(LockKind::kFutex); ++kind) {
      uint32_t index;
      if (retire(process, static_cast<LockKind>(kind), *one, &index)) gone(index);
    }
  }
}

}  // namespace penna
