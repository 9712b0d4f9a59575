// SPDX-License-Identifier: MIT
// What became of a recording and of its events, for programs: identifiers and numbers in addition to the sentences.
//
// Why separate: sentences may be reworded; a script that parses them would break.
// Invariant: a published name keeps its meaning; every loss counter is present, even if it is 0.
#pragma once

#include "model/verdict/health.h"
#include "report/table.h"

namespace penna {

enum class FileState : uint8_t {
  kComplete,
  kDamaged,     // whole, but not everything in it can be used
  kCut,         // the file is truncated
  kUnfinished,  // the recorder did not reach its end
  kUnwritten,   // its end could not be written
};
// The worst that applies, in the order cut, unfinished, damaged.
FileState file_state(const Recording& recording);

// State, loss, cost and warnings of a report about this recording. Call after rows were selected: looking up names may
// add warnings.
void add_health(Report& report, const Recording& recording, const HealthReport& health);

// "exited", "killed", "exec", "stopped", "unknown": how a process ended.
const char* end_name(const ProcessSummary& process);

}  // namespace penna
