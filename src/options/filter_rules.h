// SPDX-License-Identifier: MIT
// The CallSieve rules for filter options, for recording, observing or reading.
//
// Invariant: a recording states the limits of length and time that it was made with; they apply exactly when it is
// read.
#pragma once

#include "filter/call_sieve.h"
#include "options/filter_options.h"
#include "recording/reader.h"
#include "symbols/symbol_file.h"

namespace penna {

// Whether a recording was made with stacks for all or some points.
bool asked_for_point_stacks(const Session& session);
// The rules for reading `recording`, together with the limits that it was made with.
CallRules reading_rules(const FilterOptions& options, const Recording& recording, const SymbolOptions& symbols);
// Rules that only name the functions that trigger an action while recording, a snapshot or the end: they leave no call
// out.
CallRules watched_functions(const FilterOptions& options, TriggerAction action);
// The functions that a filter set while recording (collect/control/set_filters.h) keeps: by -F, all if there are none,
// and -N.
ChosenFunctions chosen_functions(const std::vector<std::string>& only, const std::vector<std::string>& never);
// Such rules for the functions of one pattern: FunctionTraits::snapshot.
CallRules rules_for(FunctionPattern function);
// Whether they contain times, so that the clock's rate matters.
bool needs_clock(const FilterOptions& options);
// The rules for recording: rough, and relative: `begin` and `end` count from the start of the first process.
CallRules recording_rules(const FilterOptions& options, double ticks_per_ns);
// The rules for observing a recording in progress: as exact as the known rate, and relative like the above.
CallRules live_rules(const FilterOptions& options, double ticks_per_ns);

}  // namespace penna
