// SPDX-License-Identifier: MIT
// One moment on three clocks, and properties of the counter behind penna_now().
#pragma once

#include <sys/types.h>

#include <chrono>

#include "recording/types.h"

namespace penna {

// The best of several readings of ticks and kernel clocks (ticks, clock, ticks: the one with the smallest gap).
ClockTriplet read_clocks();

// The frequency of penna_now(), measured in that time: accurate to 0.1 % in 5 ms.
double measure_ticks_per_ns(std::chrono::milliseconds time);

// What one call of penna_now() costs, in nanoseconds of processor time.
double measure_stamp_ns();

// The cost of an -finstrument-functions hook that records, compared to one that does not. Takes a millisecond: call
// only if such calls were recorded.
double measure_call_hook_ns();

struct HookCosts {
  double stamp_ns = 0;  // measure_stamp_ns()
  double call_ns = 0;   // measure_call_hook_ns(); 0: not measured
};

// Processor time of a process with all its threads, in nanoseconds; 0: it is gone.
uint64_t processor_ns(pid_t pid);

// The host, kernel, CPU and clock: everything of a Session that does not come from the command line.
Session describe_host();

}  // namespace penna
