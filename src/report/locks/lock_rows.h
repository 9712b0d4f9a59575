// SPDX-License-Identifier: MIT
// LockChoice: which locks the reports about them are about, and the sentences that these begin with.
//
// Invariant: without a name all locks are chosen, and none is asked for its name.
#pragma once

#include <string>
#include <vector>

#include "report/locks/lock_names.h"
#include "report/table.h"

namespace penna {

// Made once for a report, and shared by its tables: matching a name means looking up the lock's
// name, with symbols.
class LockChoice {
 public:
  // `wanted`: a name or a glob; empty: all.
  LockChoice(const Locks& locks, const LockNames& name_of, const std::string& wanted);

  // Empty where all are chosen.
  LockFilter filter() const {
    if (chosen_.empty()) return {};
    return [this](const LockStats& lock) { return has(lock); };
  }
  bool has(const LockStats& lock) const { return chosen_.empty() || chosen_[index(lock)]; }
  uint32_t index(const LockStats& lock) const { return static_cast<uint32_t>(&lock - locks_.all().data()); }
  // Of those that have holders, the one that was waited for the longest; null: none was.
  const LockStats* worst() const;
  uint64_t sum_of(uint64_t LockStats::*counter) const;
  // What matters, what was recorded, what was left out.
  std::vector<std::string> head(const Recording& recording) const;

 private:
  const Locks& locks_;
  const LockNames& name_of_;
  std::string wanted_;
  std::string near_;          // where none is chosen: what is called nearly so
  std::vector<bool> chosen_;  // empty: all
};

// A row for each pair of stacks, of waits for what has holders, or for all else. The arguments outlive it.
Table waits_table(const Recording& recording, const Locks& locks, const LockChoice& choice, Names& names,
                  const LockNames& name_of, bool of_holders);

// Ticks of a distribution as a cell of nanoseconds; `share` of 1: the longest. Empty, and not "0
// ns", where there was nothing to measure.
Cell lock_percentile(const Recording& recording, const Distribution& distribution, double share);

}  // namespace penna
