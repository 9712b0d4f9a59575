// SPDX-License-Identifier: MIT
// See tracks_in_memory.h.
#include "view/tracks/tracks_in_memory.h"

#include "model/blocks/allocations.h"

namespace penna {

TracksInMemory::TracksInMemory(const Recording& recording, const Summary& summary, Names& names, NameIds& ids,
                               const std::function<void()>& step, WalkReport* walk)
    : ids_(ids),
      tracks_(make_tracks(recording, names.map(), names, ids, step, walk)),
      counters_(summary.duration_ns, recording.processes().size(),
                [&recording, begin = summary.first_time](uint64_t ticks) {
                  return recording.time().duration_ns(begin, ticks);
                }) {
  for (const Track& track : tracks_) {
    for (const Slices& row : track.rows)
      for (const int64_t start : row.start) counters_.count(Counters::kCalls, start);
    for (const TrackWait& wait : track.waits) counters_.count(Counters::kWaits, wait.start);
    for (const TrackPoint& point : track.points) counters_.count(Counters::kPoints, point.time);
  }
  if (summary.events[PENNA_ALLOC] != 0) {
    AllocationOptions options;
    options.observer = &counters_;
    Allocations heap(recording, std::move(options));
    // The same chunks again: `walk` has what could not be read of them.
    for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, heap);
    heap.finish();
  }
  counters_.finish();
}

void each_name_of(const Track& track, const TrackStore::VisitName& visit) {
  using Named = TrackStore::Named;
  for (const Slices& row : track.rows)
    for (size_t i = 0; i < row.size(); ++i) visit(Named::kFunction, row.name[i], 1, row.end[i] - row.start[i]);
  for (const TrackHold& hold : track.holds) visit(Named::kLock, hold.name, 1, 0);
  for (const TrackWait& wait : track.waits) visit(Named::kLock, wait.name, 0, wait.end - wait.start);
  for (const TrackPoint& point : track.points) visit(Named::kPoint, point.name, 1, 0);
}

void TracksInMemory::each_name(const VisitName& visit) {
  for (const Track& track : tracks_) each_name_of(track, visit);
}

}  // namespace penna
