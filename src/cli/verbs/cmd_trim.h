// SPDX-License-Identifier: MIT
// penna trim: a part of a recording, by time, as a recording.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/options/arguments.h"
#include "cli/options/input_options.h"

namespace penna {

struct TrimOptions {
  InputOptions input;  // with a range of time
  std::string output;  // empty: NAME.trimmed.penna here
  bool force = false;
};

Result<Parsed<TrimOptions>> parse_trim(const Arguments& arguments);
int cmd_trim(const TrimOptions& options);

}  // namespace penna
