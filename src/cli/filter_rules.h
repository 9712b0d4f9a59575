// SPDX-License-Identifier: MIT
// The rules of CallSieve that options of filters mean, for who records, looks on or reads.
//
// Invariant: a recording says which limits of length and time it was made with; they hold exactly for whoever reads it.
#pragma once

#include "cli/options/filter_options.h"
#include "filter/call_sieve.h"
#include "recording/reader.h"
#include "symbols/symbol_file.h"

namespace penna {

// Whether a recording was made with stacks of points, of all or some.
bool asked_for_point_stacks(const Session& session);
// The rules for reading `recording`, together with the limits that it was made with.
CallRules reading_rules(const FilterOptions& options, const Recording& recording, const SymbolOptions& symbols);
// Rules that only name the functions at which something is to be done while it is recorded, a
// snapshot or the end: no call is left out by them.
CallRules watched_functions(const FilterOptions& options, TriggerAction action);
// Whether they hold times, so that the rate of the clock matters.
bool needs_clock(const FilterOptions& options);
// The rules for recording: rough, and relative: `begin` and `end` count from the start of the first process.
CallRules recording_rules(const FilterOptions& options, double ticks_per_ns);
// The rules for who looks on while it is recorded: as exact as the rate is known, and relative as these.
CallRules live_rules(const FilterOptions& options, double ticks_per_ns);

}  // namespace penna
