// SPDX-License-Identifier: MIT
// penna check: does a recording keep within limits? For tests and for continuous integration.
// Exit status: 0 = all kept, 1 = a limit is broken, 2 = wrong use, or there is nothing to check by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/alloc_options.h"
#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/table_output.h"

namespace penna {

struct CheckOptions {
  static constexpr int kBroken = 1, kCannot = 2;

  InputOptions input;
  TableOptions table;
  AllocFilterOptions allocations;
  SuppressionOptions suppressions;
  std::string max_leak, max_peak;  // bytes; empty: no limit
  std::optional<uint64_t> max_leak_blocks;
  std::vector<std::string> max_allocs;  // "PATTERN=N"
  std::optional<size_t> frames;
};

Result<Parsed<CheckOptions>> parse_check(const Arguments& arguments);
int cmd_check(const CheckOptions& options);

}  // namespace penna
