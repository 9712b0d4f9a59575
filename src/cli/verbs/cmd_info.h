// SPDX-License-Identifier: MIT
// penna info: describes a recording, from its metadata only.
#pragma once

#include "options/arguments.h"
#include "options/input_options.h"
#include "options/table_options.h"

namespace penna {

struct InfoOptions {
  InputOptions input;
  TableOptions table;
};
Result<Parsed<InfoOptions>> parse_info(const Arguments& arguments);
int cmd_info(const InfoOptions& options);

}  // namespace penna
