// SPDX-License-Identifier: MIT
// See locks.h. Here: which lock an event is about, and who holds it. Waits are in lock_waits.cc.
#include "model/locks.h"

#include <algorithm>
#include <utility>

#include "model/sampling.h"
#include "model/summary.h"

namespace penna {
namespace {

void add_thread(std::vector<uint32_t>& threads, uint32_t thread) {
  auto at = std::lower_bound(threads.begin(), threads.end(), thread);
  if (at == threads.end() || *at != thread) threads.insert(at, thread);
}

}  // namespace

Locks::Locks(const Recording& recording, const LockOptions& options)
    : recording_(recording),
      options_(options),
      index_(recording),
      parents_(process_parents(recording)),
      forked_(recording),
      nesting_(recording.threads().size()),
      locked_since_(recording.threads().size()),
      given_last_(recording.threads().size(), kNoIndex),
      ledger_(recording),
      conditions_(recording.threads().size()),
      joined_(recording.threads().size()),
      sample_(lock_sample(recording)) {
  for (uint32_t i = 0; i < parents_.size(); ++i) {
    const bool is_forked = parents_[i] != kNoIndex && !recording.processes()[i].process.after_exec;
    roots_.push_back(is_forked ? roots_[parents_[i]] : i);
  }
  for (uint32_t i = 0; i < recording.threads().size(); ++i) {
    threads_[pair_key(recording.threads()[i].process, recording.threads()[i].tid)] = i;
    by_tid_[recording.threads()[i].tid] = i;
  }
}
Locks::~Locks() = default;

void Locks::operator()(const Event& event) {
  const LockRecord read = read_lock(event.record);
  if (event.after_loss) drop_holds_of(event.thread);
  index_.pass(event.time, [this](uint32_t index) { replaced(index); });
  if (read.deed == LockDeed::kNone) {
    if (class_bit(event.record.kind) == kAllocEvents) index_.memory(event, [this](uint32_t index) { replaced(index); });
    return;
  }
  forked_.pass(event.time);
  switch (read.deed) {
    case LockDeed::kTaken: return taken(index_of(event, lock_kind(read.sync), read.address), event, read);
    case LockDeed::kGivenBack: return given_back(event, read);
    case LockDeed::kBusy: ++counted(index_of(event, lock_kind(read.sync), read.address), event.thread).busy; return;
    case LockDeed::kRequested: return requested(event, read);
    case LockDeed::kWaited: return waited(event, read);
    case LockDeed::kConditionWaited: return condition_waited(event, read);
    case LockDeed::kWoke: return woke(event, read);
    case LockDeed::kMade: return made(event, read);
    default: break;
  }
  uint32_t index;
  if (index_.retire(event.process, lock_kind(read.sync), read.address, &index)) replaced(index);
}

// ---- Which lock

uint32_t Locks::index_of(const Event& event, LockKind kind, uint64_t address) {
  const uint32_t index = add_lock(event, kind, address);
  LockStats& counts = counted(index, event.thread);
  states_[index].used = counts.seen = true;
  std::vector<uint32_t>& threads = counts.threads;
  if (threads.empty() || threads.back() != event.thread) add_thread(threads, event.thread);
  return index;
}

uint32_t Locks::add_lock(const Event& event, LockKind kind, uint64_t address) {
  bool added;
  const auto next = static_cast<uint32_t>(locks_.size());
  const uint32_t index = index_.find(event.process, kind, address, next, &added);
  if (!added) return index;
  LockStats& lock = locks_.emplace_back();
  lock.seen = false;
  lock.process = event.process;
  lock.address = address;
  lock.first_time = event.time;
  lock.kind = kind;
  inherit_name(lock);
  states_.emplace_back();
  ledger_.add_lock(has_holder(kind));
  if (kind == LockKind::kCondition) states_[next].condition = conditions_.add(next);
  return index;
}

// A fork copies the memory that locks lie in, and shares what is shared.
void Locks::inherit_name(LockStats& lock) const {
  uint32_t process = lock.process;
  for (int hops = 0; hops < kMostAncestors && !recording_.processes()[process].process.after_exec; ++hops) {
    process = parents_[process];
    if (process == kNoIndex) return;
    const uint32_t* same = index_.peek(process, lock.kind, lock.address);
    if (same == nullptr) continue;
    const LockStats& its = locks_[*same];
    if (its.made_stack == 0 && its.first_stack == 0) continue;
    lock.ancestor = process;
    lock.ancestor_made_stack = its.made_stack;
    lock.ancestor_first_stack = its.first_stack;
    return;
  }
}

// Another lock will be at its address: who held it cannot give it back any more.
void Locks::replaced(uint32_t index) {
  drop_holds(index);
  states_[index].last = {};
}

void Locks::made(const Event& event, const LockRecord& read) {
  uint32_t index = add_lock(event, lock_kind(read.sync), read.address);
  if (states_[index].used && index_.retire(event.process, lock_kind(read.sync), read.address, &index)) {
    replaced(index);
    index = add_lock(event, lock_kind(read.sync), read.address);
  }
  locks_[index].made_stack = read.stack;
  counted(index, event.thread).seen = true;
}

// ---- Who holds it

uint32_t Locks::hold_of(const State& state, uint32_t thread) const {
  if (state.writer != kNoHold && holds_[state.writer].thread == thread) return state.writer;
  for (size_t i = state.readers.size(); i-- > 0;)
    if (holds_[state.readers[i]].thread == thread) return state.readers[i];
  return kNoHold;
}

uint32_t Locks::new_hold(const Hold& hold) {
  if (free_holds_.empty()) {
    holds_.push_back(hold);
    return static_cast<uint32_t>(holds_.size() - 1);
  }
  const uint32_t place = free_holds_.back();
  free_holds_.pop_back();
  holds_[place] = hold;
  return place;
}

// After a request: a wait that record --min-wait found too short to be one.
void Locks::taken(uint32_t index, const Event& event, const LockRecord& read) {
  if (ledger_.open(event.thread).lock == index) {
    ++counted(index, event.thread).short_waits;
    ledger_.end(event.thread, index, {0, 0, kNoIndex, true, false}, {}, groups_);
  }
  acquired(index, event, read);
}

void Locks::acquired(uint32_t index, const Event& event, const LockRecord& read) {
  LockStats& lock = locks_[index];
  State& state = states_[index];
  const bool is_shared = read.sync == PENNA_SYNC_READ;
  // Of a sample, those without a stack stand for others; of what nobody holds all are recorded.
  const bool is_one_of_many = read.deed == LockDeed::kTaken && read.stack == 0 && has_holder(lock.kind);
  const uint64_t weight = is_one_of_many ? sample_ : 1;
  LockStats& counts = counted(index, event.thread);
  counts.acquisitions += weight;
  if (is_shared) counts.shared += weight;
  if (lock.first_stack == 0) lock.first_stack = read.stack;
  if (!has_holder(lock.kind)) return;
  // The first call of a function is made one at a time: an exception or a cancellation has left the one before.
  if (lock.kind == LockKind::kOnce) drop_holds(index);
  if (const uint32_t mine = hold_of(state, event.thread); mine != kNoHold) {
    counts.recursive += weight;
    ++holds_[mine].depth;
    return forked_.holds(event.process, lock.address, holds_[mine].depth, event.time);
  }
  // Unlocks are stamped before the fact and locks after: an unlock that is not here yet was not recorded.
  if (read.end == PENNA_WAIT_OWNER_DIED) {
    const uint64_t death = state.writer == kNoHold ? 0 : death_of(holds_[state.writer], event, read);
    death != 0 ? end_hold(state.writer, death, 0) : drop_holds(index);
  } else if (state.writer != kNoHold || (!is_shared && !state.readers.empty())) {
    counts.missed_unlocks += state.readers.size() + (state.writer != kNoHold);
    drop_holds(index);
  }
  const uint32_t hold = new_hold({index, event.thread, 1, read.stack, weight, event.time});
  is_shared ? state.readers.push_back(hold) : void(state.writer = hold);
  counts.deepest = std::max(counts.deepest, ++nesting_[event.thread]);
  forked_.holds(event.process, lock.address, 1, event.time);
}

void Locks::given_back(const Event& event, const LockRecord& read) {
  const uint32_t index = index_of(event, lock_kind(read.sync), read.address);
  const LockStats& lock = locks_[index];
  LockStats& counts = counted(index, event.thread);
  State& state = states_[index];
  state.waker = event.thread;
  state.waker_stack = read.stack;
  state.woken = event.time;
  if (!has_holder(lock.kind)) {
    ++counts.given;
    posts_[lock.address] = {event.thread, read.stack, event.time};
    if (ledger_.waiting(index) > state.posts.size() && state.posts.size() < kMostPosts)
      state.posts.push_back({event.thread, read.stack, event.time});
    return;
  }
  const uint32_t mine = hold_of(state, event.thread);
  if (mine != kNoHold) {
    const uint32_t depth = --holds_[mine].depth;
    forked_.holds(event.process, lock.address, depth, event.time);
    if (depth == 0) end_hold(mine, event.time, read.stack);
    return;
  }
  const bool is_free = state.writer == kNoHold && state.readers.empty();
  if (is_free && forked_.give_back(event.process, lock.address)) {
    ++counts.inherited_unlocks;
  } else if (sample_ == 1) {  // else it may have been taken without being recorded
    ++counts.unmatched_unlocks;
  }
  // It had been taken before the recording: whoever waits, waited for this thread.
  if (is_free)
    ledger_.charge(
        index, {read.stack != 0 ? OtherSide::kGaveBack : OtherSide::kUnknown, read.stack, event.thread, kNoIndex, 0},
        event.time);
}

// A holder that ended gave nothing back. Who waited for the lock got it at once; else who joined the thread knows. 0: nobody does.
uint64_t Locks::death_of(const Hold& hold, const Event& event, const LockRecord& read) const {
  if (read.begin < event.time) return event.time;
  const uint64_t joined = joined_[hold.thread];  // by tid, which may have been another thread's before
  return joined >= hold.since ? joined : 0;
}

// The holds of a lock whose end was not recorded: not timed.
void Locks::drop_holds(uint32_t index) {
  State& state = states_[index];
  const auto drop = [this](uint32_t hold) {
    --nesting_[holds_[hold].thread];
    free_holds_.push_back(hold);
  };
  if (state.writer != kNoHold) drop(state.writer);
  for (const uint32_t hold : state.readers) drop(hold);
  state.writer = kNoHold;
  state.readers.clear();
}

// Of what the thread did some was lost: it may have given back what it held. (Holds that are free are no lock's.)
void Locks::drop_holds_of(uint32_t thread) {
  for (uint32_t i = 0; i < holds_.size(); ++i) {
    if (holds_[i].thread != thread) continue;
    State& state = states_[holds_[i].lock];
    if (state.writer == i)
      state.writer = kNoHold;
    else if (std::erase(state.readers, i) == 0)
      continue;
    --nesting_[thread];
    free_holds_.push_back(i);
  }
}

void Locks::end_hold(uint32_t number, uint64_t time, uint32_t stack) {
  const Hold hold = holds_[number];
  State& state = states_[hold.lock];
  const WaitLedger::Other by = holder(state, hold, stack);
  if (number == state.writer) {
    ledger_.charge(hold.lock, by, time);
    state.writer = kNoHold;
  } else {
    if (number == state.readers.front()) ledger_.charge(hold.lock, by, time);
    state.readers.erase(std::find(state.readers.begin(), state.readers.end(), number));
  }
  state.last = {by, time};
  state.recent.add(state.last);
  count_hold(groups_[by.group], hold, time, false);
  locked_since_[hold.thread] = hold.since;
  given_last_[hold.thread] = hold.lock;
  --nesting_[hold.thread];
  free_holds_.push_back(number);
}

// `stack`: that it is given back by; 0 = not known.
WaitLedger::Other Locks::holder(State& state, const Hold& hold, uint32_t stack) {
  const OtherSide side = hold.stack != 0 ? OtherSide::kHeld : stack != 0 ? OtherSide::kGaveBack : OtherSide::kUnknown;
  return {side, hold.stack != 0 ? hold.stack : stack, hold.thread, group_of(state, hold, stack), hold.since};
}

uint32_t Locks::group_of(State& state, const Hold& hold, uint32_t stack) {
  const bool gave_back = hold.stack == 0 && stack != 0;
  const uint32_t shown = gave_back ? stack : hold.stack;
  if (state.group != kNoIndex && groups_[state.group].stack == shown && groups_[state.group].gave_back == gave_back)
    return state.group;
  const auto [found, added] = (gave_back ? given_groups_ : taken_groups_)
                                  .try_emplace(pair_key(hold.lock, shown), static_cast<uint32_t>(groups_.size()));
  if (added) {
    HoldGroup& group = groups_.emplace_back();
    group.lock = hold.lock;
    group.stack = shown;
    group.gave_back = gave_back;
    group.thread = hold.thread;
  }
  return state.group = found->second;
}

void Locks::count_hold(HoldGroup& group, const Hold& hold, uint64_t time, bool open) {
  const uint64_t held = duration(hold.since, time);
  counted(hold.lock, hold.thread).hold.add(held, hold.weight);
  if (held < options_.min_hold) counted(hold.lock, hold.thread).short_holds += hold.weight;
  if (held < options_.min_hold || !takes_thread(recording_, hold.thread)) return;
  if (held > group.time.max()) group.thread = hold.thread;
  group.many_threads |= group.thread != hold.thread;
  group.open += open;
  group.time.add(held, hold.weight);
}

uint64_t Locks::duration(uint64_t begin, uint64_t end) {
  if (begin <= end) return end - begin;
  ++impossible_;
  return 0;
}

uint32_t Locks::thread_of(uint32_t process, uint32_t tid) const {
  if (tid == 0) return kNoIndex;
  if (const auto found = threads_.find(pair_key(process, tid)); found != threads_.end()) return found->second;
  const auto elsewhere = by_tid_.find(tid);
  return elsewhere == by_tid_.end() ? kNoIndex : elsewhere->second;
}

// ---- A range

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
  for (HoldGroup& group : groups_) {
    group.time = {};
    group.waited = group.open = 0;
    group.many_threads = false;
  }
  for (Hold& hold : holds_) hold.since = std::max(hold.since, begin);  // free ones are no lock's
  ledger_.begin_range(begin);
  conditions_.begin_range();
  unended_ = impossible_ = 0;
}

// ---- The end

void Locks::finish() {
  const Summary summary = summarize(recording_);
  const CallRules* rules = call_rules(recording_);
  std::vector<uint64_t> ends;  // by process
  for (const ProcessSummary& process : summary.processes) {
    const uint64_t end = process.ended ? process.last_time : summary.last_time;
    ends.push_back(rules == nullptr ? end : std::min(end, rules->end));
  }
  for (uint32_t index = 0; index < locks_.size(); ++index) {
    State& state = states_[index];
    std::vector<uint32_t> open = state.readers;
    if (state.writer != kNoHold) open.push_back(state.writer);
    for (size_t i = 0; i < open.size(); ++i) {
      const Hold& hold = holds_[open[i]];
      counted(index, hold.thread).held_at_end = counted(index, hold.thread).seen = true;
      const uint64_t end = std::max(ends[locks_[index].process], hold.since);
      const WaitLedger::Other by = holder(state, hold, 0);
      if (i == 0) ledger_.charge(index, by, end);
      count_hold(groups_[by.group], hold, end, true);
    }
  }
  for (uint32_t thread = 0; thread < nesting_.size(); ++thread) {
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
  sum.folded = index_.folded();
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
