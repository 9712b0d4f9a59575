// SPDX-License-Identifier: MIT
// See critical_path.h.
#include "model/locks/critical_path.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace penna {

WaitHistory::WaitHistory(const HolderTracker& held) : held_(held), waits_(held.recording().threads().size()) {}

WaitHistory::Release& WaitHistory::release_of(uint32_t object) {
  if (object >= releases_.size()) releases_.resize(held_.objects().size());
  return releases_[object];
}

void WaitHistory::operator()(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  if (step.dropped.is_open())
    add(event.thread, {step.dropped.begin, event.time, step.dropped.object, step.dropped.stack});
  switch (read.action) {
    case LockAction::kTaken:
      if (step.asked.is_open()) end_wait(event, step);
      return;
    case LockAction::kWaited:
    case LockAction::kConditionWaited: return end_wait(event, step);
    case LockAction::kWoke: release_of(step.object) = {event.thread, read.stack, event.time, 0}; return;
    case LockAction::kReleased:
      if (step.released) {
        release_of(step.object) = {event.thread, step.hold.stack != 0 ? step.hold.stack : read.stack, event.time,
                                   step.hold.since};
      } else if (!knows_holder(read.sync)) {
        release_of(step.object) = {event.thread, read.stack, event.time, 0};
      }
      return;
    default: return;
  }
}

void WaitHistory::end_wait(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  TimedWait wait;
  wait.begin = std::min(step.asked.is_open() ? step.asked.begin : read.begin, event.time);
  wait.end = event.time;
  wait.object = step.object;
  wait.stack = read.stack != 0 ? read.stack : step.asked.stack;
  Release cause = release_of(step.object);
  if (read.sync == PENNA_SYNC_JOIN) cause = {step.hold.thread, 0, event.time, 0};
  // After the signal it in fact waited for the mutex, if that was released later.
  if (step.mutex != kNoIndex)
    if (const Release& mutex = release_of(step.mutex); mutex.time > cause.time && mutex.thread != event.thread)
      cause = mutex;
  if (cause.thread == event.thread && cause.time >= wait.begin) return;  // the last thread to arrive at a barrier
  const bool ended_it = cause.thread != kNoIndex && cause.time > wait.begin;
  if (ended_it && read.end != PENNA_WAIT_TIMEOUT) {
    wait.waker = cause.thread;
    wait.wake_time = cause.time;
    wait.taken_stack = cause.stack;
    wait.held_since = cause.since;
  }
  add(event.thread, wait);
}

void WaitHistory::add(uint32_t thread, TimedWait wait) {
  std::vector<TimedWait>& waits = waits_[thread];
  // A thread waits for one thing at a time; if a recording says otherwise, waits are cut, so that they are sorted and
  // disjoint.
  if (!waits.empty()) wait.begin = std::max(wait.begin, waits.back().end);
  if (wait.begin >= wait.end) return;
  if (count_ == kMostWaits) forget_half();
  waits.push_back(wait);
  ++count_;
}

void WaitHistory::forget_half() {
  for (std::vector<TimedWait>& waits : waits_) {
    const size_t half = (waits.size() + 1) / 2;
    if (half == 0) continue;
    forgotten_until_ = std::max(forgotten_until_, waits[half - 1].end);
    waits.erase(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(half));
    count_ -= half;
  }
}

void WaitHistory::finish(std::span<const uint64_t> ends) {
  for (uint32_t thread = 0; thread < waits_.size(); ++thread)
    if (const OpenWait& wait = held_.wait_of(thread); wait.is_open())
      add(thread, {wait.begin, ends[held_.recording().threads()[thread].process], wait.object, wait.stack});
}

namespace {

// Goes back in time from the end of a thread. Each step consumes a wait, so the walk terminates.
class PathWalk {
 public:
  PathWalk(const WaitHistory& history, uint32_t thread, uint64_t begin, uint64_t end, const PathVisitor& visit)
      : history_(history), visit_(visit), asked_(thread), thread_(thread), now_(end), begin_(begin) {
    const Recording& recording = history.held().recording();
    for (uint32_t i = 0; i < recording.threads().size(); ++i) left_.push_back(history.of(i).size());
  }

  CriticalPath walk() {
    CriticalPath path{asked_, begin_, now_, {}};
    const uint64_t known_from = std::max(begin_, history_.forgotten_until());
    while (now_ > known_from && step(known_from)) {
    }
    spend(PathPart::What::kNotKnown, begin_, kNoIndex, 0);
    for (const auto& [key, part] : parts_) path.parts.push_back(part);
    std::stable_sort(path.parts.begin(), path.parts.end(),
                     [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
    return path;
  }

 private:
  // False: what came before is unknown.
  bool step(uint64_t known_from) {
    const std::vector<TimedWait>& waits = history_.of(thread_);
    size_t& left = left_[thread_];
    // The path only goes back in time, so what begins after it is never needed again.
    while (left != 0 && waits[left - 1].begin >= now_) --left;
    if (left == 0) return reach_first(known_from);
    const TimedWait& wait = waits[--left];
    run_until(std::max(wait.end, known_from));
    if (now_ <= known_from) return false;
    if (wait.waker != kNoIndex && wait.wake_time <= now_) {
      spend(PathPart::What::kWaited, std::max(wait.wake_time, known_from), wait.object, wait.stack);
      // What the waiter did before is not on the path: it would have waited anyway.
      thread_ = wait.waker;
      holding_ = wait;
    } else {
      spend(PathPart::What::kWaited, std::max(wait.begin, known_from), wait.object, wait.stack);
    }
    return true;
  }
  // Some thread must have started this one: most often the one that later waits for it.
  bool reach_first(uint64_t known_from) {
    run_until(std::max(first_time(thread_), known_from));
    if (thread_ == asked_ || now_ <= known_from) {
      run_until(known_from);
      return false;
    }
    thread_ = asked_;
    holding_ = {};
    return true;
  }
  void run_until(uint64_t time) {
    if (holding_.held_since != 0 && holding_.held_since < now_)
      spend(PathPart::What::kRanHolding, std::max(time, holding_.held_since), holding_.object, holding_.taken_stack);
    spend(PathPart::What::kRan, time, kNoIndex, 0);
  }
  void spend(PathPart::What what, uint64_t until, uint32_t object, uint32_t stack) {
    if (until >= now_) return;
    PathPart& part = parts_[{thread_, what, object, stack}];
    part.thread = thread_;
    part.what = what;
    part.object = object;
    part.stack = stack;
    part.time += now_ - until;
    ++part.count;
    if (visit_) visit_(part, until, now_);
    now_ = until;
  }
  uint64_t first_time(uint32_t thread) const {
    const auto chunks = history_.held().recording().chunks(thread);
    return chunks.empty() ? 0 : chunks[0].time_begin;
  }

  const WaitHistory& history_;
  const PathVisitor& visit_;
  const uint32_t asked_;
  uint32_t thread_;
  uint64_t now_;
  const uint64_t begin_;
  TimedWait holding_;         // the wait that led the path here: its waker is thread_
  std::vector<size_t> left_;  // by thread: number of waits before the path
  std::map<std::tuple<uint32_t, PathPart::What, uint32_t, uint32_t>, PathPart> parts_;
};

}  // namespace

CriticalPath critical_path(const WaitHistory& history, uint32_t thread, uint64_t begin, uint64_t end,
                           const PathVisitor& visit) {
  return PathWalk(history, thread, std::min(begin, end), end, visit).walk();
}

}  // namespace penna
