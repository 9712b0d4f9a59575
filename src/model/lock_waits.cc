// SPDX-License-Identifier: MIT
// See locks.h. Here: waits, who ended them, and whom they are charged to.
#include <algorithm>

#include "model/locks.h"

namespace penna {

void Locks::requested(const Event& event, const LockRecord& read) {
  const LockKind kind = lock_kind(read.sync);
  const uint32_t index = index_of(event, kind, kind == LockKind::kJoin ? 0 : read.address);
  LockStats& lock = locks_[index];
  if (lock.first_stack == 0) lock.first_stack = read.stack;
  if (ledger_.open(event.thread).lock != kNoIndex) conditions_.dropped(event.thread);
  unended_ += !ledger_.begin(event.thread, index, event.time, read.stack, thread_of(event.process, read.holder));
  lock.queued_waits += ledger_.waiting(index) > 2;
  if (kind == LockKind::kCondition)
    conditions_.requested(states_[index].condition, event.thread, event.time, locked_since_[event.thread]);
}

void Locks::waited(const Event& event, const LockRecord& read) {
  const LockKind kind = lock_kind(read.sync);
  const uint32_t index = index_of(event, kind, kind == LockKind::kJoin ? 0 : read.address);
  LockStats& lock = locks_[index];
  if (lock.first_stack == 0) lock.first_stack = read.stack;
  end_wait(index, event.thread, read.begin, event.time, read, false);
  switch (read.end) {
    case PENNA_WAIT_OWNER_DIED: ++lock.owner_died; [[fallthrough]];
    case PENNA_WAIT_GOT:
      if (kind == LockKind::kBarrier || kind == LockKind::kJoin || kind == LockKind::kFutex) break;
      ++lock.contended;
      // Who waited for the first call of a function finds it done: only the caller ever held it.
      if (kind == LockKind::kOnce) break;
      acquired(index, event, read);
      break;
    case PENNA_WAIT_TIMEOUT: ++lock.timeouts; break;
    default: ++lock.errors; break;
  }
}

// The mutex was given back before the wait, by an UNLOCK of its own, and is held again.
void Locks::condition_waited(const Event& event, const LockRecord& read) {
  const uint32_t mutex = index_of(event, lock_kind(read.sync), read.address);
  const uint32_t index = index_of(event, LockKind::kCondition, read.condition);
  const State& state = states_[mutex];
  conditions_.ended(states_[index].condition, event.thread, mutex, read.end == PENNA_WAIT_TIMEOUT, state.last.end,
                    state.last.by.thread);
  LockStats& condition = locks_[index];
  if (condition.first_stack == 0) condition.first_stack = read.stack;
  condition.timeouts += read.end == PENNA_WAIT_TIMEOUT;
  condition.errors += read.end == PENNA_WAIT_ERROR;
  end_wait(index, event.thread, read.begin, event.time, read, false);
  locks_[mutex].condition_wait.add(read.begin <= event.time ? event.time - read.begin : 0);
  acquired(mutex, event, read);
}

void Locks::woke(const Event& event, const LockRecord& read) {
  const uint32_t index = index_of(event, lock_kind(read.sync), read.address);
  State& state = states_[index];
  state.waker = event.thread;
  state.waker_stack = read.stack;
  state.woken = event.time;
  ++locks_[index].given;
  if (state.condition != kNoIndex) conditions_.woke(state.condition, event.thread, event.time, read.most > 1);
}

// Who is charged with what no holder is.
WaitLedger::Other Locks::other_side(uint32_t index, uint64_t begin, const LockRecord& read, uint32_t owner) const {
  const LockStats& lock = locks_[index];
  const State& state = states_[index];
  if (has_holder(lock.kind)) return {OtherSide::kUnknown, 0, owner};
  if (lock.kind == LockKind::kJoin) return {OtherSide::kWoke, 0, owner};
  if (read.end == PENNA_WAIT_TIMEOUT) return {OtherSide::kTimeout};
  if (state.woken < begin || state.waker == kNoIndex) return {};
  return {OtherSide::kWoke, state.waker_stack, state.waker};
}

// `open`: it has not ended, but the recording has.
void Locks::end_wait(uint32_t index, uint32_t thread, uint64_t begin, uint64_t now, const LockRecord& read, bool open) {
  LockStats& lock = locks_[index];
  State& state = states_[index];
  const uint64_t time = duration(begin, now);
  const bool is_short = time < options_.min_wait;
  if (is_short) {
    ++lock.short_waits;
  } else {
    lock.wait.add(time);
    lock.open_waits += open;
    auto at = std::lower_bound(lock.waiting_threads.begin(), lock.waiting_threads.end(), thread);
    if (at == lock.waiting_threads.end() || *at != thread) lock.waiting_threads.insert(at, thread);
  }
  const WaitLedger::Open& wait = ledger_.open(thread);
  const uint32_t owner = read.holder != 0 ? thread_of(lock.process, read.holder) : wait.owner;
  const WaitLedger::End end{time, read.stack, state.woken >= begin && !open ? state.waker : kNoIndex, is_short, open};
  WaitLedger::Other rest = open && !has_holder(lock.kind) ? WaitLedger::Other{} : other_side(index, begin, read, owner);
  if (wait.lock != index) {  // its request is not here
    unended_ += wait.lock != kNoIndex;
    const LastHold& last = state.last;
    const uint64_t from = std::max(begin, last.by.since);
    const uint64_t known = last.end > from && last.end <= now ? last.end - from : 0;
    // One hold all the time until it was given back; else others may have come in between.
    if (known != 0 && last.by.since <= begin) rest = {OtherSide::kNobody};
    return ledger_.end_only(thread, index, end, rest, last.by, known, groups_);
  }
  // Who holds it still, though the wait is over.
  const uint32_t hold = state.writer != kNoHold ? state.writer
                        : state.readers.empty() ? kNoHold
                                                : state.readers.front();
  if (hold != kNoHold && holds_[hold].thread != thread && !open) {
    ledger_.charge(index, holder(state, holds_[hold], 0), now);
  }
  if (has_holder(lock.kind) && !wait.parts.empty()) rest = {OtherSide::kNobody};
  ledger_.end(thread, index, end, rest, groups_);
}

}  // namespace penna
