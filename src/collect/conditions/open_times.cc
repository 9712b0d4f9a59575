// SPDX-License-Identifier: MIT
// See open_times.h.
#include "collect/conditions/open_times.h"

#include <algorithm>

#include "base/hash.h"

namespace penna {

void OpenTimes::begin(const Thread& thread, uint64_t key, uint64_t ticks) {
  if (threads_.size() >= kMostThreads && threads_.count(pair_key(thread.process, thread.serial)) == 0) return;
  State& state = threads_[pair_key(thread.process, thread.serial)];
  state.tid = thread.tid;
  if (state.open.size() < kMostOfOne) state.open.push_back({key, ticks, false});
}

std::optional<OpenTimes::Long> OpenTimes::end(const Thread& thread, uint64_t key, uint64_t ticks) {
  const auto found = threads_.find(pair_key(thread.process, thread.serial));
  if (found == threads_.end()) return {};
  std::vector<Open>& open = found->second.open;
  const auto one = std::find_if(open.rbegin(), open.rend(), [&](const Open& each) { return each.key == key; });
  if (one == open.rend()) return {};
  const Open ended = *one;
  open.erase(std::prev(one.base()), open.end());
  if (open.empty()) threads_.erase(found);
  if (ended.is_reported || ticks < ended.begin || ticks - ended.begin <= most_ticks_) return {};
  return Long{thread, key, ticks - ended.begin};
}

void OpenTimes::lose(uint32_t process, uint32_t serial) { threads_.erase(pair_key(process, serial)); }

void OpenTimes::forget(uint32_t process) {
  threads_.erase(threads_.lower_bound(pair_key(process, 0)), threads_.upper_bound(pair_key(process, UINT32_MAX)));
}

std::vector<OpenTimes::Long> OpenTimes::take_overdue(uint64_t now, const std::function<bool(const Thread&)>& lives) {
  std::vector<Long> all;
  for (auto at = threads_.begin(); at != threads_.end();) {
    State& state = at->second;
    const Thread thread{static_cast<uint32_t>(at->first >> 32), static_cast<uint32_t>(at->first), state.tid};
    const auto is_overdue = [&](const Open& one) {
      return !one.is_reported && now > one.begin && now - one.begin > most_ticks_;
    };
    const bool any = std::any_of(state.open.begin(), state.open.end(), is_overdue);
    if (any && !lives(thread)) {
      at = threads_.erase(at);
      continue;
    }
    for (Open& one : state.open) {
      if (!any || !is_overdue(one)) continue;
      one.is_reported = true;
      all.push_back({thread, one.key, now - one.begin});
    }
    ++at;
  }
  return all;
}

}  // namespace penna
