// SPDX-License-Identifier: MIT
// RecentOpenCalls: which calls a process's threads had open when they handed over a chunk, for the last few chunks.
//
// Why: a child's calls are filtered by the calls they are nested in, i.e. those open in its parent's thread at the
// fork. A thread hands over its chunk before it forks; until the child connects, the parent may have filled some more
// chunks.
// Invariant: nothing is guessed: if it is unknown, at() returns null. Bounded by kMostThreads * kMostTimes *
// kMostCalls, and by the budget together with all other processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "collect/budget.h"

namespace penna {

class RecentOpenCalls {
 public:
  static constexpr size_t kMostThreads = 256, kMostTimes = 8, kMostCalls = 4096;

  explicit RecentOpenCalls(std::shared_ptr<Budget> budget = nullptr) : share_(std::move(budget)) {}

  // `pcs`: outermost first.
  void note(uint32_t serial, uint64_t ticks, std::vector<uint64_t> pcs);
  // The calls open after the last chunk that was handed over before `ticks`.
  const std::vector<uint64_t>* at(uint32_t serial, uint64_t ticks) const;

 private:
  // The state after one chunk. Not known: there were more than kMostCalls.
  struct Time {
    uint64_t ticks;
    bool known;
    std::vector<uint64_t> pcs;
  };
  using Threads = std::map<uint32_t, std::deque<Time>>;
  static size_t weight_of(const Time& time);
  void forget_oldest(std::deque<Time>& times);
  void forget(Threads::iterator thread);

  Budget::Share share_;
  Threads threads_;  // by serial; none is empty
};

}  // namespace penna
