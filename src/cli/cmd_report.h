// SPDX-License-Identifier: MIT
// penna report: the tables of a recording, or without a table's name the most important of each kind.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/table_output.h"
#include "model/allocation_groups.h"

namespace penna {

struct ReportOptions {
  InputOptions input;
  TableOptions table;
  std::string which;             // one of report_names(); empty: the summary
  std::optional<size_t> frames;  // of each stack, in text; 0: all; none: 10, in the summary 6
  std::optional<GroupBy> by;     // alloc and leaks: a row for each of these; none: for each stack
};

// "calls", "alloc", ...: what may stand behind `penna report`.
std::vector<std::string> report_names();

// REC and the table may come in either order.
Result<Parsed<ReportOptions>> parse_report(const Arguments& arguments);
int cmd_report(const ReportOptions& options);

}  // namespace penna
