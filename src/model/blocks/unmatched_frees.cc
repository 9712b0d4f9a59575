// SPDX-License-Identifier: MIT
// See unmatched_frees.h.
#include "model/blocks/unmatched_frees.h"

#include <algorithm>

namespace penna {

UnmatchedFrees::UnmatchedFrees(const Recording& recording, SameStacks* same)
    : freed_(recording.processes().size()), same_(same), last_(recording.threads().size()) {}

// A free without a recorded stack belongs to no process.
StackOfProcess UnmatchedFrees::first_like(uint32_t process, uint32_t stack) const {
  if (stack == 0) return {};
  return same_ == nullptr ? StackOfProcess{process, stack} : same_->first_like(process, stack);
}

void UnmatchedFrees::unmatched(const Event& event, const BlockRecord& free) {
  const auto before = freed_[event.process].find(free.address);
  const bool again = before != freed_[event.process].end();
  const StackOfProcess first = first_like(event.process, again ? before->second : 0);
  const StackOfProcess stack = first_like(event.process, free.stack);
  const uint32_t of = stack.stack == 0 ? event.thread : stack.process;
  const Key key{of, stack.stack, again, first.process, first.stack};
  const auto [found, added] = numbers_.try_emplace(key, rows_.size());
  if (added) rows_.push_back({event.process, event.thread, stack, again, first, 0, 0, free.address, event.time});
  rows_[found->second].processes += holders_.emplace(found->second, event.process).second;
  ++rows_[found->second].frees;
  last_[event.thread] = found->second;
}

// The free before it, if any, is forgotten: the block that the failed realloc was passed most likely exists.
void UnmatchedFrees::undone(const Event& event, uint64_t address, bool is_unmatched) {
  allocated(event.process, address);
  if (is_unmatched) --rows_[last_[event.thread]].frees;
}

std::vector<UnmatchedFree> UnmatchedFrees::rows() const {
  std::vector<UnmatchedFree> sorted;
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(sorted),
               [](const UnmatchedFree& one) { return one.frees != 0; });
  std::stable_sort(sorted.begin(), sorted.end(), [](const UnmatchedFree& a, const UnmatchedFree& b) {
    return a.again != b.again ? a.again : a.frees > b.frees;
  });
  return sorted;
}

}  // namespace penna
