// SPDX-License-Identifier: MIT
// See locks.h.
#include "model/locks.h"

#include <algorithm>

namespace penna {
namespace {

void add_thread(std::vector<uint32_t>& threads, uint32_t thread) {
  auto at = std::lower_bound(threads.begin(), threads.end(), thread);
  if (at == threads.end() || *at != thread) threads.insert(at, thread);
}

}  // namespace

Locks::Locks(const Recording& recording)
    : forked_(recording), lock_index_(recording.processes().size()), condition_index_(recording.processes().size()) {}
Locks::~Locks() = default;

void Locks::operator()(const Event& event) {
  forked_.pass(event.time);
  switch (event.record.kind) {
    case PENNA_KIND_LOCK: return acquired(index_of(event, event.record.as<penna_lock>().lock), event);
    case PENNA_KIND_UNLOCK: return unlocked(index_of(event, event.record.as<penna_lock>().lock), event);
    case PENNA_KIND_LOCK_BUSY: ++locks_[index_of(event, event.record.as<penna_lock>().lock)].busy; return;
    case PENNA_KIND_LOCK_WAIT: return waited(event, event.record.as<penna_lock_wait>());
    case PENNA_KIND_COND_WAIT: return condition_waited(event, event.record.as<penna_cond_wait>());
    default: return;
  }
}

uint32_t Locks::index_of(const Event& event, uint64_t address) {
  auto [found, added] = lock_index_[event.process].try_emplace(address, static_cast<uint32_t>(locks_.size()));
  if (added) {
    auto& lock = locks_.emplace_back();
    lock.process = event.process;
    lock.address = address;
    lock.first_time = event.time;
    holders_.emplace_back();
  }
  add_thread(locks_[found->second].threads, event.thread);
  return found->second;
}

void Locks::acquired(uint32_t index, const Event& event) {
  LockStats& lock = locks_[index];
  Holder& holder = holders_[index];
  ++lock.acquisitions;
  if (holder.thread == event.thread) {
    ++lock.recursive;
    ++holder.depth;
    return forked_.holds(event.process, lock.address, holder.depth, event.time);
  }
  // Unlocks are stamped before the fact and locks after: an unlock that is not here yet was not recorded.
  if (holder.thread != kNoIndex) ++lock.missed_unlocks;
  holder = {event.thread, 1, event.time};
  forked_.holds(event.process, lock.address, 1, event.time);
}

void Locks::unlocked(uint32_t index, const Event& event) {
  LockStats& lock = locks_[index];
  Holder& holder = holders_[index];
  if (holder.thread == kNoIndex && forked_.give_back(event.process, lock.address)) {
    ++lock.inherited_unlocks;
    return;
  }
  if (holder.thread != event.thread) {
    ++lock.unmatched_unlocks;
    return;
  }
  forked_.holds(event.process, lock.address, --holder.depth, event.time);
  if (holder.depth != 0) return;
  lock.hold.add(duration(holder.since, event.time));
  holder = {};
}

void Locks::waited(const Event& event, const penna_lock_wait& wait) {
  const uint32_t index = index_of(event, wait.lock);
  LockStats& lock = locks_[index];
  const uint64_t time = duration(wait.begin, event.time);
  lock.wait.add(time);
  add_wait(lock.waiters, waiter_index_, index, wait.stack, time);
  if (wait.owner != 0) add_wait(lock.owners, owner_index_, index, wait.owner, time);
  switch (wait.end) {
    case PENNA_WAIT_OWNER_DIED: ++lock.owner_died; [[fallthrough]];
    case PENNA_WAIT_GOT:
      ++lock.contended;
      acquired(index, event);
      break;
    case PENNA_WAIT_TIMEOUT: ++lock.timeouts; break;
    default: ++lock.errors; break;
  }
}

// The mutex was given back before the wait, by an UNLOCK of its own, and is held again.
void Locks::condition_waited(const Event& event, const penna_cond_wait& wait) {
  const uint32_t index = index_of(event, wait.lock);
  LockStats& lock = locks_[index];
  const uint64_t time = duration(wait.begin, event.time);
  lock.condition_wait.add(time);
  acquired(index, event);

  auto [found, added] =
      condition_index_[event.process].try_emplace(wait.condition, static_cast<uint32_t>(conditions_.size()));
  if (added) {
    auto& condition = conditions_.emplace_back();
    condition.process = event.process;
    condition.address = wait.condition;
    condition.first_time = event.time;
  }
  ConditionStats& condition = conditions_[found->second];
  condition.lock = wait.lock;
  condition.wait.add(time);
  condition.timeouts += wait.end == PENNA_WAIT_TIMEOUT;
  condition.errors += wait.end == PENNA_WAIT_ERROR;
}

// Adds a wait to the entry of `list` with this id (a stack, a tid), making it when it is the first.
void Locks::add_wait(std::vector<LockWaits>& list, NumberMap<uint32_t>& map, uint32_t lock, uint32_t id,
                     uint64_t time) {
  auto [found, added] = map.try_emplace(pair_key(lock, id), static_cast<uint32_t>(list.size()));
  if (added) list.emplace_back().id = id;
  LockWaits& waits = list[found->second];
  ++waits.waits;
  waits.time += time;
  waits.longest = std::max(waits.longest, time);
}

uint64_t Locks::duration(uint64_t begin, uint64_t end) {
  if (begin <= end) return end - begin;
  ++impossible_;
  return 0;
}

void Locks::finish() {
  auto longer = [](const LockWaits& a, const LockWaits& b) {
    return a.time != b.time ? a.time > b.time : a.waits > b.waits;
  };
  for (size_t i = 0; i < locks_.size(); ++i) {
    locks_[i].held_at_end = holders_[i].thread != kNoIndex;
    std::stable_sort(locks_[i].waiters.begin(), locks_[i].waiters.end(), longer);
    std::stable_sort(locks_[i].owners.begin(), locks_[i].owners.end(), longer);
  }
}

std::vector<const LockStats*> Locks::by_wait() const {
  std::vector<const LockStats*> result;
  for (const LockStats& lock : locks_) result.push_back(&lock);
  std::stable_sort(result.begin(), result.end(), [](auto* a, auto* b) {
    return a->wait.sum() != b->wait.sum() ? a->wait.sum() > b->wait.sum() : a->acquisitions > b->acquisitions;
  });
  return result;
}

LockCounts Locks::counts() const {
  LockCounts sum;
  sum.locks = locks_.size();
  sum.impossible = impossible_;
  for (const LockStats& lock : locks_) {
    sum.acquisitions += lock.acquisitions;
    sum.contended += lock.contended;
    sum.busy += lock.busy;
    sum.wait_time += lock.wait.sum();
    sum.condition_waits += lock.condition_wait.count();
    sum.inherited_unlocks += lock.inherited_unlocks;
    sum.unmatched_unlocks += lock.unmatched_unlocks;
    sum.missed_unlocks += lock.missed_unlocks;
    sum.held_at_end += lock.held_at_end;
  }
  return sum;
}

}  // namespace penna
