// SPDX-License-Identifier: MIT
// See view_data.h.
#include "view/view_data.h"

#include "model/blocks/allocations.h"

namespace penna {

ViewData::ViewData(const Recording& recording, Names& names, std::function<void()> step)
    : recording_(recording), names_(names), step_(std::move(step)), summary_(summarize(recording)) {}

const std::vector<Track>& ViewData::tracks() {
  look();
  return tracks_;
}

const Counters& ViewData::counters() {
  look();
  return *counters_;
}

void ViewData::look() {
  if (counters_) return;
  tracks_ = make_tracks(recording_, names_.map(), names_, ids_, step_, &walk_);
  const uint64_t begin = summary_.first_time;
  counters_.emplace(summary_.duration_ns, recording_.processes().size(),
                    [this, begin](uint64_t ticks) { return recording_.time().duration_ns(begin, ticks); });
  for (const Track& track : tracks_) {
    for (const Slices& row : track.rows)
      for (const int64_t start : row.start) counters_->count(Counters::kCalls, start);
    for (const TrackWait& wait : track.waits) counters_->count(Counters::kWaits, wait.start);
    for (const TrackPoint& point : track.points) counters_->count(Counters::kPoints, point.time);
  }
  if (summary_.events[PENNA_ALLOC] != 0) {
    AllocationOptions options;
    options.observer = &*counters_;
    Allocations heap(recording_, std::move(options));
    walk_.add(for_each_event(recording_, {.classes = kAllocEvents, .all_threads = true},
                             [&](const Event& event) { heap(event); }));
    heap.finish();
  }
  counters_->finish();
}

}  // namespace penna
