// SPDX-License-Identifier: MIT
// InversionFinder: the cycles in the order of locks that can become a deadlock.
//
// Why not all cycles: n locks that are taken in every order have more than n! of them. Cycles of two come first; longer
// ones, up to kLongest, are looked for only among orders that are in none of those, and where a group of locks has no
// such short cycle, its shortest one.
// A cycle is excluded if two of its orders are always inside the same lock (a gate: their threads cannot be there at
// the same time), or if at one of its locks no thread would wait because all are readers.
// Invariant: work is bounded by kMostSteps; is_cut() says when that was not enough.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "model/locks/cycles.h"
#include "model/locks/lock_order.h"

namespace penna {

class InversionFinder {
 public:
  static constexpr size_t kLongest = 4;
  static constexpr uint64_t kMostSteps = 4'000'000;

  InversionFinder(const HolderTracker& held, const std::vector<OrderEdge>& edges)
      : held_(held), edges_(edges), locks_(held.objects().size()) {}

  // Those by several threads first, then short ones, then in order of time.
  std::vector<Inversion> find();
  uint64_t gated() const { return gated_; }
  uint64_t of_readers() const { return of_readers_; }
  bool is_cut() const { return is_cut_; }

 private:
  using Cycle = std::vector<uint32_t>;  // of edges
  void find_pairs();
  void find_short();
  void extend(uint32_t start, Cycle& path);
  void find_long();
  bool on_path(const Cycle& path, uint32_t lock) const;
  bool judge(const Cycle& cycle);
  void list(const Cycle& cycle, bool one_thread);
  bool is_gated(const Cycle& cycle) const;
  bool waits(const Cycle& cycle) const;
  bool has_threads(const Cycle& cycle) const;

  const HolderTracker& held_;
  const std::vector<OrderEdge>& edges_;
  size_t locks_;
  std::vector<std::vector<uint32_t>> out_;  // by lock: edges
  std::vector<uint32_t> components_;        // by lock
  std::vector<bool> paired_;                // by edge: listed in a cycle of two
  std::vector<bool> has_cycle_;             // by component: a short one
  TextMap<uint32_t> by_stacks_;             // -> index into found_
  std::vector<Inversion> found_;
  uint64_t steps_ = 0, gated_ = 0, of_readers_ = 0;
  bool is_cut_ = false;
};

}  // namespace penna
