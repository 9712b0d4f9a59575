// SPDX-License-Identifier: MIT
// CriticalSections: which acquisition of a lock belongs to which release, by the same thread, and how deeply the
// section is nested in others.
//
// Why all events first: only a section that ends counts as one that others are nested in, and that is known when it
// ends.
// Usage:  t = sections.add_thread(tid); sections.taken(t, lock, time); sections.released(t, lock, time); ...
//         sections.finish(); sections.for_each([](const SectionEvent& event) {...});
// Invariant: an event belongs to one section at most. Sections of one thread and one lock are nested: the last one
// acquired is released first. O(events) in time, 24 bytes for each event; times are not checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"

namespace penna {

struct SectionEvent {
  bool is_taken = false;  // else released
  uint32_t nesting = 0;   // sections of the thread that it is nested in, its own not counted
  uint64_t lock = 0;
  uint64_t thread = 0;  // as given to add_thread()
  uint64_t time = 0;
  std::optional<uint64_t> other;  // time of the section's other end; nothing: it has none
};

class CriticalSections {
 public:
  static constexpr size_t kMostEvents = (size_t{1} << 31) - 1;

  // A thread's index. One that has lost events is added again: what it held before is released by no later event.
  uint32_t add_thread(uint64_t id);
  // False: there are kMostEvents, it was not added.
  bool taken(uint32_t thread, uint64_t lock, uint64_t time);
  bool released(uint32_t thread, uint64_t lock, uint64_t time);
  void finish();  // then for_each() may be called

  size_t events() const { return events_.size(); }

  // In the order in which they were added.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    std::vector<uint32_t> depth(threads_.size());  // sections that are open and will end
    for (const Event& event : events_) {
      const bool is_taken = (event.thread & kReleased) == 0, is_paired = event.other != kNone;
      uint32_t& open = depth[event.thread & ~kReleased];
      if (is_paired && !is_taken) --open;
      SectionEvent seen{is_taken, open, event.lock, threads_[event.thread & ~kReleased].id, event.time, {}};
      if (is_paired) seen.other = events_[event.other].time;
      if (is_paired && is_taken) ++open;
      visit(static_cast<const SectionEvent&>(seen));
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX, kReleased = uint32_t{1} << 31;
  struct Event {
    uint64_t lock, time;
    uint32_t thread;  // index; with kReleased
    uint32_t other;   // of its section; while that is open: the next outer one of this thread and lock
  };
  static_assert(sizeof(Event) == 24, "as promised above");
  struct Thread {
    uint64_t id;
    NumberMap<uint32_t> open{};  // by lock: its last acquisition
  };
  std::vector<Event> events_;
  std::vector<Thread> threads_;
};

}  // namespace penna
