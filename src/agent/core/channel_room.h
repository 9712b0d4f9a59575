// SPDX-License-Identifier: MIT
// How much of the channel is usable: it is mapped as large as the recorder wants, and made accessible as it is needed.
//
// Why not all at once: a program that locks its memory (mlockall) would get every page of it, and most programs need a
// thousandth. The file keeps its size: only this process's view of it grows.
// Invariant: nodes below nodes_ready(), hash slots below slots_ready() and chunks below chunks_ready() are readable and
// writable; all only grow.
#pragma once

#include "agent/core/state.h"

namespace penna::agent {

// At least two hash slots per node, a power of two: keeps searches short.
constexpr uint32_t slots_for_nodes(uint32_t nodes) { return 1u << (32 - __builtin_clz(nodes * 2 - 1)); }

__attribute__((always_inline)) inline uint32_t nodes_ready() {
  return __atomic_load_n(&process.nodes_ready, __ATOMIC_RELAXED);
}
inline uint32_t slots_ready() { return slots_for_nodes(nodes_ready()); }

inline uint32_t chunks_ready() { return __atomic_load_n(&process.chunks_ready, __ATOMIC_RELAXED); }

struct ReadyRoom {
  uint32_t nodes = 0, chunks = 0;
};

// For a channel that was just mapped at `base` without access: makes ready what most programs need; all of it if it can
// never grow. False: the kernel refuses.
bool open_room(const penna_channel& plan, uint8_t* base, long fd, ReadyRoom* ready);

// Each doubles what is usable. False: all of it is in use, or a seccomp filter forbids mprotect. Async-signal-safe.
bool grow_stack_tree();
bool grow_chunks();

}  // namespace penna::agent
