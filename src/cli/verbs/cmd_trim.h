// SPDX-License-Identifier: MIT
// penna trim: copies a time range of a recording into a new recording.
#pragma once

#include <string>

#include "base/result.h"
#include "options/arguments.h"
#include "options/input_options.h"

namespace penna {

struct TrimOptions {
  InputOptions input;  // with a time range
  std::string output;  // empty: NAME.trimmed.penna here
  bool force = false;
};

Result<Parsed<TrimOptions>> parse_trim(const Arguments& arguments);
int cmd_trim(const TrimOptions& options);

}  // namespace penna
