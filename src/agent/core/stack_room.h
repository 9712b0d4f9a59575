// SPDX-License-Identifier: MIT
// How much of the stack tree is usable: it is reserved as large as the recorder wants, and made accessible by doubling.
//
// Why not all at once: a program that locks its memory (mlockall) would get every page of it, and most programs need a
// thousandth. The file keeps its size: only this process's view of it grows.
// Invariant: nodes below nodes_ready() and hash slots below slots_ready() are readable and writable; both only grow.
#pragma once

#include "agent/core/state.h"

namespace penna::agent {

// At least two hash slots per node, a power of two: keeps searches short.
constexpr uint32_t slots_for_nodes(uint32_t nodes) { return 1u << (32 - __builtin_clz(nodes * 2 - 1)); }

constexpr uint32_t nodes_at_first(uint32_t max_nodes) {
  constexpr uint32_t kMany = 1 << 20;
  return max_nodes < kMany ? max_nodes : kMany;
}

__attribute__((always_inline)) inline uint32_t nodes_ready() {
  return __atomic_load_n(&process.nodes_ready, __ATOMIC_RELAXED);
}
inline uint32_t slots_ready() { return slots_for_nodes(nodes_ready()); }

// For a channel that was just mapped at `base`: makes what is not ready inaccessible.
void reserve_stack_tree(const penna_channel& plan, uint8_t* base, long fd);

// Doubles the usable part. False: all of it is in use, or a seccomp filter forbids mprotect. Async-signal-safe.
bool grow_stack_tree();

}  // namespace penna::agent
