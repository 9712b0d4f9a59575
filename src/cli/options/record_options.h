// SPDX-License-Identifier: MIT
// The command line of penna record: options up to the command; everything behind its first word belongs to the command.
#pragma once

#include "cli/options/arguments.h"
#include "cli/verbs/cmd_record.h"

namespace penna {

Result<Parsed<RecordOptions>> parse_record(const Arguments& arguments);

}  // namespace penna
