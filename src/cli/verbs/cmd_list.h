// SPDX-License-Identifier: MIT
// penna list: the points of a program, a process or a recording, and what can be recorded of a program.
#pragma once

#include "cli/input.h"
#include "cli/options/arguments.h"
#include "cli/table_output.h"

namespace penna {

struct ListOptions {
  std::string target;  // a recording, a path of a program or library, the id of a process, or a name on the PATH
  InputOptions input;  // for symbols
  TableOptions table;
};
Result<Parsed<ListOptions>> parse_list(const Arguments& arguments);
int cmd_list(const ListOptions& options);

// The path of a program as a shell would find it; empty when there is none.
std::string find_program(const std::string& name);
// The path of a file or program that was named on the command line; empty when there is none, and what to say then.
std::string program_path(const std::string& word);
Error no_such_program(const std::string& word);

}  // namespace penna
