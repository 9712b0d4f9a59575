// SPDX-License-Identifier: MIT
// Which options of penna report go together, and with which table.
// Invariant: what is accepted, the table does; an option that it would not look at is refused.
#pragma once

#include "base/result.h"
#include "cli/options/report_options.h"

namespace penna {

Result<> check_report(const ReportOptions& options);

}  // namespace penna
