// SPDX-License-Identifier: MIT
// InheritedCalls: the calls that were open in a process's parent when it was forked, and so are open in the child.
//
// Why: a child is forked in the middle of calls that its parent entered. Its own calls are nested in them, and it
// returns from them without having entered them.
// Invariant: the recording's threads and times are not trusted: a missing thread hands on nothing, no call begins after
// the child's first event, and all lists together have at most kMaxCalls. A child without a list returns from calls
// that it never entered.
// Cost: the calls of the threads that forked are read once more, up to the last fork.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace penna {

class Recording;
class CallDigest;

class InheritedCalls {
 public:
  static constexpr size_t kMaxCalls = 1 << 22;

  explicit InheritedCalls(const Recording& recording);

  struct Of {
    std::vector<uint64_t> pcs;  // outermost first
    uint64_t ticks = 0;         // of the fork
  };
  // By thread index: null if the thread was not forked, or nothing was open.
  const Of* of(uint32_t thread) const {
    const bool known = thread < slots_.size() && slots_[thread] != 0;
    return known ? &lists_[slots_[thread] - 1] : nullptr;
  }

 private:
  struct Fork {
    uint64_t ticks;
    uint32_t parent, child;  // threads
  };
  static std::vector<Fork> forks_of(const Recording& recording);
  void walk(const Recording& recording, std::span<const Fork> forks);
  void hand_on(const CallDigest& calls, const Fork& fork);

  std::vector<uint32_t> slots_;  // by thread: place in lists_ + 1; empty if there are no forks
  std::deque<Of> lists_;         // a list is read while others are added
  size_t left_ = kMaxCalls;
};

// The entries that a thread inherits, as chunks to be read before its own; empty if none.
std::deque<std::vector<uint8_t>> inherited_chunks(const Recording& recording, uint32_t thread);

}  // namespace penna
