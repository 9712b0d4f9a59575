// SPDX-License-Identifier: MIT
// See stack_matcher.h.
#include "model/names/stack_matcher.h"

namespace penna {

uint64_t StackMatcher::bits(uint32_t process, uint32_t stack) {
  way_.clear();
  uint64_t sum = 0;
  for (uint32_t id = stack;;) {
    const uint64_t key = pair_key(process, id);
    if (auto known = known_.find(key); known != known_.end()) {
      sum = known->second;
      break;
    }
    const auto node = recording_.stack_node(process, id);
    if (!node) break;
    const NameFrames& frames = names_.frame(process, node->pc, node->generation);
    auto [known, added] = frames_.try_emplace(reinterpret_cast<uintptr_t>(&frames), 0);
    if (added)
      for (const NameFrame& frame : frames) known.value() |= ask_(frame);
    way_.emplace_back(key, known->second);
    id = node->parent;
  }
  for (auto one = way_.rbegin(); one != way_.rend(); ++one) known_[one->first] = sum |= one->second;
  return sum;
}

namespace {

bool leads_to_its_beginning(const Recording& recording, Names& names, uint32_t process, uint32_t stack) {
  for (uint32_t id = stack; id != 0;) {
    const auto node = recording.stack_node(process, id);
    if (!node || node->cut) return false;
    if (node->parent == 0)
      return node->end == PENNA_STACK_COMPLETE ||
             (node->end == PENNA_STACK_NO_RULE && names.is_entry(process, node->pc, node->generation));
    id = node->parent;
  }
  return false;
}

}  // namespace

bool StackEnds::is_complete(uint32_t process, uint32_t stack) {
  auto [known, added] = known_.try_emplace(pair_key(process, stack), false);
  if (added) known.value() = leads_to_its_beginning(recording_, names_, process, stack);
  return known->second;
}

}  // namespace penna
