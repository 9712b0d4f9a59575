// SPDX-License-Identifier: MIT
// penna info: what a recording is of, from its metadata alone.
#pragma once

#include "cli/input.h"
#include "cli/options/arguments.h"
#include "cli/table_output.h"

namespace penna {

struct InfoOptions {
  InputOptions input;
  TableOptions table;
};
Result<Parsed<InfoOptions>> parse_info(const Arguments& arguments);
int cmd_info(const InfoOptions& options);

}  // namespace penna
