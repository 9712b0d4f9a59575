// SPDX-License-Identifier: MIT
// See wait_rows.h.
#include "model/locks/wait_rows.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "model/events/summary.h"

namespace penna {
namespace {

WaitEnd how_it_ended(uint32_t end) {
  switch (end) {
    case PENNA_WAIT_GOT: return WaitEnd::kGot;
    case PENNA_WAIT_TIMEOUT: return WaitEnd::kTimeout;
    case PENNA_WAIT_OWNER_DIED: return WaitEnd::kOwnerDied;
    default: return WaitEnd::kError;
  }
}

uint64_t overlap(uint64_t begin, uint64_t end, uint64_t from, uint64_t to) {
  begin = std::max(begin, from);
  end = std::min(end, to);
  return end > begin ? end - begin : 0;
}

}  // namespace

WaitRows::WaitRows(const HolderTracker& tracker, OnWait on_wait, OnHold on_hold)
    : tracker_(tracker),
      from_(call_rules(tracker.recording()) == nullptr ? 0 : call_rules(tracker.recording())->begin),
      on_wait_(std::move(on_wait)),
      on_hold_(std::move(on_hold)),
      waiting_(tracker.recording().threads().size()) {}
WaitRows::~WaitRows() = default;

WaitRows::Contended& WaitRows::contended(uint32_t object) {
  if (object >= contended_.size()) contended_.resize(tracker_.objects().size());
  return contended_[object];
}

void WaitRows::operator()(const Event& event, const LockStep& step) {
  if (step.dropped.is_open()) drop_wait(event, step);
  switch (step.read.action) {
    case LockAction::kRequested: return begin_wait(event, step);
    case LockAction::kTaken:
      if (step.asked.is_open()) leave_queue(event.thread, step.asked.begin, event.time);
      return;
    case LockAction::kWaited:
    case LockAction::kConditionWaited: return end_wait(event, step);
    case LockAction::kReleased:
    case LockAction::kWoke: return released(event, step);
    default: return;
  }
}

void WaitRows::begin_wait(const Event& event, const LockStep& step) {
  Contended& at = contended(step.object);
  Waiting& wait = waiting_[event.thread];
  wait = {.object = step.object, .place = at.waiters.size(), .last_end = wait.last_end};
  at.waiters.push_back(event.thread);
  if (!knows_holder(step.read.sync)) return;
  tracker_.for_each_holder(step.object, [&](const LockHold& hold) {
    if (wait.other != kNoIndex || hold.thread == event.thread) return;
    const bool is_elsewhere = tracker_.recording().threads()[hold.thread].process != event.process;
    wait.other = hold.thread;
    wait.other_stack = is_elsewhere ? hold.holder_stack : hold.stack;
    wait.side = wait.other_stack != 0 ? OtherSide::kHeld : OtherSide::kUnknown;
  });
}

// A thread that waits for several futexes may be woken by another one than it requested: hence `object`.
void WaitRows::leave_queue(uint32_t thread, uint64_t begin, uint64_t time) {
  Waiting& mine = waiting_[thread];
  if (mine.object == kNoIndex) return;
  Contended& at = contended(std::exchange(mine.object, kNoIndex));
  waiting_[at.waiters.back()].place = mine.place;
  at.waiters[mine.place] = at.waiters.back();
  at.waiters.pop_back();
  if (time > begin && time - begin > at.past_end - at.past_begin) {
    at.past_begin = begin;
    at.past_end = time;
  }
}

// The thread went on. If all that is known is the end of another wait, it went on when that one began.
void WaitRows::drop_wait(const Event& event, const LockStep& step) {
  const bool ends_another = step.read.action == LockAction::kWaited || step.read.action == LockAction::kConditionWaited;
  const uint64_t end = ends_another ? std::min(step.read.begin, event.time) : event.time;
  if (end > step.dropped.begin) return finish_wait(event.thread, step.dropped, end, WaitEnd::kLeft);
  leave_queue(event.thread, step.dropped.begin, end);
}

void WaitRows::end_wait(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  OpenWait wait = step.asked;
  Waiting& mine = waiting_[event.thread];
  if (!wait.is_open()) mine = {.last_end = mine.last_end};  // its request was not recorded
  wait.object = step.object;
  wait.sync = read.action == LockAction::kConditionWaited ? PENNA_SYNC_CONDITION : read.sync;
  wait.begin = std::min(read.begin, event.time);
  if (read.stack != 0) wait.stack = read.stack;
  if (read.sync == PENNA_SYNC_JOIN && read.action == LockAction::kWaited) mine.other = step.hold.thread;
  // The lock was free because its owner had died: this is not a wait.
  if (read.end == PENNA_WAIT_OWNER_DIED && wait.begin == event.time)
    return leave_queue(event.thread, wait.begin, event.time);
  const uint64_t end = read.action == LockAction::kConditionWaited ? retaking_since(event, step) : event.time;
  finish_wait(event.thread, wait, end, how_it_ended(read.end));
  if (end < event.time) end_retaking(event, step, wait.stack, end);
}

// From when on a wait for a condition was one for its mutex, as in Locks; its end if it never was.
uint64_t WaitRows::retaking_since(const Event& event, const LockStep& step) {
  const Contended& condition = contended(step.object);
  Contended& mutex = contended(step.mutex);
  mutex.recent.begin(mutex.last);
  const uint64_t woken = condition.woken;
  const bool is_woken = condition.waker != kNoIndex && woken >= step.read.begin && woken < event.time;
  if (!is_woken || step.read.end != PENNA_WAIT_GOT || mutex.last.thread == event.thread) return event.time;
  return mutex_was_held(woken, mutex.last.time, event.time) ? woken : event.time;
}

void WaitRows::end_retaking(const Event& event, const LockStep& step, uint32_t stack, uint64_t since) {
  Waiting& mine = waiting_[event.thread];
  mine = {.last_end = mine.last_end};
  const RecentRing<Release>& holders = contended(step.mutex).recent;
  for (size_t i = 0; i < holders.size() && mine.other == kNoIndex; ++i) {
    const Release& one = holders[i];
    if (one.time <= since) continue;
    mine.other = one.thread;
    mine.other_stack = one.stack;
    mine.side = one.side;
  }
  finish_wait(event.thread, {step.mutex, step.read.sync, stack, 0, since}, event.time, WaitEnd::kGot, true);
}

void WaitRows::finish_wait(uint32_t thread, const OpenWait& wait, uint64_t end, WaitEnd how, bool retaken) {
  leave_queue(thread, wait.begin, end);
  if (!on_wait_) return;
  Waiting& mine = waiting_[thread];
  WaitRow row;
  row.process = tracker_.recording().threads()[thread].process;
  row.thread = thread;
  row.object = wait.object;
  row.sync = wait.sync;
  row.address = tracker_.objects()[wait.object].address;
  row.end = std::max(mine.last_end, end);
  row.begin = std::min(std::max(wait.begin, mine.last_end), row.end);
  mine.last_end = row.end;
  if (precedes_range(row.begin, row.end)) return;
  row.begin = std::max(row.begin, from_);
  row.how = how;
  row.retaken = retaken;
  row.stack = wait.stack;
  row.side = mine.side;
  row.other = mine.other;
  row.other_stack = mine.other_stack;
  if (wait.sync == PENNA_SYNC_JOIN && row.other != kNoIndex && how == WaitEnd::kGot) row.side = OtherSide::kWoke;
  const Contended& at = contended(wait.object);
  const bool was_woken = at.waker != kNoIndex && at.waker != thread && at.woken >= wait.begin && at.woken <= end;
  if (!knows_holder(wait.sync) && how == WaitEnd::kGot && was_woken) {
    row.side = OtherSide::kWoke;
    row.other = at.waker;
    row.other_stack = at.waker_stack;
  }
  on_wait_(row);
}

void WaitRows::released(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  if (read.action == LockAction::kWoke || !knows_holder(read.sync)) {
    Contended& at = contended(step.object);
    at.waker = event.thread;
    at.waker_stack = read.stack;
    at.woken = event.time;
    return;
  }
  if (!step.released) return;
  const OtherSide side = step.hold.stack != 0 ? OtherSide::kHeld
                         : read.stack != 0    ? OtherSide::kReleased
                                              : OtherSide::kUnknown;
  // Its own time, as in Locks.
  const uint64_t time = std::max(event.record.time, step.hold.since);
  Contended& at = contended(step.object);
  at.last = {event.thread, step.hold.stack != 0 ? step.hold.stack : read.stack, side, time};
  at.recent.add(at.last);
  for (const uint32_t thread : at.waiters) {
    Waiting& wait = waiting_[thread];
    if (wait.other == kNoIndex) wait.other = event.thread;
    if (wait.other != event.thread || wait.other_stack != 0) continue;
    wait.other_stack = at.last.stack;
    wait.side = side;
  }
  if (!step.hold.learned) report_hold(step.object, step.hold, time, read.stack, false);
  if (tracker_.holder(step.object).thread == kNoIndex) at.past_begin = at.past_end = 0;
}

uint64_t WaitRows::longest_wait(uint32_t object, const LockHold& hold, uint64_t end) const {
  if (object >= contended_.size()) return 0;
  const Contended& at = contended_[object];
  const uint64_t since = std::max(hold.since, from_);
  uint64_t longest = overlap(at.past_begin, at.past_end, since, end);
  for (const uint32_t thread : at.waiters)
    if (thread != hold.thread) longest = std::max(longest, overlap(tracker_.wait_of(thread).begin, end, since, end));
  return longest;
}

void WaitRows::report_hold(uint32_t object, const LockHold& hold, uint64_t end, uint32_t release_stack, bool open) {
  if (!on_hold_) return;
  const SyncObject& of = tracker_.objects()[object];
  HoldRow row;
  row.process = of.process;
  row.thread = hold.thread;
  row.object = object;
  row.sync = of.sync == PENNA_SYNC_READ && !hold.shared ? PENNA_SYNC_WRITE : of.sync;
  row.shared = hold.shared;
  row.open = open;
  row.address = of.address;
  row.begin = hold.since;
  row.end = std::max(hold.since, end);
  if (precedes_range(row.begin, row.end)) return;
  row.begin = std::max(row.begin, from_);
  row.stack = hold.stack;
  row.release_stack = release_stack;
  row.longest_wait = longest_wait(object, hold, row.end);
  on_hold_(row);
}

void WaitRows::finish() {
  const Recording& recording = tracker_.recording();
  const std::vector<uint64_t> ends = open_ends(recording, summarize(recording));
  const auto end_of = [&](uint32_t thread) { return ends[recording.threads()[thread].process]; };
  for (uint32_t object = 0; object < tracker_.objects().size(); ++object) {
    tracker_.for_each_holder(object, [&](const LockHold& hold) {
      if (!hold.learned) report_hold(object, hold, end_of(hold.thread), 0, true);
    });
  }
  for (uint32_t thread = 0; thread < waiting_.size(); ++thread)
    if (const OpenWait& wait = tracker_.wait_of(thread); wait.is_open())
      finish_wait(thread, wait, std::max(wait.begin, end_of(thread)), WaitEnd::kOpen);
}

size_t WaitRows::count_open_before(uint64_t time) const {
  size_t count = 0;
  for (uint32_t thread = 0; on_wait_ && thread < waiting_.size(); ++thread) {
    const OpenWait& wait = tracker_.wait_of(thread);
    count += wait.is_open() && wait.begin < time;
  }
  for (uint32_t object = 0; on_hold_ && object < tracker_.objects().size(); ++object)
    tracker_.for_each_holder(object, [&](const LockHold& hold) { count += !hold.learned && hold.since < time; });
  return count;
}

namespace {

// The rows of one kind that overlap the range and whose thread was asked for; stops when the visitor has seen enough.
template <typename Row>
class RowWalk {
 public:
  RowWalk(const Recording& recording, const RowOptions& options, const std::function<bool(const Row&)>& on_row)
      : recording_(recording), options_(options), on_row_(on_row), tracker_(recording), rows_(make_rows()) {
    if (const CallRules* rules = call_rules(recording)) {
      options_.begin = std::max(options_.begin, rules->begin);
      options_.end = std::min(options_.end, rules->end);
    }
  }

  WalkReport walk() {
    const uint32_t classes = kLockEvents | (options_.follow_memory ? kAllocEvents : 0);
    const auto visit = [this](const Event& event) { return add(event); };
    // Events before the range establish who holds what.
    for_each_event(recording_, {.classes = classes, .past = true, .all_threads = true}, visit);
    if (stopped_) return {};
    WalkReport report = for_each_event(recording_, {.classes = classes, .all_threads = true}, visit);
    if (!report.stopped) rows_.finish();
    report.stopped = stopped_;
    return report;
  }

 private:
  WaitRows make_rows() {
    const auto give = [this](const Row& row) {
      if (past_range_ && row.begin < options_.end && open_ != 0) --open_;
      const bool overlaps = row.begin < options_.end && (row.end > options_.begin || row.begin >= options_.begin);
      if (!stopped_ && overlaps && takes_thread(recording_, row.thread)) stopped_ = !on_row_(row);
    };
    if constexpr (std::is_same_v<Row, WaitRow>)
      return {tracker_, give, {}};
    else
      return {tracker_, {}, give};
  }
  bool add(const Event& event) {
    if (options_.step) options_.step();
    if (event.time >= options_.end && is_done()) return false;
    rows_(event, tracker_.take(event));
    return !stopped_;
  }
  // After the range, only the ends of what began in it are read. (What is counted may have been given up without a
  // row.)
  bool is_done() {
    past_range_ = true;
    if (open_ == 0) open_ = rows_.count_open_before(options_.end);
    return open_ == 0;
  }

  const Recording& recording_;
  RowOptions options_;
  const std::function<bool(const Row&)>& on_row_;
  bool stopped_ = false;
  bool past_range_ = false;
  size_t open_ = 0;  // how many rows the range began and not ended, at the last count
  HolderTracker tracker_;
  WaitRows rows_;
};

}  // namespace

WalkReport for_each_wait(const Recording& recording, const RowOptions& options,
                         const std::function<bool(const WaitRow&)>& on_row) {
  return RowWalk<WaitRow>(recording, options, on_row).walk();
}

WalkReport for_each_hold(const Recording& recording, const RowOptions& options,
                         const std::function<bool(const HoldRow&)>& on_row) {
  return RowWalk<HoldRow>(recording, options, on_row).walk();
}

}  // namespace penna
