// SPDX-License-Identifier: MIT
// penna report --by: what a row of a table is for, in the terms of the analyses and of the reports.
#pragma once

#include <optional>

#include "analysis/analyses.h"
#include "cli/options/report_options.h"
#include "report/reports.h"

namespace penna {

// What a report needs, with what the rows that are asked for need.
AnalysisChoice passes_of(const ReportOptions& options, const AnalysisChoice& needed);
// Of allocations, and of waits; none: as the table is by itself.
std::optional<GroupBy> groups_of(const ReportOptions& options);
std::optional<WaitsBy> waits_by(std::optional<ReportBy> by);

}  // namespace penna
