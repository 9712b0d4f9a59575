// SPDX-License-Identifier: MIT
// See locks.h. Here: waits, what ended them, and whom they are charged to.
#include <algorithm>

#include "model/locks/locks.h"

namespace penna {
namespace {

// Kinds that may lie in memory that processes share, and whose waiters cannot go on unless some thread lets them. (A
// futex waiter may be woken by the kernel.)
bool can_be_of_many(LockKind kind) {
  return kind == LockKind::kSemaphore || kind == LockKind::kBarrier || kind == LockKind::kCondition;
}

}  // namespace

void Locks::requested(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  const LockKind kind = lock_kind(read.sync);
  const uint32_t index = use(event, step);
  LockStats& lock = locks_[index];
  if (lock.first_stack == 0) lock.first_stack = read.stack;
  if (ledger_.open(event.thread).lock != kNoIndex) conditions_.dropped(event.thread);
  unended_ += !ledger_.begin(event.thread, index, event.time, read.stack, threads_.find(event.process, read.holder));
  counted(index, event.thread).queued_waits += ledger_.waiting(index) > 2;
  if (kind == LockKind::kCondition)
    conditions_.requested(states_[index].condition, event.thread, event.time, last_releases_[event.thread].since,
                          last_releases_[event.thread].lock);
}

void Locks::waited(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  const LockKind kind = lock_kind(read.sync);
  const uint32_t index = use(event, step);
  LockStats& lock = locks_[index];
  LockStats& counts = counted(index, event.thread);
  if (lock.first_stack == 0) lock.first_stack = read.stack;
  // For a lock that was free because its owner had died, this is the only record: there was no wait.
  const bool had_to_wait = read.end != PENNA_WAIT_OWNER_DIED || read.begin != event.time;
  if (had_to_wait) end_wait(index, event.thread, read.begin, event.time, read, false);
  switch (read.end) {
    case PENNA_WAIT_OWNER_DIED: ++counts.owner_died; [[fallthrough]];
    case PENNA_WAIT_GOT:
      if (kind == LockKind::kJoin) joined(event, read);
      if (kind == LockKind::kBarrier || kind == LockKind::kJoin || kind == LockKind::kFutex) break;
      counts.contended += had_to_wait;
      // A thread that waited for the first call of a function finds it done: only the caller ever held it.
      if (kind == LockKind::kOnce) break;
      acquired(index, event, read);
      break;
    case PENNA_WAIT_TIMEOUT: ++counts.timeouts; break;
    default: ++counts.errors; break;
  }
}

void Locks::joined(const Event& event, const LockRecord& read) {
  const uint32_t thread = threads_.find(event.process, read.holder);
  if (thread != kNoIndex) joined_[thread] = event.time;
}

// The mutex was released before the wait, by its own UNLOCK, and is held again.
void Locks::condition_waited(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  const uint32_t mutex = use(event, step.mutex);
  const uint32_t index = use(event, step.object);
  const State& state = states_[mutex];
  conditions_.ended(states_[index].condition, event.thread, mutex, read.end == PENNA_WAIT_TIMEOUT, state.last.end,
                    state.last.by.thread);
  if (locks_[index].first_stack == 0) locks_[index].first_stack = read.stack;
  LockStats& condition = counted(index, event.thread);
  condition.timeouts += read.end == PENNA_WAIT_TIMEOUT;
  condition.errors += read.end == PENNA_WAIT_ERROR;
  states_[mutex].recent.begin(state.last);
  const uint64_t woken = retaking_since(event, read, mutex, states_[index]);
  end_wait(index, event.thread, read.begin, woken, read, false);
  if (woken < event.time) retaken(event, read, mutex, woken);
  const uint64_t begin = std::max(read.begin, from_);
  counted(mutex, event.thread).condition_wait.add(begin <= event.time ? event.time - begin : 0);
  acquired(mutex, event, read);
}

// From when on a condition wait was a wait for its mutex: since the last signal (if an earlier one woke the thread, it
// waited for the mutex at least as long); or the end of the wait if it never was.
uint64_t Locks::retaking_since(const Event& event, const LockRecord& read, uint32_t mutex,
                               const State& condition) const {
  const LastHold& last = states_[mutex].last;
  const uint64_t woken = condition.woken;
  const bool is_woken = condition.waker != kNoIndex && woken >= read.begin && woken < event.time;
  if (!is_woken || read.end != PENNA_WAIT_GOT || last.by.thread == event.thread) return event.time;
  return mutex_was_held(woken, last.end, event.time) ? std::max(woken, from_) : event.time;
}

void Locks::retaken(const Event& event, const LockRecord& read, uint32_t mutex, uint64_t begin) {
  LockStats& lock = counted(mutex, event.thread);
  const uint64_t time = event.time - begin;
  if (time < options_.min_wait) {
    ++lock.short_waits;
    return;
  }
  lock.wait.add(time);
  ++lock.contended;
  add_thread(lock.waiting_threads, event.thread);
  const State& state = states_[mutex];
  WaitLedger::Other rest;
  const std::vector<WaitLedger::Charge> holds = holds_between(states_[mutex], begin, event.time, &rest);
  ledger_.end_only(event.thread, mutex, {time, read.stack, state.waker, false, false}, rest, holds, groups_.all());
}

// The holders of the lock from `begin` to `end`, in turn; `rest`: no holder, if these are all.
std::vector<WaitLedger::Charge> Locks::holds_between(State& state, uint64_t begin, uint64_t end,
                                                     WaitLedger::Other* rest) {
  RecentRing<LastHold>& recent = state.recent;
  recent.begin(state.last);
  std::vector<WaitLedger::Charge> holds;
  uint64_t passed = begin;
  bool all_known = false;  // since `begin`
  for (size_t i = 0; i < recent.size(); ++i) {
    const LastHold& one = recent[i];
    all_known |= one.end != 0 && one.by.since <= begin;
    if (one.end <= passed || one.end > end) continue;
    holds.push_back({one.by, one.end - std::max(passed, std::min(one.by.since, one.end))});
    passed = one.end;
  }
  if (!all_known) recent.grow();
  if (all_known) *rest = {OtherSide::kFree};
  return holds;
}

void Locks::woke(const Event& event, const LockStep& step) {
  const LockRecord& read = step.read;
  const uint32_t index = use(event, step.object);
  State& state = states_[index];
  state.waker = event.thread;
  state.waker_stack = read.stack;
  state.woken = event.time;
  ++counted(index, event.thread).given;
  if (can_be_of_many(locks_[index].kind)) posts_[locks_[index].address] = {event.thread, read.stack, event.time};
  if (state.condition != kNoIndex)
    conditions_.woke(state.condition, event.thread, event.time, read.most > 1, is_waited_for_elsewhere(index));
}

// Whom to charge what no holder is charged with.
WaitLedger::Other Locks::other_side(uint32_t index, uint64_t begin, const LockRecord& read, uint32_t owner) const {
  const LockStats& lock = locks_[index];
  const State& state = states_[index];
  if (has_holder(lock.kind)) return {OtherSide::kUnknown, 0, owner};
  if (read.end == PENNA_WAIT_TIMEOUT) return {OtherSide::kTimeout};
  if (read.end == PENNA_WAIT_ERROR) return {OtherSide::kInterrupted};
  if (lock.kind == LockKind::kJoin) return {OtherSide::kWoke, 0, owner};
  if (state.woken < begin || state.waker == kNoIndex)
    return can_be_of_many(lock.kind) ? posted_elsewhere(lock, begin) : WaitLedger::Other{};
  return {OtherSide::kWoke, state.waker_stack, state.waker};
}

// No thread of this process let the waiter go on, and yet it did: so the object lies in memory that processes have
// shared since they were forked.
WaitLedger::Other Locks::posted_elsewhere(const LockStats& lock, uint64_t begin) const {
  const auto found = posts_.find(lock.address);
  if (found == posts_.end() || found->second.time < begin) return {};
  const Post& post = found->second;
  const uint32_t its = recording_.threads()[post.thread].process;
  if (its == lock.process || !families_.are_related(its, lock.process)) return {};
  return {OtherSide::kWoke, post.stack, post.thread, kNoIndex, 0, its};
}

// Each post lets one waiter go on: if several came before the first waiter ran again, the first post woke the first
// waiter.
void Locks::took_post(State& state, uint64_t begin, WaitLedger::End& end, WaitLedger::Other& rest) {
  // Threads that did not wait took some.
  std::erase_if(state.posts, [begin](const SemaphorePost& one) { return one.time < begin; });
  if (state.posts.empty()) return;
  const SemaphorePost first = state.posts.front();
  state.posts.erase(state.posts.begin());
  end.waker = first.thread;
  rest = {OtherSide::kWoke, first.stack, first.thread};
}

// `open`: the wait has not ended, but the recording has.
void Locks::end_wait(uint32_t index, uint32_t thread, uint64_t begin, uint64_t now, const LockRecord& read, bool open) {
  const LockStats& lock = locks_[index];
  LockStats& counts = counted(index, thread);
  State& state = states_[index];
  const uint64_t counted_from = std::max(begin, std::min(from_, now));
  const uint64_t time = duration(counted_from, now);
  const bool is_short = time < options_.min_wait;
  if (is_short) {
    ++counts.short_waits;
  } else {
    counts.wait.add(time);
    counts.open_waits += open;
    add_thread(counts.waiting_threads, thread);
  }
  const WaitLedger::Open& wait = ledger_.open(thread);
  const uint32_t owner = read.holder != 0 ? threads_.find(lock.process, read.holder) : wait.owner;
  WaitLedger::End end{time, read.stack, state.woken >= begin && !open ? state.waker : kNoIndex, is_short, open};
  WaitLedger::Other rest = open && !has_holder(lock.kind) ? WaitLedger::Other{} : other_side(index, begin, read, owner);
  if (lock.kind == LockKind::kSemaphore && read.end == PENNA_WAIT_GOT && !open) took_post(state, begin, end, rest);
  if (wait.lock != index) {  // its request is missing, or for another of the futexes that the thread waited for
    const bool is_same = lock.kind == LockKind::kFutex && wait.begin == begin;
    unended_ += wait.lock != kNoIndex && !is_same;
    std::vector<WaitLedger::Charge> holds;
    if (has_holder(lock.kind)) holds = holds_between(state, counted_from, now, &rest);
    return ledger_.end_only(thread, index, end, rest, holds, groups_.all());
  }
  // The thread that still holds it although the wait is over.
  const Hold hold = first_hold(index);
  if (hold.is_one() && hold.thread != thread && !open) ledger_.charge(index, holder(state, hold, 0), now);
  // The holder announced that it releases the lock, and was preempted before it did.
  const LastHold& last = state.last;
  const bool was_leaving = wait.parts.empty() && !hold.is_one() && owner != kNoIndex && owner == last.by.thread;
  if (has_holder(lock.kind) && was_leaving) ledger_.charge(index, last.by, now);
  if (has_holder(lock.kind) && !hold.is_one()) {
    if (wait.parts.empty() && owner != kNoIndex) find_sharers(index, owner, begin);
    charge_sharers(index, thread, counted_from, now);
  }
  if (has_holder(lock.kind) && !wait.parts.empty()) rest = {OtherSide::kFree};
  ledger_.end(thread, index, end, rest, groups_.all());
}

}  // namespace penna
