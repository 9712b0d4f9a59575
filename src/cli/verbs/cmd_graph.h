// SPDX-License-Identifier: MIT
// penna graph: a function's callers and callees.
#pragma once

#include "cli/options/arguments.h"
#include "cli/options/input_options.h"
#include "cli/options/table_options.h"
#include "model/names/function_pattern.h"

namespace penna {

struct GraphOptions {
  InputOptions input;
  TableOptions table;
  FunctionPattern function{""};
};

// FUNC and REC may come in either order: of two words, the one that is a file is the recording.
Result<Parsed<GraphOptions>> parse_graph(const Arguments& arguments);
int cmd_graph(const GraphOptions& options);

}  // namespace penna
