// SPDX-License-Identifier: MIT
// penna list: the points of a program, a process or a recording, and what can be recorded in a program.
#pragma once

#include "options/arguments.h"
#include "options/input_options.h"
#include "options/table_options.h"

namespace penna {

struct ListOptions {
  bool changes = false;  // for a process: what recording would change
  std::string target;    // a recording, a path of a program or library, a pid, or a name on the PATH
  InputOptions input;    // for symbols
  TableOptions table;
};
Result<Parsed<ListOptions>> parse_list(const Arguments& arguments);
int cmd_list(const ListOptions& options);

}  // namespace penna
