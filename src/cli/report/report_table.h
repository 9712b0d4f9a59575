// SPDX-License-Identifier: MIT
// The table of reports: each one's name, the options it accepts, what it needs and how it is built.
//
// Invariant: an option for only some reports has a bit here, so that parse_report() refuses it for the others.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/analyses.h"
#include "options/report_options.h"
#include "report/reports.h"

namespace penna {

// The input for a report's builder.
struct Material {
  const Recording& recording;
  const Summary& summary;
  const Analyses& analyses;
  Names& names;
  const AllocationView& view;
  const ReportOptions& options;
  bool ascii;
  const CriticalPath* path;  // for chains --thread; null: not requested
};

// Options that some reports accept.
enum ReportTakes : uint32_t {
  kTakesNet = 1u << 0,  // shows times of calls
  kTakesUnmatched = 1u << 1,
  kTakesWithin = 1u << 2,
  kTakesSuppressions = 1u << 3,
  kTakesDrawing = 1u << 4,  // --weight, --width
  kTakesAscii = 1u << 5,
  kTakesAllocations = 1u << 6,  // --family, --size, --lifetime, --stack, --pid: shows allocations
  kTakesLock = 1u << 7,         // shows locks
  kTakesMinWait = 1u << 8,
  kTakesMinHold = 1u << 9,
  kTakesSpan = 1u << 10,
};
// The meaning of --tid and --thread.
enum class ThreadUse : uint8_t { kChoose, kCriticalPath, kRefuse };

// A report is a row of data: what it reads, what it accepts, how it is built. Adding one changes nothing else.
struct NamedReport {
  std::string_view name;
  AnalysisChoice passes;             // the analyses it needs
  uint32_t takes;                    // ReportTakes
  std::span<const ReportBy> by;      // --by; empty: refused
  Report (*build)(const Material&);  // null: not a table (flame)
  ThreadUse threads = ThreadUse::kChoose;
  size_t frames = 10;         // of each stack in text, unless --frames is given
  bool is_of_health = false;  // needs no health line below

  bool does_take(uint32_t bit) const { return (takes & bit) != 0; }
  bool has_by(ReportBy wanted) const;
  // Its rows are stacks of allocations, unless --by says otherwise.
  bool is_by_stacks() const { return does_take(kTakesAllocations) && has_by(ReportBy::kStack); }
};

std::span<const NamedReport> named_reports();
// `name`: "" is the summary.
const NamedReport& find_report(std::string_view name);
// "calls", "alloc", ...: the words accepted after `penna report`.
std::vector<std::string> report_names();

}  // namespace penna
