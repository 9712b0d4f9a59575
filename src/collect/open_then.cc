// SPDX-License-Identifier: MIT
// See open_then.h.
#include "collect/open_then.h"

#include <algorithm>
#include <utility>

namespace penna {

void OpenThen::note(uint32_t serial, uint64_t ticks, std::vector<uint64_t> pcs) {
  if (threads_.size() >= kMostThreads && threads_.count(serial) == 0)
    threads_.erase(std::min_element(threads_.begin(), threads_.end(), [](const auto& a, const auto& b) {
      return a.second.back().ticks < b.second.back().ticks;
    }));
  std::deque<Time>& times = threads_[serial];
  const bool known = pcs.size() <= kMostCalls;
  times.push_back({ticks, known, known ? std::move(pcs) : std::vector<uint64_t>{}});
  if (times.size() > kMostTimes) times.pop_front();
}

const std::vector<uint64_t>* OpenThen::at(uint32_t serial, uint64_t ticks) const {
  const auto found = threads_.find(serial);
  if (found == threads_.end()) return nullptr;
  const auto last = std::find_if(found->second.rbegin(), found->second.rend(),
                                 [ticks](const Time& time) { return time.ticks <= ticks; });
  return last != found->second.rend() && last->known ? &last->pcs : nullptr;
}

}  // namespace penna
