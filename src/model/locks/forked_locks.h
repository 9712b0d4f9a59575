// SPDX-License-Identifier: MIT
// ForkedLocks: which locks a forked process inherited as held, and may therefore release without having taken them.
//
// Why: pthread_atfork() handlers take locks before a fork and release them in both processes. A child reports its
// beginning once it runs; what its parent released a moment before that may have been held at the fork, too.
// Invariant: each lock is released at most as often as it was taken. Calls come in time order.
// Memory: O(locks held by processes that have such children), kMostInherited per child.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "recording/reader.h"

namespace penna {

class ForkedLocks {
 public:
  static constexpr size_t kMostInherited = 1024;  // per child: no process holds more at a fork

  explicit ForkedLocks(const Recording& recording);
  ~ForkedLocks();

  // Call before the events at this time.
  void pass(uint64_t time) {
    while (next_ < forks_.size() && forks_[next_].began <= time) inherit(forks_[next_++]);
  }
  // A process (index) holds a lock `depth` times; 0: it released it.
  void holds(uint32_t process, uint64_t address, uint32_t depth, uint64_t time) {
    if (parents_[process] != nullptr || !inherited_[process].empty()) update(process, address, depth, time);
  }
  // The process releases what it does not hold: true if it inherited the hold from its parent.
  bool release(uint32_t process, uint64_t address);

 private:
  struct Fork {
    uint64_t began;  // ticks: the child's first sign of life
    uint32_t child, parent;
  };
  struct Parent;
  void inherit(const Fork& fork);
  void update(uint32_t process, uint64_t address, uint32_t depth, uint64_t time);

  uint64_t slack_;                                // ticks
  std::vector<Fork> forks_;                       // of children that used locks, by time
  size_t next_ = 0;                               // the first one not yet passed
  std::vector<std::unique_ptr<Parent>> parents_;  // by process; null without such children
  std::vector<NumberMap<uint32_t>> inherited_;    // by process: address -> how many times it may be released
};

}  // namespace penna
