// SPDX-License-Identifier: MIT
// How much memory the control groups of a process leave it (cgroups(7), memory.max): a container's limit.
//
// Why: beyond that limit the kernel kills processes of the group, and what we use in a process counts, too.
// Invariant: memory that the kernel would reclaim first, that of files, counts as free.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penna {

struct GroupMemory {
  uint64_t limit = 0;  // the lowest of the process's groups
  uint64_t free = 0;   // of the group that has the least
};

class MemoryGroups {
 public:
  // `proc`: where /proc is. Where groups are mounted is read once.
  explicit MemoryGroups(std::string proc = "/proc");

  // Nothing: no limit, or none that is known.
  std::optional<GroupMemory> of(pid_t pid) const;

 private:
  // A hierarchy of groups, and what its files are called.
  struct Hierarchy {
    bool is_unified;      // version 2
    std::string root;     // the group that is mounted
    std::string mounted;  // its directory
  };
  std::string proc_;
  std::vector<Hierarchy> hierarchies_;
};

}  // namespace penna
