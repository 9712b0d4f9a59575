// SPDX-License-Identifier: MIT
// penna diff: the calls of two recordings side by side.
#pragma once

#include "cli/options/alloc_options.h"
#include "cli/options/arguments.h"
#include "cli/options/input_options.h"
#include "cli/options/table_options.h"
#include "report/calls/diff_report.h"

namespace penna {

enum class DiffOf : uint8_t { kCalls, kAlloc, kLeaks, kLocks };

// A comes first on the command line and is what B is compared with: changes are B minus A.
struct DiffOptions {
  InputOptions input;  // how names are looked up, in both
  TableOptions table;
  std::optional<size_t> frames;  // of each stack in text, 0: all
  std::string a, b;
  std::optional<DiffOf> of;                  // none: calls, or where one has none, allocations
  std::optional<Typed<MinDelta>> min_delta;  // what is noise; none: 1 %
  AllocFilterOptions allocations;            // which of them count
  SuppressionOptions suppressions;           // of leaks
};
// Fails where the text means nothing for what is compared: a time for allocations.
Result<QuietLimit> quiet_limit(const std::optional<Typed<MinDelta>>& delta, DiffOf of);

// What is shown, for whoever shows it otherwise.
Result<Report> make_diff_report(const DiffOptions& options);

Result<Parsed<DiffOptions>> parse_diff(const Arguments& arguments);
int cmd_diff(const DiffOptions& options);

}  // namespace penna
