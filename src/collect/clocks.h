// SPDX-License-Identifier: MIT
// One moment on three clocks, and what is known of the counter behind penna_now().
#pragma once

#include <sys/types.h>

#include "recording/types.h"

namespace penna {

// The closest of several readings of ticks and kernel clocks (ticks, clock, ticks: the pair with the smallest gap).
ClockTriplet read_clocks();

// Of penna_now(), measured in 5 ms: good to 0.1 %.
double measure_ticks_per_ns();

// What one call of penna_now() costs, in nanoseconds of processor time.
double measure_stamp_ns();

// The same of one hook of -finstrument-functions that records, beside one that does not. Takes a millisecond: ask
// only when such calls were recorded.
double measure_call_hook_ns();

struct HookCosts {
  double stamp_ns = 0;  // measure_stamp_ns()
  double call_ns = 0;   // measure_call_hook_ns(); 0: not measured
};

// Processor time of a process and all its threads, in nanoseconds; 0: it is gone.
uint64_t processor_ns(pid_t pid);

// Where we are: host, kernel, CPU, clock; everything of a Session that does not come from the command line.
Session describe_host();

}  // namespace penna
