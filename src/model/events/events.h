// SPDX-License-Identifier: MIT
// The events of a recording, in time order over all threads or thread by thread.
//
// Usage:  for_each_event(recording, filter, [&](const Event& event) { switch (event.record.kind) {...} });
// A visitor that returns bool ends the walk with false. One that can also be called with a CallRun gets most calls in
// batches, which is what makes call analyses fast; it sees the same calls. One with a foresee(event) is shown some
// events a little earlier, in the order of their thread. One pass, one decoded chunk (64 KiB) per
// thread being merged: a thread is opened when its first event is due, and closed after its last.
// Invariant: within a thread, events keep the order in which they were written, and their times never decrease (a
// nested signal handler may have stamped slightly back: such times are raised to that of the preceding event).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/events/event_cursor.h"

namespace penna {

// What a walk could not see. Show it to the user with the result.
struct WalkReport {
  uint64_t events = 0;                   // passed to the visitor
  uint64_t chunks = 0;                   // decoded
  uint64_t unreadable = 0;               // chunks whose block could not be read
  uint64_t damaged = 0;                  // chunks that could not be decoded to their end
  uint64_t torn = 0;                     // unfinished records, in the decoded chunks
  uint64_t holes = 0;                    // reserved places in which nothing was written
  std::string first_error;               // of the first unreadable chunk
  bool stopped = false;                  // by the visitor
  void add(const ThreadCursor& cursor);  // after a thread is done
  void add(const WalkReport& part);      // another walk of the same recording; `stopped` is that of the last
};

namespace detail {
// Passes the cursor's event to the visitor and, if it takes runs, the calls after it that lie before `limit`.
// False: the visitor has seen enough.
template <typename Visit>
inline bool visit_next(Visit& visit, ThreadCursor& cursor, uint64_t limit, WalkReport& report) {
  const Event& event = cursor.event();
  ++report.events;
  if constexpr (requires { visit.foresee(event); })
    for (const Event& one : cursor.foreseen()) visit.foresee(one);
  if constexpr (std::is_same_v<std::invoke_result_t<Visit&, const Event&>, bool>) {
    report.stopped = !visit(event);
  } else {
    visit(event);
    if constexpr (std::is_invocable_v<Visit&, const CallRun&>) {
      CallRun run{event.process, event.thread, {}};
      while (run.calls = cursor.next_calls(limit), !run.calls.empty()) {
        report.events += run.calls.size();
        visit(static_cast<const CallRun&>(run));
      }
    }
  }
  return !report.stopped;
}

// The threads of a merge: a binary heap by the time of their next event. Threads stay unopened until they are due. An
// event costs one comparison with the runner-up's time, a change of thread one sift.
class MergeQueue {
 public:
  static constexpr uint32_t kMostAhead = 16;  // threads at a time whose chunks are unpacked ahead: each holds some

  MergeQueue(const Recording& recording, const EventFilter& filter);
  // The thread with the earliest next event, positioned on it; null at the end. For equal times the lower thread.
  ThreadCursor* top(WalkReport& report) {
    while (!heap_.empty() && heap_[0].cursor == nullptr) open_top(report);
    return heap_.empty() ? nullptr : heap_[0].cursor;
  }
  // The top thread's events before this time precede those of all others.
  uint64_t runner_up() const {
    const uint64_t left = heap_.size() > 1 ? heap_[1].time : UINT64_MAX;
    const uint64_t right = heap_.size() > 2 ? heap_[2].time : UINT64_MAX;
    return left < right ? left : right;
  }
  // After reading on in the top thread: moves it to its new place, or removes it if it has no more events.
  void place_top(bool has_event, WalkReport& report) {
    if (!has_event) return remove_top(report);
    heap_[0].time = heap_[0].cursor->event().time;
    sift();
  }
  void finish(WalkReport& report) const;  // counts the threads that were not read to the end

 private:
  struct Entry {
    uint64_t time;
    uint32_t thread;
    bool ahead;            // may have its chunks unpacked ahead
    ThreadCursor* cursor;  // null before it is due
    bool operator<(const Entry& other) const { return time != other.time ? time < other.time : thread < other.thread; }
  };
  void sift() {
    const Entry moved = heap_[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < moved)) break;
      heap_[at] = heap_[child];
    }
    heap_[at] = moved;
  }
  void open_top(WalkReport& report);
  void remove_top(WalkReport& report);

  const Recording& recording_;
  EventFilter filter_;
  std::shared_ptr<Unpackers> unpackers_ = std::make_shared<Unpackers>();
  uint32_t ahead_ = 0;                                  // number of open threads with it
  std::vector<Entry> heap_;                             // smallest first
  std::vector<std::unique_ptr<ThreadCursor>> cursors_;  // by thread; those that are open
};
}  // namespace detail

// All events that pass the filter, in time order. Events at equal times come by thread index, and within a thread as
// written; no order between kinds is made up.
template <typename Visit>
WalkReport for_each_event(const Recording& recording, const EventFilter& filter, Visit&& visit) {
  WalkReport report;
  detail::MergeQueue queue(recording, filter);
  while (ThreadCursor* cursor = queue.top(report)) {
    const uint64_t limit = queue.runner_up();
    bool more = true;
    do {
      if (!detail::visit_next(visit, *cursor, limit, report)) break;
      more = cursor->next();
    } while (more && cursor->event().time < limit);
    if (report.stopped) break;
    queue.place_top(more, report);
  }
  queue.finish(report);
  return report;
}

// All events of one thread (index). False: the visitor has stopped.
template <typename Visit>
bool for_each_event_of(const Recording& recording, uint32_t thread, const EventFilter& filter, Visit&& visit,
                       const std::shared_ptr<Unpackers>& unpackers, WalkReport& report) {
  if (!filter.wants_thread(recording, thread)) return true;
  ThreadCursor cursor(recording, thread, filter, unpackers);
  while (cursor.next() && detail::visit_next(visit, cursor, UINT64_MAX, report)) {
  }
  report.add(cursor);
  return !report.stopped;
}

// The same without merging: all events of the first thread, then of the next. Faster, for code that looks at each
// thread by itself.
template <typename Visit>
WalkReport for_each_thread_event(const Recording& recording, const EventFilter& filter, Visit&& visit) {
  WalkReport report;
  const auto unpackers = std::make_shared<Unpackers>();
  for (uint32_t thread = 0; thread < recording.threads().size(); ++thread)
    if (!for_each_event_of(recording, thread, filter, visit, unpackers, report)) break;
  return report;
}

// for_each_event() as a pull interface: one event at a time.
class MergedEvents {
 public:
  MergedEvents(const Recording& recording, const EventFilter& filter) : queue_(recording, filter) {}
  // Valid until the next call; null at the end.
  const Event* next() {
    if (cursor_ != nullptr) {
      const bool more = cursor_->next();
      if (more && cursor_->event().time < limit_) return &cursor_->event();
      queue_.place_top(more, report_);
    }
    cursor_ = queue_.top(report_);
    limit_ = queue_.runner_up();
    return cursor_ == nullptr ? nullptr : &cursor_->event();
  }
  // What could not be read so far.
  WalkReport report() const {
    WalkReport report = report_;
    queue_.finish(report);
    return report;
  }

 private:
  detail::MergeQueue queue_;
  ThreadCursor* cursor_ = nullptr;  // that returned the last event
  uint64_t limit_ = 0;              // its events before this time precede all others
  WalkReport report_;
};

// For code that pairs events and reads a range of a recording: first visits what precedes the range, then calls
// begin_range(its beginning, in ticks).
template <typename Visit>
void visit_past(const Recording& recording, uint32_t classes, Visit& visit) {
  const CallRules* rules = call_rules(recording);
  if (rules == nullptr || rules->begin == 0) return;
  for_each_event(recording, {.classes = classes, .past = true, .all_threads = true}, visit);
  visit.begin_range(rules->begin);
}

}  // namespace penna
