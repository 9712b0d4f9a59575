// SPDX-License-Identifier: MIT
// What of a stack is the agent's own: hooks, and what stands between a function that is entered and its caller. No
// frame of the program's.
//
// Invariant: async-signal-safe; true of all code of this library, and of nothing else.
#pragma once

#include <stdint.h>

extern "C" {
// Made by the linker: where this library's file begins in memory, and where its code ends.
extern __attribute__((visibility("hidden"))) const char __ehdr_start[], etext[];
}

namespace penna::agent {

inline bool is_own_code(uintptr_t pc) {
  const auto begin = reinterpret_cast<uintptr_t>(__ehdr_start);
  return pc - begin < reinterpret_cast<uintptr_t>(etext) - begin;
}

}  // namespace penna::agent
