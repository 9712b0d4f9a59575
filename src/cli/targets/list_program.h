// SPDX-License-Identifier: MIT
// The report of penna list for a program or library: what can be recorded in it, and its points.
#pragma once

#include "base/result.h"
#include "report/table.h"
#include "symbols/points/point_list.h"
#include "symbols/symbol_file.h"

namespace penna {

// A report and the points of its table "points", for JSON.
struct ListReport {
  Report report;
  std::vector<ListedPoint> points;
  bool in_process = false;

  // Puts the table first, or says that there is none.
  void add_points(std::vector<ListedPoint> listed, const std::string& none);
};

// Errors: not an ELF file, unreadable, damaged.
Result<ListReport> program_report(const std::string& path, const SymbolOptions& symbols);

}  // namespace penna
