// SPDX-License-Identifier: MIT
// penna check: whether a recording keeps within limits. For tests and for continuous integration.
// Exit status: 0 = all kept, 1 = a limit is broken, 2 = none is known to be broken but some are unknown, or wrong
// usage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/check_waits.h"
#include "options/alloc_options.h"
#include "options/arguments.h"
#include "options/input_options.h"
#include "options/table_options.h"

namespace penna {

// A limit that was not given is nullopt, and 0 is a limit like any other ("nothing may leak"). Typed values keep their
// text, because the verdict repeats each limit as typed.
struct CheckOptions {
  // Exit statuses. kCannot is also used for our own errors, see check_verb().
  static constexpr int kBroken = 1, kCannot = 2;

  InputOptions input;
  TableOptions table;
  AllocFilterOptions allocations;
  SuppressionOptions suppressions;
  std::optional<ByteSize> max_leak, max_peak;
  std::optional<Typed<uint64_t>> max_alloc_rate;  // bytes per second
  std::optional<uint64_t> max_leak_blocks;
  std::vector<Typed<CallLimit>> max_allocs;
  std::optional<Duration> max_wait, max_wait_p99, max_hold;
  std::vector<FunctionPattern> no_lock_in;
  WaitLimits waits;  // on waits between threads
  std::optional<size_t> frames;

  // Which classes of events must have been recorded for the limits to be meaningful.
  bool of_allocations() const {
    return max_leak || max_peak || max_alloc_rate || max_leak_blocks || !max_allocs.empty();
  }
  bool of_locks() const { return max_wait || max_wait_p99 || max_hold || !no_lock_in.empty() || waits.any(); }
};

Result<Parsed<CheckOptions>> parse_check(const Arguments& arguments);
int cmd_check(const CheckOptions& options);

}  // namespace penna
