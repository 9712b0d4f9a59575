// SPDX-License-Identifier: MIT
// The options that say which calls are kept, and of what time: the same for recording and for reading
// (docs/filters.md).
//
// Why one place: one syntax, one meaning, one set of rules (filter/call_sieve.h).
// Invariant: a recording says which limits of length and time it was made with; they hold exactly for whoever reads it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"
#include "cli/options/arguments.h"
#include "cli/triggers.h"
#include "filter/call_sieve.h"
#include "recording/reader.h"
#include "symbols/symbol_file.h"

namespace penna {

// What a recording says of --point-stacks.
inline constexpr const char* kPointStacksWord = "point-stacks";

struct FilterOptions {
  std::vector<std::string> functions, not_functions, hidden, callers, targets, modules, sources, triggers;
  std::optional<uint32_t> depth;
  std::string min_time, range;
};

void add_filter_options(OptionParser& parser, FilterOptions& options, FilterUse use);

// Nanoseconds since the recording's start, [begin, end).
struct TimeRange {
  int64_t begin = 0;
  int64_t end = std::numeric_limits<int64_t>::max();
};
// "1.2s-3s", "1.2s-", "-3s", "1.2s+500ms".
Result<TimeRange> parse_range(const std::string& text);

Result<> check_filter(const FilterOptions& options, FilterUse use);
// The functions (or points) of triggers with such an action.
std::vector<std::string> triggered(const FilterOptions& options, std::initializer_list<TriggerAction> actions);
// Whether a recording was made with stacks of points, of all or some.
bool asked_for_point_stacks(const Session& session);
// As one types what leaves something out: "-F 'pay*' --depth 3"; empty when nothing does. For sentences.
std::string filter_text(const FilterOptions& options);
// What a recording says of the rules it was made with, one option each.
std::vector<std::string> filter_words(const FilterOptions& options);

// The rules for reading `recording`, together with the limits that it was made with. Options that check_filter()
// accepts.
CallRules reading_rules(const FilterOptions& options, const Recording& recording, const SymbolOptions& symbols);
// The functions where something is to be done while it is recorded (FunctionTraits::snapshot, finish), as rules.ask
// says: of these actions.
CallRules watched_functions(const FilterOptions& options, TriggerAction action);
// Whether they hold times, so that the rate of the clock matters.
bool needs_clock(const FilterOptions& options);
// The rules for recording: rough, and relative: `begin` and `end` count from the start of the first process.
CallRules recording_rules(const FilterOptions& options, double ticks_per_ns);
// The rules for who looks on while it is recorded: as exact as the rate is known, and relative as these.
CallRules live_rules(const FilterOptions& options, double ticks_per_ns);

}  // namespace penna
