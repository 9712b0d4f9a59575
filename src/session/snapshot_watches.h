// SPDX-License-Identifier: MIT
// Makes a collector watch for the conditions of --on: with names of functions and locks, which it does not know.
#pragma once

#include "collect/collector.h"
#include "options/record_options.h"

namespace penna {

// Call before the collector starts.
void add_watches(Collector& collector, const RecordOptions& options, double ticks_per_ns);

}  // namespace penna
