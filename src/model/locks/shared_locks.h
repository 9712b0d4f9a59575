// SPDX-License-Identifier: MIT
// SharedLocks: which locks of several processes are found to be one, in memory that they share.
//
// Invariant: a lock is in at most one set; sets only grow, up to kMostSharers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/locks/lock_stats.h"

namespace penna {

class SharedLocks {
 public:
  static constexpr size_t kMostSharers = 256;

  void add_lock() { locks_.emplace_back(); }
  // Both are the same lock.
  void join(uint32_t lock, uint32_t other);
  // The set that a lock is in; empty: it is not known to be shared.
  std::span<const uint32_t> of(uint32_t lock) const {
    return locks_[lock].set == kNoIndex ? std::span<const uint32_t>{} : sets_[locks_[lock].set];
  }

  // Looking for the others takes long: it is given up after some failures.
  bool is_hopeless(uint32_t lock) const { return locks_[lock].failures == kMostFailures; }
  void not_found(uint32_t lock) { ++locks_[lock].failures; }

 private:
  static constexpr uint8_t kMostFailures = 8;
  struct Lock {
    uint32_t set = kNoIndex;
    uint8_t failures = 0;
  };
  std::vector<Lock> locks_;
  std::vector<std::vector<uint32_t>> sets_;  // indices of locks
};

}  // namespace penna
