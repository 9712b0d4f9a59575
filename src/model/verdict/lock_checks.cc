// SPDX-License-Identifier: MIT
// See lock_checks.h.
#include "model/verdict/lock_checks.h"

#include <algorithm>
#include <cmath>

namespace penna {
namespace {

uint64_t nanoseconds(const Recording& recording, uint64_t ticks) {
  const double ns = static_cast<double>(ticks) * recording.time().ns_per_tick();
  return ns >= 1.8e19 ? UINT64_MAX : static_cast<uint64_t>(std::llround(ns));
}

// The longest of each stack.
class LongestOfStacks {
 public:
  explicit LongestOfStacks(Verdict& verdict) : verdict_(verdict) {}
  ~LongestOfStacks() { sort_blames(verdict_); }
  void add(uint32_t process, uint32_t stack, uint64_t amount) {
    if (amount <= verdict_.allowed) return;
    const auto [found, added] = known_.try_emplace(pair_key(process, stack), verdict_.blames.size());
    if (added) verdict_.blames.push_back({process, stack, 0});
    uint64_t& longest = verdict_.blames[found->second].amount;
    longest = std::max(longest, amount);
  }

 private:
  Verdict& verdict_;
  NumberMap<size_t> known_;
};

Verdict verdict_of_times(uint64_t allowed) {
  Verdict verdict;
  verdict.unit = Verdict::Unit::kTime;
  verdict.of_locks = true;
  verdict.allowed = allowed;
  return verdict;
}

}  // namespace

Verdict check_longest_wait(const Recording& recording, const Locks& locks, uint64_t allowed) {
  Verdict verdict = verdict_of_times(allowed);
  for (const LockStats& lock : locks.all())
    if (has_holder(lock.kind)) verdict.found = std::max(verdict.found, nanoseconds(recording, lock.wait.max()));
  LongestOfStacks blames(verdict);
  for (const WaitStack& wait : locks.wait_stacks())
    if (const LockStats& lock = locks.all()[wait.lock]; has_holder(lock.kind))
      blames.add(lock.process, wait.stack, nanoseconds(recording, wait.longest));
  return verdict;
}

Verdict check_wait_p99(const Recording& recording, const Locks& locks, uint64_t allowed) {
  Verdict verdict = verdict_of_times(allowed);
  const auto p99 = [&](const LockStats& lock) { return nanoseconds(recording, lock.wait.percentile(0.99)); };
  const LockStats* worst = nullptr;
  for (const LockStats& lock : locks.all())
    if (has_holder(lock.kind) && (worst == nullptr || p99(lock) > p99(*worst))) worst = &lock;
  if (worst == nullptr) return verdict;
  verdict.found = p99(*worst);
  LongestOfStacks blames(verdict);
  for (const WaitStack& wait : locks.wait_stacks())
    if (&locks.all()[wait.lock] == worst) blames.add(worst->process, wait.stack, nanoseconds(recording, wait.longest));
  return verdict;
}

Verdict check_longest_hold(const Recording& recording, const Locks& locks, uint64_t allowed) {
  Verdict verdict = verdict_of_times(allowed);
  LongestOfStacks blames(verdict);
  for (const HoldGroup& group : locks.groups()) {
    const uint64_t longest = nanoseconds(recording, group.time.max());
    verdict.found = std::max(verdict.found, longest);
    blames.add(locks.all()[group.lock].process, group.stack, longest);
  }
  return verdict;
}

void LockPlaces::operator()(const Event& event) {
  const LockRecord read = read_lock(event.record);
  const bool got = read.end == PENNA_WAIT_GOT || read.end == PENNA_WAIT_OWNER_DIED;
  if (read.action != LockAction::kTaken && !(read.action == LockAction::kWaited && got)) return;
  if (!has_holder(lock_kind(read.sync)) && read.sync != PENNA_SYNC_SEMAPHORE) return;
  const uint32_t node = tree_ == nullptr ? 0 : tree_->current(event.thread);
  const auto [found, added] =
      index_[node].try_emplace(pair_key(event.process, read.stack), static_cast<uint32_t>(places_.size()));
  if (added) places_.push_back({event.process, read.stack, node, 0});
  ++places_[found->second].taken;
}

std::vector<Verdict> check_locks_in(const Recording& recording, const LockPlaces& places, Names& names,
                                    const CallTree* tree, const std::vector<CallLimit>& limits) {
  LimitedFunctions inside(recording, names, tree, limits);
  uint64_t without_stack = 0;
  for (const LockPlaces::Place& place : places.all()) {
    inside.add(place.process, place.stack, place.node, place.taken);
    if (place.stack == 0) without_stack += place.taken;
  }
  std::vector<Verdict> verdicts = inside.verdicts("took a lock");
  for (Verdict& verdict : verdicts) {
    verdict.of_locks = true;
    if (tree == nullptr && without_stack != 0)
      verdict.doubt = std::to_string(without_stack) +
                      " times a lock was taken without its stack being recorded: recorded calls (-k calls,locks) tell "
                      "where";
  }
  return verdicts;
}

}  // namespace penna
