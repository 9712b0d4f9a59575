// SPDX-License-Identifier: MIT
// penna report --by: what a row of a table is for.
// Invariant: what check_by() lets pass, the table that was asked for can do.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "analysis/analyses.h"
#include "base/result.h"
#include "cli/verbs/cmd_report.h"
#include "report/reports.h"

namespace penna {

using Words = std::initializer_list<const char*>;
bool is_one_of(const std::string& word, Words words);

// Tables of allocations whose rows are stacks by themselves.
bool is_by_stacks(const std::string& table);

Result<> check_by(const ReportOptions& options);
// Adds what a table needs for the rows that are asked for.
void choose_passes(const ReportOptions& options, AnalysisChoice& choice);
// Of allocations, and of waits; none: as the table is by itself.
std::optional<GroupBy> groups_of(const ReportOptions& options);
std::optional<WaitsBy> waits_by(std::optional<ReportBy> by);

}  // namespace penna
