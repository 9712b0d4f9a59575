// SPDX-License-Identifier: MIT
// The table of the places that recording would change: each as a name, with its bytes before and after.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "reach/inject/rehearsal.h"
#include "report/table.h"

namespace penna {

enum class ChangedBy : uint8_t { kAgent, kBreakpoints, kUprobes };

struct ChangedProcess {
  pid_t pid = 0;
  Rehearsed rehearsed;
  ChangedBy by = ChangedBy::kAgent;
};

// One table for all, preceded by a sentence for each process.
Report report_changes(const std::vector<ChangedProcess>& processes);

}  // namespace penna
