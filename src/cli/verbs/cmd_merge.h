// SPDX-License-Identifier: MIT
// penna merge: combines recordings of one machine into one, on one clock.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "options/arguments.h"
#include "recording/reader.h"

namespace penna {

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;  // empty: merged.penna here
  bool force = false;
};

Result<Parsed<MergeOptions>> parse_merge(const Arguments& arguments);
int cmd_merge(const MergeOptions& options);

// Why `b` cannot be placed on the clock of `a`, or that it was recorded with other options, as a sentence about both;
// empty: they can be merged.
std::string why_apart(const Recording& a, const Recording& b);

}  // namespace penna
