// SPDX-License-Identifier: MIT
// penna report: the tables of a recording, or without a table's name the most important of each kind.
#pragma once

#include <cstdint>

#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/table_output.h"

namespace penna {

struct ReportOptions {
  InputOptions input;
  TableOptions table;
  std::string which;         // one of report_names(); empty: the summary
  size_t frames = SIZE_MAX;  // at most that many lines below a row, in text
};

// "calls", "alloc", ...: what may stand behind `penna report`.
std::vector<std::string> report_names();

// REC and the table may come in either order.
Result<Parsed<ReportOptions>> parse_report(const Arguments& arguments);
int cmd_report(const ReportOptions& options);

}  // namespace penna
