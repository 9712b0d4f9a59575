// SPDX-License-Identifier: MIT
// What became of a recording and of its events, for programs: identifiers and numbers beside the sentences.
//
// Why apart: sentences may be worded better tomorrow; a script that reads them would break.
// Invariant: a name that was given once keeps its meaning; every number of loss is there, also when it is 0.
#pragma once

#include "model/verdict/health.h"
#include "report/table.h"

namespace penna {

enum class FileState : uint8_t {
  kComplete,
  kDamaged,     // to its end, but not all in it can be used
  kCut,         // it ends before its end
  kUnfinished,  // the recorder did not get to its end
  kUnwritten,   // its end could not be written
};
// The worst that holds, from cut over unfinished to damaged.
FileState file_state(const Recording& recording);

// State, loss, cost and warnings of a report about this recording. Call after rows were selected:
// looking up names may add warnings.
void add_health(Report& report, const Recording& recording, const HealthReport& health);

// "exited", "killed", "exec", "stopped", "unknown": how a process ended.
const char* end_name(const ProcessSummary& process);

}  // namespace penna
