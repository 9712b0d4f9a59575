// SPDX-License-Identifier: MIT
// See locks.h. Here: locks in memory that processes share. As far as the records tell, each process has a lock of its
// own there.
//
// How they are matched: a waiter knows the owner's tid, a thread of another process. What that thread held at the time,
// at the same offset in a page, is the same lock; or what lies at the same address in a process of the same family.
// Invariant: a waiter is charged with holds in other processes only for times that no holder of its own process was
// charged with.
#include <algorithm>

#include "model/locks/locks.h"

namespace penna {
namespace {

constexpr size_t kMostSearched = 10'000, kMostProcesses = 256;
constexpr uint64_t kInPage = 4095;

}  // namespace

bool Locks::was_held_by(uint32_t index, uint32_t thread, uint64_t time) const {
  const State& state = states_[index];
  const auto has = [&](const WaitLedger::Other& by, uint64_t end) {
    return by.thread == thread && by.since <= time && end >= time;
  };
  if (const Hold hold = hold_of(index, thread); hold.is_one() && hold.since <= time) return true;
  if (has(state.last.by, state.last.end)) return true;
  for (size_t i = 0; i < state.recent.size(); ++i)
    if (has(state.recent[i].by, state.recent[i].end)) return true;
  return false;
}

void Locks::find_sharers(uint32_t index, uint32_t owner, uint64_t begin) {
  const LockStats& lock = locks_[index];
  const uint32_t its = recording_.threads()[owner].process;
  if (its == lock.process || shared_.is_hopeless(index)) return;
  if (const uint32_t same = lock_at(its, lock.kind, lock.address);
      same != kNoIndex && families_.are_related(its, lock.process))
    return shared_.join(index, same);
  uint32_t found = kNoIndex;
  int matches = 0;
  for (size_t i = locks_.size() - std::min(locks_.size(), kMostSearched); i < locks_.size(); ++i) {
    const LockStats& other = locks_[i];
    if (other.process != its || other.kind != lock.kind || ((other.address ^ lock.address) & kInPage) != 0) continue;
    if (!was_held_by(static_cast<uint32_t>(i), owner, begin)) continue;
    found = static_cast<uint32_t>(i);
    ++matches;
  }
  matches == 1 ? shared_.join(index, found) : shared_.not_found(index);
}

// In a process of the same family, what lies at the same address may be the same lock.
bool Locks::is_waited_for_elsewhere(uint32_t index) const {
  const LockStats& lock = locks_[index];
  for (uint32_t process = 0; process < std::min(families_.processes(), kMostProcesses); ++process) {
    if (process == lock.process || !families_.are_related(process, lock.process)) continue;
    if (const uint32_t same = lock_at(process, lock.kind, lock.address); same != kNoIndex && ledger_.waiting(same) != 0)
      return true;
  }
  return false;
}

void Locks::charge_sharers(uint32_t index, uint32_t thread, uint64_t begin, uint64_t end) {
  for (const uint32_t other : shared_.of(index)) {
    if (other == index) continue;
    WaitLedger::Other rest;
    for (WaitLedger::Charge& one : holds_between(states_[other], begin, end, &rest)) {
      one.other.elsewhere = locks_[other].process;
      if (one.time != 0) ledger_.charge_one(thread, one.other, one.time);
    }
    // A thread that still holds it: the wait timed out, or has no end.
    const Hold hold = first_hold(other);
    if (!hold.is_one() || hold.since >= end) continue;
    WaitLedger::Other holds = holder(states_[other], hold, 0);
    holds.elsewhere = locks_[other].process;
    ledger_.charge_one(thread, holds, end - std::max(begin, hold.since));
  }
}

}  // namespace penna
