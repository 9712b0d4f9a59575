// SPDX-License-Identifier: MIT
// Reports on what was pushed to a server: one query each, summed up by the server.
//
// Why not the analyses of `penna report`: a day of a thousand machines is too much to fetch and add up.
// Invariant: a column here is the sum of `penna report`'s column of the same name over the recordings.
#pragma once

#include <string>

#include "base/result.h"
#include "options/report_options.h"
#include "report/table.h"
#include "sql/clickhouse/fleet_server.h"

namespace penna {

// "calls, alloc, leaks, waits, holds or points".
std::string fleet_report_names();
// Whether a server can answer the request.
Result<> check_fleet_report(const ReportOptions& options);
Result<Report> make_fleet_report(FleetServer& server, const ReportOptions& options);

}  // namespace penna
