// SPDX-License-Identifier: MIT
// The report of penna list for a process: the points of everything it has mapped, and which of them are armed.
#pragma once

#include "cli/list_program.h"

namespace penna {

// Errors: no such process, not readable. What only part of it hinders is a warning of the report.
Result<ListReport> process_report(uint32_t pid, const SymbolOptions& symbols);

}  // namespace penna
