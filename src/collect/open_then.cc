// SPDX-License-Identifier: MIT
// See open_then.h.
#include "collect/open_then.h"

#include <algorithm>
#include <utility>

namespace penna {

namespace {
constexpr size_t kThreadBytes = 640;  // a map node and an empty deque, which holds a block and a table of blocks
}

size_t RecentOpenCalls::weight_of(const Time& time) { return sizeof(Time) + time.pcs.capacity() * sizeof(uint64_t); }

void RecentOpenCalls::forget_oldest(std::deque<Time>& times) {
  share_.give_waiting_back(weight_of(times.front()));
  times.pop_front();
}

void RecentOpenCalls::forget(Threads::iterator thread) {
  while (!thread->second.empty()) forget_oldest(thread->second);
  threads_.erase(thread);
  share_.give_waiting_back(kThreadBytes);
}

void RecentOpenCalls::note(uint32_t serial, uint64_t ticks, std::vector<uint64_t> pcs) {
  auto thread = threads_.find(serial);
  if (thread == threads_.end()) {
    if (threads_.size() >= kMostThreads)
      forget(std::min_element(threads_.begin(), threads_.end(), [](const auto& a, const auto& b) {
        return a.second.back().ticks < b.second.back().ticks;
      }));
    if (!share_.take_waiting(kThreadBytes)) return;
    thread = threads_.try_emplace(serial).first;
  }
  std::deque<Time>& times = thread->second;
  const bool known = pcs.size() <= kMostCalls;
  Time time{ticks, known, known ? std::move(pcs) : std::vector<uint64_t>{}};
  if (times.size() >= kMostTimes) forget_oldest(times);
  // Without its latest entry, at() would return an older one instead.
  if (!share_.take_waiting(weight_of(time))) return forget(thread);
  times.push_back(std::move(time));
}

const std::vector<uint64_t>* RecentOpenCalls::at(uint32_t serial, uint64_t ticks) const {
  const auto found = threads_.find(serial);
  if (found == threads_.end()) return nullptr;
  const auto last = std::find_if(found->second.rbegin(), found->second.rend(),
                                 [ticks](const Time& time) { return time.ticks <= ticks; });
  return last != found->second.rend() && last->known ? &last->pcs : nullptr;
}

}  // namespace penna
