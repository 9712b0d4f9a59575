// SPDX-License-Identifier: MIT
// penna diff: the calls of two recordings side by side.
#pragma once

#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/table_output.h"
#include "report/diff_report.h"

namespace penna {

struct DiffOptions {
  InputOptions input;  // how names are looked up, in both
  TableOptions table;
  std::string a, b;
  QuietLimit quiet;
};

Result<Parsed<DiffOptions>> parse_diff(const Arguments& arguments);
int cmd_diff(const DiffOptions& options);

}  // namespace penna
