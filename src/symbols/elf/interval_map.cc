// SPDX-License-Identifier: MIT
// See interval_map.h.
#include "symbols/elf/interval_map.h"

#include <algorithm>

#include "base/free_memory.h"

namespace penna {

void IntervalMap::add(uint64_t begin, uint64_t end, uint32_t value) {
  if (begin < end) intervals_.push_back({begin, end, value});
}

void IntervalMap::cut(uint64_t begin, uint32_t value) {
  if (!cuts_.empty() && cuts_.back().begin == begin) {
    cuts_.back().value = value;
  } else if (cuts_.empty() ? value != kNone : cuts_.back().value != value) {
    cuts_.push_back({begin, value});
  }
}

void IntervalMap::finish() {
  std::sort(intervals_.begin(), intervals_.end(), [](const Interval& a, const Interval& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    // If two begin together the wider one is outside; if they are equal the larger value is on top.
    if (a.end != b.end) return a.end > b.end;
    return a.value < b.value;
  });
  cuts_.reserve(intervals_.size() + intervals_.size() / 4);
  std::vector<const Interval*> open;  // innermost last
  // Closes what ends at or before `until`, innermost first, and returns the rest to the surrounding interval.
  auto close = [&](uint64_t until) {
    while (!open.empty() && open.back()->end <= until) {
      uint64_t end = open.back()->end;
      // Those that only overlap, and end before what was put on top of them, are over as well.
      while (!open.empty() && open.back()->end <= end) open.pop_back();
      cut(end, open.empty() ? kNone : open.back()->value);
    }
  };
  for (const Interval& interval : intervals_) {
    close(interval.begin);
    cut(interval.begin, interval.value);
    open.push_back(&interval);
  }
  close(UINT64_MAX);
  free_memory(intervals_);
  cuts_.shrink_to_fit();
}

uint32_t IntervalMap::find(uint64_t address) const {
  auto after =
      std::upper_bound(cuts_.begin(), cuts_.end(), address, [](uint64_t a, const Cut& cut) { return a < cut.begin; });
  return after == cuts_.begin() ? kNone : std::prev(after)->value;
}

}  // namespace penna
