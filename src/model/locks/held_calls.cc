// SPDX-License-Identifier: MIT
// See held_calls.h.
#include "model/locks/held_calls.h"

#include <algorithm>

namespace penna {

HeldCalls::HeldCalls(const HolderTracker& held, const Locks& locks, const CallTree& tree)
    : held_(held), locks_(locks), tree_(tree), passed_(held.recording().threads().size()) {}

void HeldCalls::book(uint32_t thread, uint64_t time) {
  if (!takes_thread(held_.recording(), thread)) return;
  const FunctionId function = tree_.nodes()[tree_.current(thread)].function;
  for (const uint32_t object : held_.held_by(thread)) {
    const LockHold hold = held_.hold_of(thread, object);
    const uint32_t lock = locks_.lock_of(object);
    if (lock == kNoIndex || hold.learned) continue;
    const uint64_t since = std::max({passed_[thread], hold.since, begin_});
    if (time <= since) continue;
    const auto [number, is_new] = index_.try_emplace(pair_key(lock, function), static_cast<uint32_t>(sums_.size()));
    if (is_new) sums_.push_back({lock, function});
    sums_[number->second].time += time - since;
  }
}

void HeldCalls::finish(std::span<const uint64_t> ends) {
  const auto& threads = held_.recording().threads();
  for (uint32_t thread = 0; thread < passed_.size(); ++thread) pass(thread, ends[threads[thread].process]);
}

std::vector<HeldCalls::Sum> HeldCalls::of(uint32_t lock) const {
  std::vector<Sum> found;
  for (const Sum& sum : sums_)
    if (sum.lock == lock) found.push_back(sum);
  std::stable_sort(found.begin(), found.end(), [](const Sum& a, const Sum& b) { return a.time > b.time; });
  return found;
}

}  // namespace penna
