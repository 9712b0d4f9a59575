// SPDX-License-Identifier: MIT
// See critical_sections.h.
#include "critical_sections.h"

#include <utility>

namespace penna {

uint32_t CriticalSections::add_thread(uint64_t id) {
  threads_.push_back({id});
  return static_cast<uint32_t>(threads_.size() - 1);
}

// Open sections of one thread and one lock are a list, linked through `other` from the innermost
// outwards.
bool CriticalSections::taken(uint32_t thread, uint64_t lock, uint64_t time) {
  if (events_.size() >= kMostEvents) return false;
  const auto index = static_cast<uint32_t>(events_.size());
  auto [last, is_first] = threads_[thread].open.try_emplace(lock, index);
  const uint32_t outer = is_first ? kNone : std::exchange(last.value(), index);
  events_.push_back({lock, time, thread, outer});
  return true;
}

// Closes the innermost open section: both its events now refer to each other. If there is none, the lock was acquired
// before the recording, and the event has no other end.
bool CriticalSections::released(uint32_t thread, uint64_t lock, uint64_t time) {
  if (events_.size() >= kMostEvents) return false;
  const auto index = static_cast<uint32_t>(events_.size());
  Event event{lock, time, thread | kReleased, kNone};
  NumberMap<uint32_t>& open = threads_[thread].open;
  if (auto last = open.find(lock); last != open.end()) {
    event.other = last->second;
    const uint32_t outer = std::exchange(events_[event.other].other, index);
    if (outer == kNone) {
      open.erase(last);
    } else {
      last.value() = outer;
    }
  }
  events_.push_back(event);
  return true;
}

// What is open was never released: its events refer to nothing.
void CriticalSections::finish() {
  for (Thread& thread : threads_) {
    for (const auto& [lock, last] : thread.open)
      for (uint32_t at = last; at != kNone;) at = std::exchange(events_[at].other, kNone);
    thread.open.clear();
  }
}

}  // namespace penna
