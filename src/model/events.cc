// SPDX-License-Identifier: MIT
// See events.h. The merge is a binary heap of threads: an event costs a comparison with the runner-up's time, and a change
// of thread one sift.
#include "model/events.h"

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

namespace detail {

MergeQueue::MergeQueue(const Recording& recording, const EventFilter& filter) : recording_(recording), filter_(filter) {
  const auto count = static_cast<uint32_t>(recording.threads().size());
  cursors_.resize(count);
  for (uint32_t thread = 0; thread < count; ++thread) {
    if (!filter.wants_thread(recording, thread)) continue;
    const ThreadCursor closed(recording, thread, filter);
    if (closed.has_more()) heap_.push_back({closed.earliest(), thread});
  }
  std::sort(heap_.begin(), heap_.end());  // a sorted array is a heap
}

ThreadCursor* MergeQueue::top(WalkReport& report) {
  while (!heap_.empty()) {
    auto& cursor = cursors_[heap_[0].thread];
    if (cursor) {
      set_runner_up();
      return cursor.get();
    }
    // Due for the first time: only now its true time is known.
    cursor = std::make_unique<ThreadCursor>(recording_, heap_[0].thread, filter_);
    place_top(cursor->next(), report);
  }
  return nullptr;
}

void MergeQueue::place_top(bool has_event, WalkReport& report) {
  auto& cursor = cursors_[heap_[0].thread];
  if (has_event) {
    heap_[0].time = cursor->event().time;
  } else {
    report.add(*cursor);
    cursor.reset();
    heap_[0] = heap_.back();
    heap_.pop_back();
  }
  down(0);
}

void MergeQueue::finish(WalkReport& report) {
  for (const auto& cursor : cursors_)
    if (cursor) report.add(*cursor);
}

void MergeQueue::down(size_t at) {
  while (2 * at + 1 < heap_.size()) {
    size_t child = 2 * at + 1;
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < heap_[at])) return;
    std::swap(heap_[at], heap_[child]);
    at = child;
  }
}

void MergeQueue::set_runner_up() {
  runner_up_ = UINT64_MAX;
  for (size_t child = 1; child < heap_.size() && child <= 2; ++child) runner_up_ = std::min(runner_up_, heap_[child].time);
}

}  // namespace detail
}  // namespace penna
