// SPDX-License-Identifier: MIT
// Which code is the agent's own: hooks, and what is between a patched function and its caller. Its frames are left out
// of stacks.
//
// Invariant: async-signal-safe; true for all code of this library, and for nothing else.
#pragma once

#include <stdint.h>

extern "C" {
// Defined by the linker: where this library's file begins in memory, and where its code ends.
extern __attribute__((visibility("hidden"))) const char __ehdr_start[], etext[];
}

namespace penna::agent {

inline bool is_own_code(uintptr_t pc) {
  const auto begin = reinterpret_cast<uintptr_t>(__ehdr_start);
  return pc - begin < reinterpret_cast<uintptr_t>(etext) - begin;
}

}  // namespace penna::agent
