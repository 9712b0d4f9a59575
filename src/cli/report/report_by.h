// SPDX-License-Identifier: MIT
// penna report --by: what a row of a table stands for, in the terms of the analyses and of the reports.
#pragma once

#include <optional>

#include "analysis/analyses.h"
#include "options/report_options.h"
#include "report/reports.h"

namespace penna {

// The passes of a report, plus those that the requested rows need.
AnalysisChoice passes_of(const ReportOptions& options, const AnalysisChoice& needed);
// For allocations, and for waits; none: the table's default.
std::optional<GroupBy> groups_of(const ReportOptions& options);
std::optional<WaitsBy> waits_by(std::optional<ReportBy> by);

}  // namespace penna
