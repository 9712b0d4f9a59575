// SPDX-License-Identifier: MIT
// What recording by breakpoints would change in a process: found out from its files and from what it has in memory.
//
// Invariant: the process is read, and neither stopped nor written to.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "breakpoint/guardian_plan.h"
#include "penna/channel.h"
#include "reach/rehearsal.h"

namespace penna {

struct ForeseenBreakpoints {
  Rehearsed rehearsed;               // no mapping stays
  std::vector<std::string> refused;  // what cannot be recorded, in sentences: the first few
};

// Those that are set when it is attached to, not those where recorded calls return: these come as calls are made.
// Error, as a sentence: the process cannot be read.
Result<ForeseenBreakpoints> foresee_breakpoints(pid_t pid, const penna_config& config, const GuardianPlan& plan);

}  // namespace penna
