// SPDX-License-Identifier: MIT
// See events.h.
#include "model/events/events.h"

#include <algorithm>

namespace penna {

void WalkReport::add(const ThreadCursor& cursor) {
  chunks += cursor.chunks();
  if (unreadable == 0) first_error = cursor.first_error();
  unreadable += cursor.unreadable();
  damaged += cursor.damaged();
  torn += cursor.torn();
  holes += cursor.holes();
}

void WalkReport::add(const WalkReport& part) {
  events += part.events;
  chunks += part.chunks;
  if (unreadable == 0) first_error = part.first_error;
  unreadable += part.unreadable;
  damaged += part.damaged;
  torn += part.torn;
  holes += part.holes;
  stopped = part.stopped;
}

namespace detail {

MergeQueue::MergeQueue(const Recording& recording, const EventFilter& filter) : recording_(recording), filter_(filter) {
  const auto count = static_cast<uint32_t>(recording.threads().size());
  cursors_.resize(count);
  for (uint32_t thread = 0; thread < count; ++thread) {
    if (!filter.wants_thread(recording, thread)) continue;
    const ThreadCursor closed(recording, thread, filter);
    if (closed.has_more()) heap_.push_back({closed.earliest(), thread, false, nullptr});
  }
  std::sort(heap_.begin(), heap_.end());  // a sorted array is a heap
}

// Due for the first time: only now is its true time known.
void MergeQueue::open_top(WalkReport& report) {
  Entry& top = heap_[0];
  top.ahead = ahead_ < kMostAhead;
  ahead_ += top.ahead;
  auto& cursor = cursors_[top.thread] =
      std::make_unique<ThreadCursor>(recording_, top.thread, filter_, top.ahead ? unpackers_ : nullptr);
  top.cursor = cursor.get();
  place_top(cursor->next(), report);
}

void MergeQueue::remove_top(WalkReport& report) {
  auto& cursor = cursors_[heap_[0].thread];
  report.add(*cursor);
  cursor.reset();
  ahead_ -= heap_[0].ahead;
  heap_[0] = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift();
}

void MergeQueue::finish(WalkReport& report) const {
  for (const auto& cursor : cursors_)
    if (cursor) report.add(*cursor);
}

}  // namespace detail
}  // namespace penna
