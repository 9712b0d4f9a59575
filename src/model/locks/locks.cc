// SPDX-License-Identifier: MIT
// See locks.h. Here: which lock an event is about, and who holds it. Waits are in lock_waits.cc.
#include "model/locks/locks.h"

#include <algorithm>
#include <utility>

#include "model/events/sampling.h"
#include "model/events/summary.h"

namespace penna {
Locks::Locks(const Recording& recording, const LockOptions& options)
    : Locks(std::make_unique<HolderTracker>(recording), options) {}
Locks::Locks(std::unique_ptr<HolderTracker> own, const LockOptions& options) : Locks(*own, options) {
  own_ = std::move(own);
}
Locks::Locks(const HolderTracker& tracker, const LockOptions& options)
    : tracker_(tracker),
      recording_(tracker.recording()),
      options_(options),
      families_(recording_),
      threads_(recording_),
      joins_(recording_.processes().size(), kNoIndex),
      forked_(recording_),
      last_releases_(recording_.threads().size()),
      ledger_(recording_),
      conditions_(recording_.threads().size()),
      joined_(recording_.threads().size()),
      sample_(lock_sample(recording_)) {}
Locks::~Locks() = default;

void Locks::operator()(const Event& event) {
  LockStep step = own_->begin(event);
  (*this)(event, step);
  own_->apply(event, step);
}

// Sees the holders as they were before the event: an unlock must still find the hold that it ends.
void Locks::operator()(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  for (const uint32_t object : tracker_.gone()) replaced(object);
  if (read.action == LockAction::kNone) return;
  forked_.pass(event.time);
  switch (read.action) {
    case LockAction::kTaken: return taken(use(event, step.object), event, read);
    case LockAction::kReleased: return released(event, step);
    case LockAction::kBusy: ++counted(use(event, step.object), event.thread).busy; return;
    case LockAction::kRequested: return requested(event, step);
    case LockAction::kWaited: return waited(event, step);
    case LockAction::kConditionWaited: return condition_waited(event, step);
    case LockAction::kWoke: return woke(event, step);
    case LockAction::kMade: return made(event, step);
    case LockAction::kGone: return replaced(step.object);
    default: return;
  }
}

// ---- Which lock

uint32_t Locks::use(const Event& event, uint32_t object) {
  const uint32_t index = add_lock(event, object);
  note_use(event, index);
  return index;
}

// What is waited for. Joined threads share one entry per process: each is joined once.
uint32_t Locks::use(const Event& event, const LockStep& step) {
  if (step.read.sync != PENNA_SYNC_JOIN) return use(event, step.object);
  uint32_t& index = joins_[event.process];
  if (index == kNoIndex) index = new_lock(event, LockKind::kJoin, 0, kNoIndex);
  note_use(event, index);
  return index;
}

void Locks::note_use(const Event& event, uint32_t index) {
  LockStats& counts = counted(index, event.thread);
  State& state = states_[index];
  state.used = counts.seen = true;
  const uint64_t bit = event.thread < 64 ? uint64_t{1} << event.thread : 0;
  if ((state.noted & bit) != 0) return;
  state.noted |= bit;
  std::vector<uint32_t>& threads = counts.threads;
  if (threads.empty() || threads.back() != event.thread) add_thread(threads, event.thread);
}

// The tracker's objects and the locks here are numbered separately: a lock that is initialised again before its first
// use is one lock.
uint32_t Locks::add_lock(const Event& event, uint32_t object) {
  if (object >= lock_of_.size()) lock_of_.resize(tracker_.objects().size(), kNoIndex);
  if (lock_of_[object] != kNoIndex) return lock_of_[object];
  const SyncObject& of = tracker_.objects()[object];
  return lock_of_[object] = new_lock(event, lock_kind(of.sync), of.address, object);
}

uint32_t Locks::new_lock(const Event& event, LockKind kind, uint64_t address, uint32_t object) {
  const auto next = static_cast<uint32_t>(locks_.size());
  LockStats& lock = locks_.emplace_back();
  lock.seen = false;
  lock.process = event.process;
  lock.address = address;
  lock.first_time = event.time;
  lock.kind = kind;
  inherit_name(lock);
  states_.emplace_back().object = object;
  shared_.add_lock();
  ledger_.add_lock(has_holder(kind));
  if (kind == LockKind::kCondition) states_[next].condition = conditions_.add(next);
  return next;
}

// A fork copies the memory that locks lie in, and shares what is shared: if an ancestor made or first used the lock at
// this address, this one stems from it.
void Locks::inherit_name(LockStats& lock) const {
  uint32_t process = lock.process;
  for (int hops = 0; hops < kMostAncestors && !recording_.processes()[process].process.after_exec; ++hops) {
    process = families_.parent(process);
    if (process == kNoIndex) return;
    const uint32_t same = lock_at(process, lock.kind, lock.address);
    if (same == kNoIndex) continue;
    const LockStats& its = locks_[same];
    if (its.made_stack == 0 && its.first_stack == 0) continue;
    lock.ancestor = process;
    lock.ancestor_made_stack = its.made_stack;
    lock.ancestor_first_stack = its.first_stack;
    return;
  }
}

// Another lock will be at this address: a holder of the old one can no longer release it.
void Locks::replaced(uint32_t object) {
  if (const uint32_t index = lock_of(object); index != kNoIndex) states_[index].last = {};
}

// A lock that is initialised again before its first use is the same one: initialisers may call each other.
void Locks::made(const Event& event, const LockStep& step) {
  if (const uint32_t before = step.remade == kNoIndex ? kNoIndex : lock_of(step.remade); before != kNoIndex) {
    replaced(step.remade);
    if (!states_[before].used) {
      if (step.object >= lock_of_.size()) lock_of_.resize(tracker_.objects().size(), kNoIndex);
      lock_of_[step.object] = before;
      lock_of_[step.remade] = kNoIndex;
      states_[before].object = step.object;
    }
  }
  const uint32_t index = add_lock(event, step.object);
  locks_[index].made_stack = step.read.stack;
  counted(index, event.thread).seen = true;
}

// ---- Who holds it

Locks::Hold Locks::hold_from(uint32_t index, const LockHold& hold) const {
  // When sampling, acquisitions with a stack are all recorded; those without stand for others.
  const bool is_one_of_many = !hold.waited && hold.own_stack == 0;
  return {index, hold.thread, hold.depth, hold.own_stack, is_one_of_many ? sample_ : 1, std::max(hold.since, from_)};
}

// Without holders known only from a waiter: since when they hold it is unknown.
template <typename Visit>
void Locks::for_each_hold(uint32_t index, Visit&& visit) const {
  if (states_[index].object == kNoIndex) return;
  tracker_.for_each_holder(states_[index].object, [&](const LockHold& hold) {
    if (!hold.learned) visit(hold);
  });
}

Locks::Hold Locks::hold_of(uint32_t index, uint32_t thread) const {
  Hold found;
  for_each_hold(index, [&](const LockHold& hold) {
    if (hold.thread == thread) found = hold_from(index, hold);
  });
  return found;
}

Locks::Hold Locks::first_hold(uint32_t index) const {
  Hold first;
  for_each_hold(index, [&](const LockHold& hold) {
    if (!first.is_one()) first = hold_from(index, hold);
  });
  return first;
}

// An acquisition without a wait. After a request it ends a wait that was too short for record --min-wait.
void Locks::taken(uint32_t index, const Event& event, const LockRecord& read) {
  if (ledger_.open(event.thread).lock == index) {
    ++counted(index, event.thread).short_waits;
    ledger_.end(event.thread, index, {0, 0, kNoIndex, true, false}, {}, groups_.all());
  }
  acquired(index, event, read);
}

void Locks::acquired(uint32_t index, const Event& event, const LockRecord& read) {
  LockStats& lock = locks_[index];
  const bool is_shared = read.sync == PENNA_SYNC_READ;
  // When sampling, acquisitions without a stack stand for others; for objects without holder all are recorded.
  const bool is_one_of_many = read.action == LockAction::kTaken && read.stack == 0 && has_holder(lock.kind);
  const uint64_t weight = is_one_of_many ? sample_ : 1;
  LockStats& counts = counted(index, event.thread);
  counts.acquisitions += weight;
  if (is_shared) counts.shared += weight;
  if (lock.first_stack == 0) lock.first_stack = read.stack;
  if (!has_holder(lock.kind)) return;
  // The first call of a function is made by one thread at a time: an exception or a cancellation has ended the call
  // before.
  const Hold mine = lock.kind == LockKind::kOnce ? Hold{} : hold_of(index, event.thread);
  if (mine.is_one()) {
    counts.recursive += weight;
    return forked_.holds(event.process, lock.address, mine.depth + 1, event.time);
  }
  // Unlocks are stamped before the fact and locks after: an unlock that has not come yet was not recorded, and its hold
  // is not timed.
  uint32_t writers = 0, readers = 0;
  bool again = false;
  for_each_hold(index, [&](const LockHold& hold) {
    ++(hold.shared ? readers : writers);
    again |= hold.thread == event.thread;
  });
  if (lock.kind == LockKind::kOnce) {
  } else if (read.end == PENNA_WAIT_OWNER_DIED) {
    const Hold dead = writers == 0 ? Hold{} : first_hold(index);
    const uint64_t death = dead.is_one() ? death_of(dead, event, read) : 0;
    if (death != 0) end_hold(dead, death, 0);
  } else if (writers != 0 || !is_shared) {
    counts.missed_unlocks += readers + writers;
  }
  counts.deepest = std::max(counts.deepest, tracker_.count_held_by(event.thread) + 1 - again);
  forked_.holds(event.process, lock.address, 1, event.time);
}

void Locks::released(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  const uint32_t index = use(event, step.object);
  const LockStats& lock = locks_[index];
  LockStats& counts = counted(index, event.thread);
  State& state = states_[index];
  // Threads waiting for the lock were woken by this, as far as is known.
  state.waker = event.thread;
  state.waker_stack = read.stack;
  state.woken = event.time;
  // A semaphore's post. Kept while threads wait, to pair posts with the waits that they end.
  if (!has_holder(lock.kind)) {
    ++counts.given;
    posts_[lock.address] = {event.thread, read.stack, event.time};
    if (ledger_.waiting(index) > state.posts.size() && state.posts.size() < kMostPosts)
      state.posts.push_back({event.thread, read.stack, event.time});
    return;
  }
  const Hold mine = hold_of(index, event.thread);
  if (mine.is_one()) {
    forked_.holds(event.process, lock.address, mine.depth - 1, event.time);
    // By its own time: calls within the release (--all-functions) are recorded before it, and raise the event's.
    if (mine.depth == 1) end_hold(mine, std::max(event.record.time, mine.since), read.stack);
    return;
  }
  const bool is_free = !first_hold(index).is_one();
  if (is_free && forked_.release(event.process, lock.address)) {
    ++counts.inherited_unlocks;
  } else if (sample_ == 1) {  // else its acquisition may not have been sampled
    ++counts.unmatched_unlocks;
  }
  // It had been taken before the recording: all waiters waited for this thread.
  if (is_free)
    ledger_.charge(
        index, {read.stack != 0 ? OtherSide::kReleased : OtherSide::kUnknown, read.stack, event.thread, kNoIndex, 0},
        event.time);
}

// A holder that ended released nothing. A thread that waited for the lock got it at that moment; else a thread that
// joined the holder knows. 0: unknown.
uint64_t Locks::death_of(const Hold& hold, const Event& event, const LockRecord& read) const {
  if (read.begin < event.time) return event.time;
  const uint64_t joined = joined_[hold.thread];  // by tid, which another thread may have had before
  return joined >= hold.since ? joined : 0;
}

// Charges the waits of others during this hold to it, and counts its own time.
void Locks::end_hold(const Hold& hold, uint64_t time, uint32_t stack) {
  State& state = states_[hold.lock];
  const WaitLedger::Other by = holder(state, hold, stack);
  if (first_hold(hold.lock).thread == hold.thread) ledger_.charge(hold.lock, by, time);
  state.last = {by, time};
  state.recent.add(state.last);
  count_hold(by.group, hold, time, false);
  last_releases_[hold.thread] = {hold.lock, hold.since};
}

// The other side of waits for this hold. `stack`: where it is released; 0: unknown.
WaitLedger::Other Locks::holder(State& state, const Hold& hold, uint32_t stack) {
  const OtherSide side = hold.stack != 0 ? OtherSide::kHeld : stack != 0 ? OtherSide::kReleased : OtherSide::kUnknown;
  const uint32_t shown = hold.stack != 0 ? hold.stack : stack;
  const uint32_t group = groups_.find(hold.lock, shown, side == OtherSide::kReleased, hold.thread, state.group);
  return {side, shown, hold.thread, group, hold.since};
}

void Locks::count_hold(uint32_t group, const Hold& hold, uint64_t time, bool open) {
  const uint64_t held = duration(hold.since, time);
  counted(hold.lock, hold.thread).hold.add(held, hold.weight);
  if (held < options_.min_hold) counted(hold.lock, hold.thread).short_holds += hold.weight;
  if (held < options_.min_hold || !takes_thread(recording_, hold.thread)) return;
  groups_.add(group, hold.thread, held, hold.weight, open);
}

// Clocks of different processors may be slightly apart; what would be negative is 0, and counted.
uint64_t Locks::duration(uint64_t begin, uint64_t end) {
  if (begin <= end) return end - begin;
  ++impossible_;
  return 0;
}

// ---- A range

// All counters restart; what identifies a lock (address, kind, stacks) stays.
void Locks::begin_range(uint64_t begin) {
  from_ = begin;
  for (LockStats& lock : locks_) {
    LockStats fresh;
    fresh.process = lock.process;
    fresh.address = lock.address;
    fresh.first_time = lock.first_time;
    fresh.kind = lock.kind;
    fresh.made_stack = lock.made_stack;
    fresh.first_stack = lock.first_stack;
    fresh.ancestor = lock.ancestor;
    fresh.ancestor_made_stack = lock.ancestor_made_stack;
    fresh.ancestor_first_stack = lock.ancestor_first_stack;
    fresh.seen = false;
    lock = std::move(fresh);
  }
  for (State& state : states_) state.noted = 0;
  groups_.begin_range();
  if (own_) own_->begin_range(begin);
  ledger_.begin_range(begin);
  conditions_.begin_range();
  unended_ = impossible_ = 0;
}

// ---- The end

// Open holds and waits last until their process, the recording or the range ends. Holds first: waits are charged to
// them.
void Locks::finish() {
  const Summary summary = summarize(recording_);
  const std::vector<uint64_t> ends = open_ends(recording_, summary);
  for (uint32_t index = 0; index < locks_.size(); ++index) {
    State& state = states_[index];
    bool is_first = true;
    for_each_hold(index, [&](const LockHold& one) {
      const Hold hold = hold_from(index, one);
      counted(index, hold.thread).held_at_end = counted(index, hold.thread).seen = true;
      const uint64_t end = std::max(ends[locks_[index].process], hold.since);
      const WaitLedger::Other by = holder(state, hold, 0);
      if (std::exchange(is_first, false)) ledger_.charge(index, by, end);
      count_hold(by.group, hold, end, true);
    });
  }
  for (uint32_t thread = 0; thread < joined_.size(); ++thread) {
    const WaitLedger::Open& wait = ledger_.open(thread);
    if (wait.lock == kNoIndex) continue;
    LockRecord read;
    read.stack = wait.stack;
    read.end = PENNA_WAIT_GOT;
    const uint64_t end = std::max(ends[locks_[wait.lock].process], wait.begin);
    counted(wait.lock, thread).seen = true;
    end_wait(wait.lock, thread, wait.begin, end, read, true);
  }
  conditions_.finish([&](uint32_t thread) {
    const ProcessSummary& process = summary.processes[recording_.threads()[thread].process];
    return process.ended && process.how == EndKind::kExited;
  });
}

std::vector<const LockStats*> Locks::by_wait() const {
  std::vector<const LockStats*> result;
  for (const LockStats& lock : locks_)
    if (lock.seen) result.push_back(&lock);
  std::stable_sort(result.begin(), result.end(), [](auto* a, auto* b) {
    return a->wait.sum() != b->wait.sum() ? a->wait.sum() > b->wait.sum() : a->acquisitions > b->acquisitions;
  });
  return result;
}

LockCounts Locks::counts(const LockFilter& wanted) const {
  LockCounts sum;
  sum.impossible = impossible_;
  sum.unended = unended_;
  sum.folded = tracker_.folded();
  for (const LockStats& lock : locks_) {
    if (!has_holder(lock.kind) || !lock.seen || (wanted && !wanted(lock))) continue;
    ++sum.locks;
    sum.acquisitions += lock.acquisitions;
    sum.hold_time += lock.hold.sum();
    sum.contended += lock.contended;
    sum.busy += lock.busy;
    if (__builtin_add_overflow(sum.wait_time, lock.wait.sum(), &sum.wait_time)) sum.wait_time = UINT64_MAX;
    sum.condition_waits += lock.condition_wait.count();
    sum.inherited_unlocks += lock.inherited_unlocks;
    sum.unmatched_unlocks += lock.unmatched_unlocks;
    sum.missed_unlocks += lock.missed_unlocks;
    sum.held_at_end += lock.held_at_end;
  }
  return sum;
}

}  // namespace penna
