// SPDX-License-Identifier: MIT
// See same_stacks.h.
#include "model/names/same_stacks.h"

#include <fmt/format.h>

namespace penna {
namespace {

constexpr uint32_t kEnds = 64;  // numbers below are those of how stacks end

}  // namespace

uint32_t SameStacks::text_of(const NameFrames& frames) {
  const auto [known, added] = frames_.try_emplace(reinterpret_cast<uintptr_t>(&frames), 0);
  if (!added) return known->second;
  std::string text;
  for (const NameFrame& frame : frames)
    text +=
        fmt::format("{}\n{}\n{} {}\n", frame.function, frame.file, frame.line, frame.inlined ? 0 : frame.module + 1);
  known.value() = texts_.try_emplace(std::move(text), static_cast<uint32_t>(texts_.size())).first->second;
  return known->second;
}

uint32_t SameStacks::end_of(uint32_t process, const StackNode& outermost) {
  if (outermost.cut) return 1;
  const bool entry =
      outermost.end == PENNA_STACK_NO_RULE && names_.is_entry(process, outermost.pc, outermost.generation);
  return entry ? 2 : 3 + outermost.end % (kEnds - 3);
}

uint32_t SameStacks::numbered(uint32_t outer, uint32_t text) {
  return numbers_.try_emplace(pair_key(outer, text), kEnds + static_cast<uint32_t>(numbers_.size())).first->second;
}

uint32_t SameStacks::number_of(uint32_t process, uint32_t stack) {
  way_.clear();
  uint32_t number = 0;  // of no stack
  for (auto node = recording_.stack_node(process, stack); node; node = recording_.stack_node(process, stack)) {
    const uint64_t key = pair_key(process, stack);
    if (const auto known = known_.find(key); known != known_.end()) {
      number = known->second;
      break;
    }
    way_.emplace_back(key, text_of(names_.frame(process, node->pc, node->generation)));
    if (node->cut || node->parent == 0) number = end_of(process, *node);
    if (node->cut) break;
    stack = node->parent;
  }
  for (auto step = way_.rbegin(); step != way_.rend(); ++step) {
    number = numbered(number, step->second);
    known_.insert_or_assign(step->first, number);
  }
  return number;
}

StackOfProcess SameStacks::first_like(uint32_t process, uint32_t stack) {
  const uint32_t number = stack == 0 ? 0 : number_of(process, stack);
  return first_.try_emplace(pair_key(joins_processes() ? 0 : process, number), StackOfProcess{process, stack})
      .first->second;
}

}  // namespace penna
