// SPDX-License-Identifier: MIT
// ptrace(2) with its arguments as what they are: numbers, most of them addresses in the other process.
//
// Invariant: none; each function says what it needs.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>

#include <cstdint>

namespace penna {

// On a thread that we trace, from the thread of ours that traces it. False: errno says why.
inline bool traced(int request, pid_t thread, uint64_t address, uint64_t data) {
  return ::ptrace(static_cast<__ptrace_request>(request), thread, reinterpret_cast<void*>(address),
                  reinterpret_cast<void*>(data)) != -1;
}

}  // namespace penna
