// SPDX-License-Identifier: MIT
// The report of penna list for a program or library: what can be recorded of it, and its points.
#pragma once

#include "base/result.h"
#include "recording/types.h"
#include "report/table.h"
#include "symbols/symbol_file.h"

namespace penna {

// Errors: no ELF file, unreadable, damaged.
Result<Report> program_report(const std::string& path, const SymbolOptions& symbols);

// A table for points: POINT, ARGUMENTS, COPIES, SOURCE. Copies of one point in the machine code are one row.
class PointTable {
 public:
  PointTable();
  void add(const std::string& point, const std::string& arguments, const std::string& source, uint64_t address);
  void add(const Site& site);
  Table take() { return std::move(table_); }
  // True when a point of that name is there.
  bool has(const std::string& point) const;

 private:
  Table table_;
};

}  // namespace penna
