// SPDX-License-Identifier: MIT
// See deadlocks.h.
#include "model/locks/deadlocks.h"

#include <algorithm>

#include "model/events/summary.h"
#include "model/locks/cycles.h"

namespace penna {
namespace {

// The threads that must release it first: a writer waits for all readers.
std::vector<uint32_t> blockers(const HolderTracker& held, const OpenWait& wait) {
  std::vector<uint32_t> threads;
  held.for_each_holder(wait.object, [&](const LockHold& hold) {
    if (!hold.shared || wait.sync != PENNA_SYNC_READ) threads.push_back(hold.thread);
  });
  return threads;
}

// Returns the ancestor's thread if the owner's tid belongs to one: the fork copied the lock, but not its holder. Else
// kNoIndex.
uint32_t ancestors_owner(const HolderTracker& held, const std::vector<uint32_t>& parents, uint32_t process,
                         const OpenWait& wait) {
  if (wait.owner == 0 || held.thread_of(process, wait.owner, wait.begin) != kNoIndex) return kNoIndex;
  uint32_t ancestor = parents[process];
  for (int hops = 0; ancestor != UINT32_MAX && hops < kMostAncestors; ++hops, ancestor = parents[ancestor])
    if (const uint32_t owner = held.thread_of(ancestor, wait.owner, wait.begin); owner != kNoIndex) return owner;
  return kNoIndex;
}

// Or did both processes take locks in memory that they share, right after the fork? Then that owner waits for a thread
// of this process, which no copy of its own memory could name.
bool waits_for(const HolderTracker& held, uint32_t owner, uint32_t process) {
  const OpenWait& wait = held.wait_of(owner);
  return wait.is_open() && knows_holder(wait.sync) && wait.sync != PENNA_SYNC_JOIN && wait.owner != 0 &&
         held.thread_of(process, wait.owner, wait.begin) != kNoIndex;
}

class DeadlockFinder {
 public:
  explicit DeadlockFinder(const HolderTracker& held) : held_(held), graph_(held.recording().threads().size()) {}

  Deadlocks find() {
    collect();
    components_ = strong_components(graph_);
    place_.assign(graph_.size(), kNoIndex);
    for (uint32_t i = 0; i < found_.waiting.size(); ++i) place_[found_.waiting[i].thread] = i;
    find_cycles();
    mark_blocked();
    return std::move(found_);
  }

 private:
  void collect() {
    const Recording& recording = held_.recording();
    const std::vector<uint32_t> parents = process_parents(recording);
    for (uint32_t thread = 0; thread < graph_.size(); ++thread) {
      const OpenWait& wait = held_.wait_of(thread);
      if (!wait.is_open() || !knows_holder(wait.sync)) continue;
      StuckThread stuck{thread, wait};
      graph_[thread] = blockers(held_, wait);
      for (const uint32_t holder : graph_[thread]) {
        stuck.holder = holder;
        if (wait.sync != PENNA_SYNC_JOIN && held_.is_over(holder)) stuck.why = StuckThread::Why::kHolderEnded;
      }
      if (graph_[thread].empty()) find_elsewhere(recording.threads()[thread].process, parents, stuck);
      found_.waiting.push_back(stuck);
    }
  }
  void find_elsewhere(uint32_t process, const std::vector<uint32_t>& parents, StuckThread& stuck) {
    const uint32_t owner = ancestors_owner(held_, parents, process, stuck.wait);
    if (owner == kNoIndex) return;
    if (!waits_for(held_, owner, process)) {
      stuck.why = StuckThread::Why::kElsewhere;
      return;
    }
    stuck.holder = owner;
    graph_[stuck.thread].push_back(owner);
  }
  // One cycle per strongly connected component.
  void find_cycles() {
    std::vector<bool> done(graph_.size());
    for (const StuckThread& stuck : found_.waiting) {
      if (done[components_[stuck.thread]]) continue;
      const std::vector<uint32_t> cycle = shortest_cycle(graph_, components_, stuck.thread);
      if (cycle.empty()) continue;
      done[components_[stuck.thread]] = true;
      std::vector<uint32_t>& places = found_.cycles.emplace_back();
      for (size_t i = 0; i < cycle.size(); ++i) {
        StuckThread& member = found_.waiting[place_[cycle[i]]];
        member.why = StuckThread::Why::kInDeadlock;
        member.holder = cycle[(i + 1) % cycle.size()];
        places.push_back(place_[cycle[i]]);
      }
    }
  }
  // Backwards from the deadlocks: every thread that directly or indirectly waits for a thread in one.
  void mark_blocked() {
    Graph waiters(graph_.size());
    for (uint32_t thread = 0; thread < graph_.size(); ++thread)
      for (const uint32_t holder : graph_[thread]) waiters[holder].push_back(thread);
    std::vector<uint32_t> queue;
    for (const auto& cycle : found_.cycles)
      for (const uint32_t place : cycle) queue.push_back(found_.waiting[place].thread);
    for (size_t at = 0; at < queue.size(); ++at) {
      for (const uint32_t waiter : waiters[queue[at]]) {
        StuckThread& stuck = found_.waiting[place_[waiter]];
        if (stuck.why == StuckThread::Why::kInDeadlock || stuck.why == StuckThread::Why::kBehind) continue;
        stuck.why = StuckThread::Why::kBehind;
        stuck.holder = queue[at];
        queue.push_back(waiter);
      }
    }
  }

  const HolderTracker& held_;
  Graph graph_;  // of threads: which waits for which
  std::vector<uint32_t> components_, place_;
  Deadlocks found_;
};

}  // namespace

uint64_t Deadlocks::count(StuckThread::Why why) const {
  return static_cast<uint64_t>(
      std::count_if(waiting.begin(), waiting.end(), [&](const StuckThread& one) { return one.why == why; }));
}

Deadlocks find_deadlocks(const HolderTracker& held) { return DeadlockFinder(held).find(); }

}  // namespace penna
