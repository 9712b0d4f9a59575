// SPDX-License-Identifier: MIT
// LockChoice: which locks the lock reports cover, and the sentences at their head.
//
// Invariant: without a name all locks are chosen, and no lock's name is looked up.
#pragma once

#include <string>
#include <vector>

#include "report/locks/lock_names.h"
#include "report/table.h"

namespace penna {

// Made once per report, and shared by its tables: matching a name means looking up the lock's name, with symbols.
class LockChoice {
 public:
  // `wanted`: a name or a glob; empty: all.
  LockChoice(const Locks& locks, const LockNames& name_of, const std::string& wanted);

  // Empty if all are chosen.
  LockFilter filter() const {
    if (chosen_.empty()) return {};
    return [this](const LockStats& lock) { return has(lock); };
  }
  bool has(const LockStats& lock) const { return chosen_.empty() || chosen_[index(lock)]; }
  uint32_t index(const LockStats& lock) const { return static_cast<uint32_t>(&lock - locks_.all().data()); }
  // Of those that have holders, the one waited for longest; null: none was waited for.
  const LockStats* worst() const;
  uint64_t sum_of(uint64_t LockStats::*counter) const;
  // What matters, what was recorded, what was left out.
  std::vector<std::string> head(const Recording& recording) const;

 private:
  const Locks& locks_;
  const LockNames& name_of_;
  std::string wanted_;
  std::string near_;          // if none is chosen: the nearest name
  std::vector<bool> chosen_;  // empty: all
};

// One row per pair of stacks, for waits for objects with holders, or for all others. The arguments must outlive it.
Table waits_table(const Recording& recording, const Locks& locks, const LockChoice& choice, Names& names,
                  const LockNames& name_of, bool of_holders);

// Ticks of a distribution as a cell of nanoseconds; `share` of 1: the longest. Empty, and not "0 ns", if nothing was
// measured.
Cell lock_percentile(const Recording& recording, const Distribution& distribution, double share);

}  // namespace penna
