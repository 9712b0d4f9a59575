// SPDX-License-Identifier: MIT
// penna graph: a function's callers and callees.
#pragma once

#include "model/names/function_pattern.h"
#include "options/arguments.h"
#include "options/input_options.h"
#include "options/table_options.h"

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
