// SPDX-License-Identifier: MIT
// penna diff: the calls of two recordings side by side.
#pragma once

#include "options/alloc_options.h"
#include "options/arguments.h"
#include "options/input_options.h"
#include "options/table_options.h"
#include "report/calls/diff_report.h"

namespace penna {

enum class DiffOf : uint8_t { kCalls, kAlloc, kLeaks, kLocks };

// A comes first on the command line and is the base of the comparison: changes are B minus A.
struct DiffOptions {
  InputOptions input;  // how names are looked up, for both
  TableOptions table;
  std::optional<size_t> frames;  // of each stack in text, 0: all
  std::string a, b;
  std::optional<DiffOf> of;                  // none: calls, or allocations if one side has no calls
  std::optional<Typed<MinDelta>> min_delta;  // noise threshold; none: 1 %
  AllocFilterOptions allocations;            // which of them count
  SuppressionOptions suppressions;           // for leaks
};
// Fails if the text is meaningless for what is compared: a time for allocations.
Result<QuietLimit> quiet_limit(const std::optional<Typed<MinDelta>>& delta, DiffOf of);

// The report, for callers that display it differently.
Result<Report> make_diff_report(const DiffOptions& options);

Result<Parsed<DiffOptions>> parse_diff(const Arguments& arguments);
int cmd_diff(const DiffOptions& options);

}  // namespace penna
