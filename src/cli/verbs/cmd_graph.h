// SPDX-License-Identifier: MIT
// penna graph: who calls a function, and what it calls.
#pragma once

#include "cli/input.h"
#include "cli/options/arguments.h"
#include "cli/table_output.h"

namespace penna {

struct GraphOptions {
  InputOptions input;
  TableOptions table;
  std::string function;  // a FunctionPattern
};

// FUNC and REC may come in either order: of two words, the one that is a file is the recording.
Result<Parsed<GraphOptions>> parse_graph(const Arguments& arguments);
int cmd_graph(const GraphOptions& options);

}  // namespace penna
