// SPDX-License-Identifier: MIT
// penna record -p PID --dry-run, and penna list --changes PID: what recording would change in a process, byte for byte.
//
// Invariant: nothing is changed (reach/inject/rehearsal.h), and nothing is recorded.
#pragma once

#include <string>

#include "base/result.h"
#include "options/record_options.h"
#include "report/table.h"

namespace penna {

// For the processes of `options`. Those that could not be examined are warnings in the report; error: none could.
Result<Report> changes_report(const RecordOptions& options);

// The verb: prints the report.
int dry_run(const RecordOptions& options);

}  // namespace penna
