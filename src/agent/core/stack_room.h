// SPDX-License-Identifier: MIT
// How much of the stack tree can be used: it is reserved as large as the recorder asks for, and becomes accessible by
// doubling.
//
// Why not all at once: a program that locks its memory (mlockall) would be given every page of it, and most programs
// need a part in a thousand. The file stays as it is: only this process's view of it grows.
// Invariant: nodes below nodes_ready() and places of the table below slots_ready() can be read and written; both only
// grow.
#pragma once

#include "agent/core/state.h"

namespace penna::agent {

// Two places of the table for each node, or the next power of two: the looks for one stay few.
constexpr uint32_t slots_for_nodes(uint32_t nodes) { return 1u << (32 - __builtin_clz(nodes * 2 - 1)); }

constexpr uint32_t nodes_at_first(uint32_t max_nodes) {
  constexpr uint32_t kMany = 1 << 20;
  return max_nodes < kMany ? max_nodes : kMany;
}

__attribute__((always_inline)) inline uint32_t nodes_ready() {
  return __atomic_load_n(&process.nodes_ready, __ATOMIC_RELAXED);
}
inline uint32_t slots_ready() { return slots_for_nodes(nodes_ready()); }

// Of a channel that has just been mapped at `base`: takes the access to what is not ready.
void reserve_stack_tree(const penna_channel& plan, uint8_t* base, long fd);

// Twice as much, unless there is no more, or the process has forbidden itself to ask for it. Async-signal-safe.
bool grow_stack_tree();

}  // namespace penna::agent
