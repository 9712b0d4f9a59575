// SPDX-License-Identifier: MIT
// LockIndex: which lock lies at an address now. One that was destroyed, made anew, whose block of memory was allocated
// again, or whose library was unmapped and another one mapped there, gives way to another one at the same place.
//
// Why by allocations and not by frees: that a block is allocated says all that is needed, without the sizes of all that
// live.
// Invariant: an index is given once; an address has at most one lock of a kind at a time.
// Memory: O(locks), of which at most kMostRemade are those that came after others: what comes then is counted with
// them.
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
  // Of one process (index), by its lock events alone: does not follow its memory. For who calls forget(): remade locks
  // are not limited.
  explicit LockIndex(uint32_t only_process);

  // The lock that an event is about; `added`: it is a new one, with the index `next`.
  uint32_t find(uint32_t process, LockKind kind, uint64_t address, uint32_t next, bool* added);
  // Null: none was used there so far.
  const uint32_t* peek(uint32_t process, LockKind kind, uint64_t address) const;
  // What is at this place next is another one: true when a lock (`index`) was there.
  bool retire(uint32_t process, LockKind kind, uint64_t address, uint32_t* index);
  // An index that may be given to another lock: nothing that lies there is this one.
  void forget(uint32_t process, LockKind kind, uint64_t address, uint32_t index);
  // Before each event: calls gone(index) for each lock that lay where another library is mapped by now.
  template <typename Gone>
  void pass(uint64_t time, Gone&& gone) {
    for (; next_mapping_ < mappings_.size() && mappings_[next_mapping_].time <= time; ++next_mapping_) {
      const Mapping& one = mappings_[next_mapping_];
      replace(one.process, one.begin, one.end, gone);
    }
  }
  // The record of a block: calls gone(index) for each lock that cannot be there any more.
  template <typename Gone>
  void memory(const Event& event, Gone&& gone);

  uint64_t folded() const { return folded_; }

 private:
  static uint64_t key(LockKind kind, uint64_t address) { return address | static_cast<uint64_t>(kind) << 56; }
  // A library where another one was before.
  struct Mapping {
    uint64_t time;
    uint32_t process;
    uint64_t begin, end;
  };
  static void add_mappings(uint32_t process, const std::vector<Module>& modules, std::vector<Mapping>& mappings);
  // What lies there from now on is new.
  template <typename Gone>
  void replace(uint32_t process, uint64_t begin, uint64_t end, Gone&& gone);
  // The range of memory that a record says is new; empty: none.
  std::pair<uint64_t, uint64_t> new_memory(const Event& event);

  uint32_t first_process_ = 0;                 // index of the process that at_ begins with
  std::vector<NumberMap<uint32_t>> at_;        // by process: kind, address -> index
  std::vector<std::set<uint64_t>> addresses_;  // by process; of those that new memory may replace
  std::vector<Mapping> mappings_;              // by time
  size_t next_mapping_ = 0;
  bool follows_memory_;
  NumberMap<uint64_t> moved_;  // by thread: what its realloc freed last
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
