// SPDX-License-Identifier: MIT
// penna check: does a recording keep within limits? For tests and for continuous integration.
// Exit status: 0 = all kept, 1 = a limit is broken, 2 = none is, as far as one can know, or wrong use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/check_waits.h"
#include "cli/input.h"
#include "cli/options/alloc_options.h"
#include "cli/options/arguments.h"
#include "cli/table_output.h"

namespace penna {

struct CheckOptions {
  static constexpr int kBroken = 1, kCannot = 2;

  InputOptions input;
  TableOptions table;
  AllocFilterOptions allocations;
  SuppressionOptions suppressions;
  std::string max_leak, max_peak, max_alloc_rate;  // bytes, and bytes a second; empty: no limit
  std::optional<uint64_t> max_leak_blocks;
  std::vector<std::string> max_allocs;           // "PATTERN=N"
  std::string max_wait, max_wait_p99, max_hold;  // durations; empty: no limit
  std::vector<std::string> no_lock_in;           // patterns of functions
  WaitLimits waits;                              // on who waits for whom
  std::optional<size_t> frames;

  bool of_allocations() const {
    return !max_leak.empty() || !max_peak.empty() || !max_alloc_rate.empty() || max_leak_blocks || !max_allocs.empty();
  }
  bool of_locks() const {
    return !max_wait.empty() || !max_wait_p99.empty() || !max_hold.empty() || !no_lock_in.empty() || waits.any();
  }
};

Result<Parsed<CheckOptions>> parse_check(const Arguments& arguments);
int cmd_check(const CheckOptions& options);

}  // namespace penna
