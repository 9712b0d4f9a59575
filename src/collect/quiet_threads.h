// SPDX-License-Identifier: MIT
// QuietThreads: the threads of a process that have recorded nothing, as the kernel lists them.
//
// Why by looking: a thread says that it is there with its first event; to make it say so earlier, each would need a
// chunk, or its creation a hook. So one that recorded nothing and lived between two looks is not known.
// Invariant: bounded by Budget::kThreads; a thread whose id stood in a chunk is not among them.
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
  // Their serials, which no thread gives itself: so many threads no process has had.
  static constexpr uint32_t kFirstSerial = 1U << 31;

  // Adds those that live now. Nothing when the process is gone.
  void look(uint32_t pid);
  // This one has recorded something.
  void has_recorded(uint32_t tid);
  // All that never did, with the names that they had last.
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
