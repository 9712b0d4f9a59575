// SPDX-License-Identifier: MIT
// The ranges of memory that a process has mapped, as listed in /proc/PID/maps.
//
// Invariant: sorted by address. A range is a snapshot: a running process may have changed it since.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace penna {

struct MemoryRange {
  uint64_t start = 0, end = 0;  // [start, end)
  bool executable = false;
  std::string name;  // as listed: the path of a file, possibly with " (deleted)"; "[vdso]" and the like; empty: none
  bool holds(uint64_t address) const { return address - start < end - start; }
};

// Empty if it may not be read, or the process is gone.
std::vector<MemoryRange> memory_ranges(pid_t pid);

}  // namespace penna
