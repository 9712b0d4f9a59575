// SPDX-License-Identifier: MIT
// Stack trees as programs make them: paths that branch off others, with few return addresses. Test-only.
//
// Invariant: the same generator gives the same nodes with every compiler.
#pragma once

#include <random>
#include <vector>

#include "penna/channel.h"

namespace penna {

// `count` nodes whose ids begin with `first`; some are absent, some have parents in front of them all.
inline std::vector<penna_stack_node> random_stacks(std::mt19937_64& random, size_t count, uint32_t first) {
  std::vector<penna_stack_node> nodes;
  for (uint32_t id = first; nodes.size() < count; ++id) {
    penna_stack_node node{};
    const bool absent = random() % 40 == 0, branches = random() % 6 == 0;
    node.parent = id - 1;
    if (branches) node.parent = static_cast<uint32_t>(random() % id);
    const uint64_t generation = random() % 3;
    node.pc_generation = (1 + generation) << 48 | (0x5555'0000'1000 + random() % 50 * 16);
    const bool inside = node.parent >= first && node.parent != 0;
    const uint32_t above =
        inside ? nodes[node.parent - first].depth_flags & 0xffff : static_cast<uint32_t>(random() % 20);
    node.depth_flags = above + 1;
    if (random() % 30 == 0) node.depth_flags |= PENNA_STACK_NO_RULE << 16;
    nodes.push_back(absent ? penna_stack_node{} : node);
  }
  return nodes;
}

}  // namespace penna
