// SPDX-License-Identifier: MIT
// penna report: the tables of a recording, or without a table's name the most important of each kind.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/wait_analyses.h"
#include "cli/input.h"
#include "cli/options/alloc_options.h"
#include "cli/options/arguments.h"
#include "cli/table_output.h"
#include "export/folded_export.h"

namespace penna {

// What a row is for.
enum class ReportBy { kFunction, kStack, kFile, kModule, kProcess, kThread, kCall, kKind, kFreer, kHolder, kLock };

struct ReportOptions {
  InputOptions input;
  TableOptions table;
  std::string which;                   // one of report_names(); empty: the summary
  std::optional<size_t> frames;        // of each stack, in text; 0: all; none: 10, in the summary 6
  std::optional<ReportBy> by;          // none: as the table is by itself
  AllocFilterOptions allocations;      // of tables of allocations, and of flame
  SuppressionOptions suppressions;     // of leaks
  bool net = false;                    // of calls and tree: without what recording took
  bool unmatched = false;              // of alloc: frees that match no allocation
  std::optional<uint32_t> within;      // of temp and alloc; none: 1
  bool ascii = false;                  // of heap and flame
  std::optional<FoldedWeight> weight;  // of flame; none: time
  std::string lock;                    // of tables of locks: only those of this name; empty: all
  std::string min_wait, min_hold;      // durations; empty: all
  PathOptions path;                    // of chains
  std::optional<size_t> width;         // of flame, in columns; none: the terminal's, or kFlameWidth
};

// "calls", "alloc", ...: what may stand behind `penna report`.
std::vector<std::string> report_names();

// REC and the table may come in either order.
Result<Parsed<ReportOptions>> parse_report(const Arguments& arguments);
int cmd_report(const ReportOptions& options);

}  // namespace penna
