// SPDX-License-Identifier: MIT
// Which options of penna report go together, and with which table.
// Invariant: accepted options are honored; an option that the table would ignore is refused.
#pragma once

#include "base/result.h"
#include "options/report_options.h"

namespace penna {

Result<> check_report(const ReportOptions& options);

}  // namespace penna
