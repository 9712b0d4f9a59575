// SPDX-License-Identifier: MIT
// The changes that penna record -p would make to a process, found out in a copy of it (process_copy.h): the agent is
// loaded there as it would be into the process, plans, and nothing is written.
//
// Invariant: the process itself is not written to, except for a stack below a borrowed thread's own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace penna {

struct PlannedChange {
  enum class Kind : uint8_t { kCode, kPointer, kMark, kFlag };
  uint64_t address = 0;  // run-time
  Kind kind = Kind::kCode;
  std::string before, after;  // equally long; "before" is the current contents
};

struct Rehearsed {
  std::vector<PlannedChange> changes;       // by address
  uint64_t mappings = 0, mapped_bytes = 0;  // mappings that would stay
};

struct RehearsalStage {
  std::string agent;        // path of the library
  std::string socket_path;  // where it meets its recorder
  std::function<void(pid_t copy)> invite;
  std::function<void(int also)> serve;  // answers the copy (Carrier::serve_by)
};

// The error is a sentence: the process cannot be attached to, or cannot be copied.
Result<Rehearsed> rehearse(pid_t pid, const RehearsalStage& stage);

}  // namespace penna
