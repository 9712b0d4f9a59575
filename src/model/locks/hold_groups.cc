// SPDX-License-Identifier: MIT
// See hold_groups.h.
#include "model/locks/hold_groups.h"

namespace penna {

uint32_t HoldGroups::find(uint32_t lock, uint32_t stack, bool stack_is_release, uint32_t thread, uint32_t& last) {
  if (last != kNoIndex && all_[last].stack == stack && all_[last].stack_is_release == stack_is_release) return last;
  const auto [found, added] = (stack_is_release ? by_release_ : by_taken_)
                                  .try_emplace(pair_key(lock, stack), static_cast<uint32_t>(all_.size()));
  if (added) {
    HoldGroup& group = all_.emplace_back();
    group.lock = lock;
    group.stack = stack;
    group.stack_is_release = stack_is_release;
    group.thread = thread;
  }
  return last = found->second;
}

void HoldGroups::add(uint32_t group, uint32_t thread, uint64_t held, uint64_t weight, bool open) {
  HoldGroup& to = all_[group];
  // The group is shown with the thread of its longest hold.
  if (held > to.time.max()) to.thread = thread;
  to.many_threads |= to.thread != thread;
  to.open += open;
  to.time.add(held, weight);
}

void HoldGroups::begin_range() {
  for (HoldGroup& group : all_) {
    group.time = {};
    group.waited = group.open = 0;
    group.many_threads = false;
  }
}

}  // namespace penna
