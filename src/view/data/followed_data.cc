// SPDX-License-Identifier: MIT
// See followed_data.h.
#include "view/data/followed_data.h"

#include <algorithm>
#include <utility>

namespace penna {

std::shared_ptr<const Summary> FollowedData::summary() const {
  const std::lock_guard hold(mutex_);
  return summary_;
}

// The metadata give everything except the events: these were counted as they came.
void FollowedData::settle(uint64_t now_ticks) {
  tracks_.settle(now_ticks);
  auto summary = std::make_shared<Summary>(summarize(recording_));
  for (ThreadSummary& thread : summary->threads) {
    thread.events = tracks_.events(thread.thread);
    thread.first_time = tracks_.first_time(thread.thread);
    thread.last_time = tracks_.last_time(thread.thread);
    ProcessSummary& process = summary->processes[thread.process];
    for (uint32_t kind = 0; kind < PENNA_CLASS_COUNT; ++kind) {
      process.events[kind] += thread.events[kind];
      summary->events[kind] += thread.events[kind];
    }
    process.last_time = std::max(process.last_time, thread.last_time);
    summary->last_time = std::max(summary->last_time, thread.last_time);
  }
  const bool any = summary->first_time != 0;
  // Time also passes for a program that waits.
  if (any) summary->last_time = std::max(summary->last_time, now_ticks);
  summary->duration_ns = any ? recording_.time().duration_ns(summary->first_time, summary->last_time) : 0;
  const std::lock_guard hold(mutex_);
  summary_ = std::move(summary);
}

}  // namespace penna
