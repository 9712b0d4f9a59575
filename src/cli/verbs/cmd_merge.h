// SPDX-License-Identifier: MIT
// penna merge: recordings of one machine as one, on one clock.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/arguments.h"
#include "recording/reader.h"

namespace penna {

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;  // empty: merged.penna here
  bool force = false;
};

Result<Parsed<MergeOptions>> parse_merge(const Arguments& arguments);
int cmd_merge(const MergeOptions& options);

// Why `b` cannot be told on the clock of `a`, or was recorded with other options, as a sentence about both; empty: it
// can join it.
std::string why_apart(const Recording& a, const Recording& b);

}  // namespace penna
