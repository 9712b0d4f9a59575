// SPDX-License-Identifier: MIT
// penna lint: traps in the SDT notes of programs and libraries, what each breaks in which tool, and its remedy.
#pragma once

#include <string>
#include <vector>

#include "options/arguments.h"
#include "options/input_options.h"
#include "options/table_options.h"

namespace penna {

struct LintOptions {
  std::vector<std::string> targets;  // paths of programs or libraries, or names on the PATH
  InputOptions input;                // for symbols
  TableOptions table;
};
Result<Parsed<LintOptions>> parse_lint(const Arguments& arguments);
// 0: clean; 1: findings; 125: a file could not be read.
int cmd_lint(const LintOptions& options);

}  // namespace penna
