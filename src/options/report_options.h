// SPDX-License-Identifier: MIT
// The options of penna report. Which of them a table accepts is in report_table.h.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/wait_analyses.h"
#include "export/calls/folded_export.h"
#include "options/alloc_options.h"
#include "options/input_options.h"
#include "options/server_options.h"
#include "options/table_options.h"
#include "options/values.h"

namespace penna {

// What a row stands for.
enum class ReportBy : uint8_t {
  kFunction,
  kStack,
  kFile,
  kModule,
  kProcess,
  kThread,
  kCall,
  kKind,
  kFreer,
  kHolder,
  kLock
};

// The words of --by. Messages name a value with the same list.
inline constexpr std::initializer_list<OptionParser::Choice<std::optional<ReportBy>>> kReportByWords = {
    {"function", ReportBy::kFunction}, {"stack", ReportBy::kStack},     {"file", ReportBy::kFile},
    {"module", ReportBy::kModule},     {"process", ReportBy::kProcess}, {"thread", ReportBy::kThread},
    {"call", ReportBy::kCall},         {"kind", ReportBy::kKind},       {"freer", ReportBy::kFreer},
    {"holder", ReportBy::kHolder},     {"lock", ReportBy::kLock}};

struct ReportOptions {
  InputOptions input;
  TableOptions table;
  std::string which;                                        // one of report_names(); empty: the summary
  std::optional<size_t> frames;                             // of each stack, in text; 0: all; none: as the table has it
  std::optional<ReportBy> by;                               // none: as the table is by itself
  AllocFilterOptions allocations;                           // of tables of allocations, and of flame
  SuppressionOptions suppressions;                          // of leaks
  bool net = false;                                         // of calls and tree: without what recording took
  bool unmatched = false;                                   // of alloc: frees that match no allocation
  std::optional<uint32_t> within;                           // of temp and alloc; none: 1
  bool ascii = false;                                       // of drawings
  std::optional<FoldedWeight> weight;                       // of flame; none: default_weight()
  std::optional<std::string> lock;                          // of tables of locks: only those of this name, a pattern
  std::optional<Duration> min_wait, min_hold;               // none: all
  PathOptions path;                                         // of chains
  std::optional<size_t> width;                              // of flame, in columns; none: the terminal's, else 100
  ServerOptions server;                                     // with a URL: of what was pushed there
  std::vector<std::pair<std::string, std::string>> labels;  // of that, only recordings with all of these
};

}  // namespace penna
