// SPDX-License-Identifier: MIT
// OpenThen: which calls the threads of a process had open when they handed over a chunk, for the last few chunks.
//
// Why: a child's calls are filtered by what they are nested in, which is what was open in its parent's thread at the
// fork. A thread hands over its chunk before it forks; until the child connects, the parent may be some chunks further.
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

class OpenThen {
 public:
  static constexpr size_t kMostThreads = 256, kMostTimes = 8, kMostCalls = 4096;

  explicit OpenThen(std::shared_ptr<Budget> budget = nullptr) : share_(std::move(budget)) {}

  // `pcs`: outermost first.
  void note(uint32_t serial, uint64_t ticks, std::vector<uint64_t> pcs);
  // What was open after the last chunk that was handed over before `ticks`.
  const std::vector<uint64_t>* at(uint32_t serial, uint64_t ticks) const;

 private:
  // After one chunk. Not known: there were more than kMostCalls.
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
