// SPDX-License-Identifier: MIT
// Reports of what was pushed to a server: one query each, whose sums the server makes.
//
// Why not the analyses of `penna report`: a day of a thousand machines is more than anybody would fetch to add it up.
// Invariant: a report here gives what the columns of the same name give of each recording, added up.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options/report_options.h"
#include "report/table.h"
#include "sql/clickhouse/fleet_server.h"

namespace penna {

// "calls, alloc, leaks, waits, holds or points".
std::string fleet_report_names();
// Whether a server can answer what is asked for.
Result<> check_fleet_report(const ReportOptions& options);
Result<Report> make_fleet_report(FleetServer& server, const ReportOptions& options);

}  // namespace penna
