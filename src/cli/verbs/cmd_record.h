// SPDX-License-Identifier: MIT
// penna record: runs a command with the agent and writes its recording.
#pragma once

#include "options/record_options.h"

namespace penna {

// Runs a command, or attaches to processes (-p); records; prints the closing lines. Returns the exit status to pass on:
// the command's own; 125 our failure, 126 the command cannot be run, 127 it does not exist. A fatal signal of the
// command is re-raised and does not return.
int cmd_record(const RecordOptions& options);

}  // namespace penna
