// SPDX-License-Identifier: MIT
// The changes that recording by breakpoints or uprobes would make in a process: found out from its files and memory.
//
// Invariant: the process is only read, neither stopped nor written to.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "breakpoint/guardian_plan.h"
#include "penna/channel.h"
#include "reach/inject/rehearsal.h"

namespace penna {

struct ForeseenBreakpoints {
  Rehearsed rehearsed;               // no mapping stays
  std::vector<std::string> refused;  // what cannot be recorded, as sentences: the first few
};

// Those set on attaching, not those at return addresses: the latter are set as calls are made. The error is a sentence:
// the process cannot be read.
Result<ForeseenBreakpoints> foresee_breakpoints(pid_t pid, const penna_config& config, const GuardianPlan& plan);
// The same for uprobes: all of them, as they are also set where functions return.
Result<ForeseenBreakpoints> foresee_uprobes(pid_t pid, const penna_config& config, const GuardianPlan& plan);

}  // namespace penna
