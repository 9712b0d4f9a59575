// SPDX-License-Identifier: MIT
// The table of reports: what each is called, which options it takes, what it needs and how it is built.
//
// Invariant: an option that is of some reports only has a bit here, so that parse_report() refuses it for the others.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/analyses.h"
#include "cli/options/report_options.h"
#include "report/reports.h"

namespace penna {

// What the builder of a report may use.
struct Material {
  const Recording& recording;
  const Summary& summary;
  const Analyses& analyses;
  Names& names;
  const AllocationView& view;
  const ReportOptions& options;
  bool ascii;
  const CriticalPath* path;  // of chains --thread; null: not asked for
};

// Options that some reports take.
enum ReportTakes : uint32_t {
  kTakesNet = 1u << 0,  // so it shows times of calls
  kTakesUnmatched = 1u << 1,
  kTakesWithin = 1u << 2,
  kTakesSuppressions = 1u << 3,
  kTakesDrawing = 1u << 4,  // --weight, --width
  kTakesAscii = 1u << 5,
  kTakesAllocations = 1u << 6,  // --family, --size, --lifetime, --stack, --pid: it shows allocations
  kTakesLock = 1u << 7,         // it shows locks
  kTakesMinWait = 1u << 8,
  kTakesMinHold = 1u << 9,
  kTakesSpan = 1u << 10,
};
// What --tid and --thread mean.
enum class ThreadUse : uint8_t { kChoose, kCriticalPath, kRefuse };

// A report is a row of data: what it reads, what it takes, how it is built. Adding one touches
// nothing else.
struct NamedReport {
  std::string_view name;
  AnalysisChoice passes;             // what it needs
  uint32_t takes;                    // ReportTakes
  std::span<const ReportBy> by;      // --by; empty: it is refused
  Report (*build)(const Material&);  // null: it is no table (flame)
  ThreadUse threads = ThreadUse::kChoose;
  size_t frames = 10;         // of each stack in text, unless --frames says
  bool is_of_health = false;  // needs no line about that below

  bool does_take(uint32_t bit) const { return (takes & bit) != 0; }
  bool has_by(ReportBy wanted) const;
  // Its rows are stacks of allocations, unless --by says otherwise.
  bool is_by_stacks() const { return does_take(kTakesAllocations) && has_by(ReportBy::kStack); }
};

std::span<const NamedReport> named_reports();
// `name`: "" is the summary.
const NamedReport& find_report(std::string_view name);
// "calls", "alloc", ...: what may stand behind `penna report`.
std::vector<std::string> report_names();

}  // namespace penna
