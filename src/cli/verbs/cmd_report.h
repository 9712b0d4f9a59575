// SPDX-License-Identifier: MIT
// penna report: the tables of a recording, or without a table's name the most important of each kind.
#pragma once

#include <string>

#include "options/arguments.h"
#include "options/report_options.h"
#include "recording/reader.h"
#include "report/table.h"

namespace penna {

// REC and the table may come in either order.
Result<Parsed<ReportOptions>> parse_report(const Arguments& arguments);
int cmd_report(const ReportOptions& options);

// The table that the options name (not flame, a drawing), its rows sorted, cut and complete. `recording`: opened by
// open_input() with the same options. `ascii`: for drawings.
Result<Report> make_report(const Recording& recording, const ReportOptions& options, bool ascii);

// The summary of a recording that was just made, on stderr: standard output belongs to the command. Errors are printed
// as sentences.
void print_short_report(const std::string& path);

}  // namespace penna
