// SPDX-License-Identifier: MIT
// QuietThreads: the threads of a process that have recorded nothing, from the kernel's list.
//
// Why polling: a thread becomes known by its first event; to announce itself earlier, each would need a chunk, or
// thread creation a hook. So a thread that recorded nothing and lived between two polls stays unknown.
// Invariant: bounded by Budget::kThreads; a thread whose id was in a chunk is not among them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "recording/types.h"

namespace penna {

class QuietThreads {
 public:
  // The first of their serials, above any real thread's: no process has had so many threads.
  static constexpr uint32_t kFirstSerial = 1U << 31;

  // Adds the threads that are alive now. None if the process is gone.
  void look(uint32_t pid);
  // This thread has recorded something.
  void has_recorded(uint32_t tid);
  // All that never recorded anything, with their last known names.
  std::vector<Thread> all() const;

 private:
  struct Seen {
    std::string name;
    uint64_t ticks = 0;
  };
  std::map<uint32_t, Seen> seen_;  // by tid
  std::unordered_set<uint32_t> recorded_;
};

}  // namespace penna
