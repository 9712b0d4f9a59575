// SPDX-License-Identifier: MIT
// See wait_ledger.h.
#include "model/locks/wait_ledger.h"

#include <algorithm>

namespace penna {
namespace {

uint64_t saturating_sum(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

}  // namespace

bool WaitLedger::begin(uint32_t thread, uint32_t lock, uint64_t time, uint32_t stack, uint32_t owner) {
  Open& wait = open_[thread];
  const bool fresh = wait.lock == kNoIndex;
  if (!fresh) leave_queue(thread);
  wait.lock = lock;
  wait.stack = stack;
  wait.owner = owner;
  wait.begin = wait.charged = time;
  wait.parts.clear();
  wait.place = queues_[lock].size();
  queues_[lock].push_back(thread);
  return fresh;
}

void WaitLedger::charge_all(uint32_t lock, const Other& other, uint64_t now) {
  const std::vector<uint32_t>& queue = queues_[lock];
  for (size_t i = 0; i < std::min(queue.size(), kMostCharged); ++i) {
    Open& wait = open_[queue[i]];
    const uint64_t from = std::max(wait.charged, other.since);
    if (now > from) add_part(wait, other, now - from);
    wait.charged = std::max(wait.charged, now);
  }
}

void WaitLedger::add_part(Open& wait, const Other& other, uint64_t time) {
  // From the back: the same holder often comes twice in a row.
  for (size_t i = wait.parts.size(); i-- > 0;) {
    Open::Part& part = wait.parts[i];
    if (part.stack != other.stack || part.side != other.side || part.group != other.group ||
        part.elsewhere != other.elsewhere)
      continue;
    part.time = saturating_sum(part.time, time);
    part.many_threads |= part.thread != other.thread;
    return;
  }
  if (wait.parts.size() < kMostParts)
    wait.parts.push_back({other.side, other.stack, other.thread, other.group, time, false, other.elsewhere});
  else
    wait.parts.back() = {OtherSide::kUnknown, 0, kNoIndex, kNoIndex, saturating_sum(wait.parts.back().time, time)};
}

void WaitLedger::leave_queue(uint32_t thread) {
  Open& wait = open_[thread];
  std::vector<uint32_t>& queue = queues_[wait.lock];
  // The last one takes its place: a queue's order is never used.
  open_[queue.back()].place = wait.place;
  queue[wait.place] = queue.back();
  queue.pop_back();
  wait.lock = kNoIndex;
}

void WaitLedger::end(uint32_t thread, uint32_t lock, const End& end, const Other& rest,
                     std::vector<HoldGroup>& groups) {
  leave_queue(thread);
  book(thread, lock, end, rest, groups);
}

void WaitLedger::end_only(uint32_t thread, uint32_t lock, const End& end, const Other& rest,
                          std::span<const Charge> known, std::vector<HoldGroup>& groups) {
  if (open_[thread].lock != kNoIndex) leave_queue(thread);
  open_[thread].parts.clear();
  for (const Charge& one : known)
    if (one.time != 0) add_part(open_[thread], one.other, one.time);
  book(thread, lock, end, rest, groups);
}

// Whoever waits: charges the wanted holders with their part of `time`.
void WaitLedger::charge_holders(const std::vector<Open::Part>& parts, uint64_t time,
                                std::vector<HoldGroup>& groups) const {
  for (const Open::Part& part : parts) {
    const uint64_t share = std::min(part.time, time);  // the wait may claim to have begun after its request
    time -= share;
    if (part.group != kNoIndex && takes_thread(recording_, part.thread))
      groups[part.group].waited = saturating_sum(groups[part.group].waited, share);
  }
}

void WaitLedger::book(uint32_t thread, uint32_t lock, const End& end, const Other& rest,
                      std::vector<HoldGroup>& groups) {
  if (end.is_short) return;
  const std::vector<Open::Part>& parts = open_[thread].parts;
  charge_holders(parts, end.time, groups);
  if (!takes_thread(recording_, thread)) return;
  const auto [found, added] = waiters_.try_emplace(pair_key(lock, end.stack), static_cast<uint32_t>(stacks_.size()));
  const uint32_t waiter = found->second;
  if (added) stacks_.push_back({lock, end.stack, 0, {}});
  stacks_[waiter].longest = std::max(stacks_[waiter].longest, end.time);
  const WaitSum one{1, end.time, end.time, end.still_open};
  stacks_[waiter].sum.add(one);
  threads_[has_holder_[lock]][thread].add(one);
  uint64_t left = end.time;
  for (const Open::Part& part : parts) {
    const uint64_t time = std::min(part.time, left);
    left -= time;
    add(waiter, thread, lock, end, part, time);
  }
  if (left != 0 || parts.empty())
    add(waiter, thread, lock, end, {rest.side, rest.stack, rest.thread, kNoIndex, left, false, rest.elsewhere}, left);
}

void WaitLedger::add(uint32_t waiter, uint32_t thread, uint32_t lock, const End& end, const Open::Part& part,
                     uint64_t time) {
  // If nothing is known, not even the thread, no thread must appear.
  const bool nothing_known = part.side == OtherSide::kUnknown && part.thread == kNoIndex;
  uint32_t elsewhere = 0;
  if (part.elsewhere != kNoIndex && part.stack != 0) {
    NumberMap<uint32_t>& of_process = elsewhere_[pair_key(part.elsewhere, static_cast<uint32_t>(part.side))];
    const auto [number, is_new] = of_process.try_emplace(part.stack, elsewhere_count_ + 1);
    elsewhere_count_ += is_new;
    elsewhere = number->second;
  }
  const auto next = static_cast<uint32_t>(pairs_.size());
  const auto [found, added] = elsewhere != 0 ? elsewhere_index_.try_emplace(pair_key(waiter, elsewhere), next)
                                             : index_[static_cast<size_t>(part.side)].try_emplace(
                                                   pair_key(waiter, nothing_known ? UINT32_MAX : part.stack), next);
  if (added) {
    WaitPair& fresh = pairs_.emplace_back();
    fresh.elsewhere = elsewhere;
    fresh.other_process = elsewhere != 0 ? part.elsewhere : kNoIndex;
    fresh.lock = lock;
    fresh.stack = end.stack;
    fresh.other_stack = part.stack;
    fresh.side = part.side;
    fresh.thread = thread;
    fresh.other_thread = part.thread;
    fresh.waker = end.waker;
  }
  WaitPair& pair = pairs_[found->second];
  ++pair.waits;
  pair.open += end.still_open;
  pair.time = saturating_sum(pair.time, time);
  pair.many_threads |= pair.thread != thread;
  pair.many_others |= pair.other_thread != part.thread || part.many_threads;
  if (pair.other_thread == kNoIndex) pair.other_thread = part.thread;
  if (time <= pair.longest) return;
  pair.longest = time;
  pair.thread = thread;
  if (part.thread != kNoIndex) pair.other_thread = part.thread;
  pair.waker = end.waker;
}

void WaitLedger::begin_range(uint64_t begin) {
  for (Open& wait : open_) {
    wait.parts.clear();
    wait.charged = std::max(wait.charged, begin);
  }
  pairs_.clear();
  stacks_.clear();
  for (std::vector<WaitSum>& one : threads_) std::fill(one.begin(), one.end(), WaitSum{});
  waiters_.clear();
  for (NumberMap<uint32_t>& one : index_) one.clear();
  elsewhere_index_.clear();
}

}  // namespace penna
