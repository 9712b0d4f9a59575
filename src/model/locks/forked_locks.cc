// SPDX-License-Identifier: MIT
// See forked_locks.h.
#include "model/locks/forked_locks.h"

#include <algorithm>

#include "model/events/summary.h"

namespace penna {
namespace {

bool uses_locks(const Recording& recording, uint32_t process) {
  for (uint32_t thread : recording.processes()[process].threads)
    for (const ChunkRef& chunk : recording.chunks(thread))
      if (chunk.events[PENNA_LOCKS] != 0) return true;
  return false;
}

}  // namespace

struct ForkedLocks::Parent {
  struct Release {
    uint64_t address, time;
  };
  NumberMap<uint32_t> held;     // address -> how many times
  std::vector<Release> recent;  // the last ones: up to kMostInherited, then the oldest is replaced
  size_t oldest = 0;

  void released(const Release& release) {
    if (recent.size() < kMostInherited) return recent.push_back(release);
    recent[oldest] = release;
    oldest = (oldest + 1) % kMostInherited;
  }
};

ForkedLocks::ForkedLocks(const Recording& recording)
    : slack_(fork_slack(recording)), parents_(recording.processes().size()), inherited_(recording.processes().size()) {
  const std::vector<uint32_t> parents = process_parents(recording);
  for (uint32_t child = 0; child < parents.size(); ++child) {
    const Process& process = recording.processes()[child].process;
    if (process.after_exec || parents[child] == UINT32_MAX || !uses_locks(recording, child)) continue;
    forks_.push_back({process.start_ticks, child, parents[child]});
    if (parents_[parents[child]] == nullptr) parents_[parents[child]] = std::make_unique<Parent>();
  }
  std::stable_sort(forks_.begin(), forks_.end(), [](const Fork& a, const Fork& b) { return a.began < b.began; });
}
ForkedLocks::~ForkedLocks() = default;

void ForkedLocks::inherit(const Fork& fork) {
  NumberMap<uint32_t>& mine = inherited_[fork.child];
  mine = inherited_[fork.parent];
  const Parent& parent = *parents_[fork.parent];
  for (const auto& [address, depth] : parent.held) {
    if (mine.size() >= kMostInherited) return;
    mine[address] = depth;
  }
  for (const Parent::Release& release : parent.recent) {
    if (mine.size() >= kMostInherited) return;
    // The fork may have come before this release: a child reports its beginning late (fork_slack()).
    if (release.time + slack_ >= fork.began) mine.try_emplace(release.address, 1);
  }
}

void ForkedLocks::update(uint32_t process, uint64_t address, uint32_t depth, uint64_t time) {
  if (depth != 0) inherited_[process].erase(address);  // the child took it itself: it had been initialised again
  Parent* parent = parents_[process].get();
  if (parent == nullptr) return;
  if (depth != 0) {
    parent->held[address] = depth;
  } else {
    parent->held.erase(address);
    parent->released({address, time});
  }
}

bool ForkedLocks::release(uint32_t process, uint64_t address) {
  NumberMap<uint32_t>& mine = inherited_[process];
  auto found = mine.find(address);
  if (found == mine.end()) return false;
  if (--found.value() == 0) mine.erase(found);
  return true;
}

}  // namespace penna
