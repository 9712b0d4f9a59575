// SPDX-License-Identifier: MIT
// ForkedLocks: which locks a forked process found held in its memory, and may so give back without having taken them.
//
// Why: pthread_atfork() handlers take locks before a fork and give them back in both processes. A child says when it
// began once it runs; what its parent gave back a moment before that may have been held at the fork, too.
// Invariant: each lock is given back at most as often as it was taken. Told in time order.
// Memory: O(locks held by processes that have such children), kMostInherited for each child.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "recording/reader.h"

namespace penna {

class ForkedLocks {
 public:
  static constexpr size_t kMostInherited = 1024;  // of a child: nobody holds more at a fork

  explicit ForkedLocks(const Recording& recording);
  ~ForkedLocks();

  // Before the events of this time.
  void pass(uint64_t time) {
    while (next_ < forks_.size() && forks_[next_].began <= time) inherit(forks_[next_++]);
  }
  // A process (index) holds a lock `depth` times; 0: it gave it back.
  void holds(uint32_t process, uint64_t address, uint32_t depth, uint64_t time) {
    if (parents_[process] != nullptr || !inherited_[process].empty()) update(process, address, depth, time);
  }
  // The process gives back what it does not hold: true when it had it from its parent.
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
  size_t next_ = 0;                               // the first that is not passed yet
  std::vector<std::unique_ptr<Parent>> parents_;  // by process; null without such children
  std::vector<NumberMap<uint32_t>> inherited_;    // by process: address -> how many times it may be given back
};

}  // namespace penna
