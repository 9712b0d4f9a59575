// SPDX-License-Identifier: MIT
// The report of penna list for a process: the points in everything it has mapped, and which of them are armed.
#pragma once

#include "cli/targets/list_program.h"

namespace penna {

// Errors: no such process, not readable. Problems with a part of it are warnings in the report.
Result<ListReport> process_report(uint32_t pid, const SymbolOptions& symbols);

}  // namespace penna
