// SPDX-License-Identifier: MIT
// See shared_locks.h.
#include "model/locks/shared_locks.h"

#include <utility>

namespace penna {

void SharedLocks::join(uint32_t lock, uint32_t other) {
  uint32_t& mine = locks_[lock].set;
  uint32_t& its = locks_[other].set;
  if (mine != kNoIndex && mine == its) return;
  if (mine == kNoIndex && its == kNoIndex) {
    mine = its = static_cast<uint32_t>(sets_.size());
    sets_.push_back({lock, other});
    return;
  }
  const uint32_t known = its != kNoIndex ? its : mine;
  std::vector<uint32_t> more = its == kNoIndex    ? std::vector<uint32_t>{other}
                               : mine == kNoIndex ? std::vector<uint32_t>{lock}
                                                  : std::exchange(sets_[mine], {});
  if (sets_[known].size() + more.size() > kMostSharers) return;
  for (const uint32_t one : more) {
    sets_[known].push_back(one);
    locks_[one].set = known;
  }
}

}  // namespace penna
