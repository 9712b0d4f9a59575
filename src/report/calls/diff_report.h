// SPDX-License-Identifier: MIT
// penna diff: the calls of two recordings side by side, by function name.
//
// Why by name: between two builds every address changes, and names are what people compare.
// Invariant: functions with one name are one row; a function in only one recording has no numbers for the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/calls/calls.h"
#include "model/names/names.h"
#include "report/table.h"

namespace penna {

struct NamedCalls {
  uint64_t calls = 0;
  int64_t total_ns = 0, self_ns = 0;
};

// The calls of one recording, with all that is needed of it.
struct CallsByName {
  std::map<std::string, NamedCalls> functions;
  uint64_t calls = 0;
  int64_t self_ns = 0;  // time in recorded functions
};
CallsByName calls_by_name(const Recording& recording, const Calls& calls, Names& names);

// What counts as noise: a row is quiet if its total changed by less. Both 0: none is.
struct QuietLimit {
  double percent = 1;    // of the larger of both totals, provided the number of calls is the same
  int64_t absolute = 0;  // if not 0, replaces the percentage: nanoseconds, or bytes for allocations
};

Report diff_report(const CallsByName& a, const CallsByName& b, const QuietLimit& quiet);

}  // namespace penna
