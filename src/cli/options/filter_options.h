// SPDX-License-Identifier: MIT
// The options that say which calls are kept, and of what time: the same for recording and for reading
// (docs/filters.md).
//
// Why one place: one syntax, one meaning; what the rules are, filter_rules.h says.
// Invariant: everything here was parsed with the command line; texts are only printed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/triggers.h"
#include "cli/options/values.h"
#include "model/names/function_chooser.h"
#include "model/names/function_pattern.h"

namespace penna {

// What a recording says of --point-stacks.
inline constexpr const char* kPointStacksWord = "point-stacks";

// All of them must hold, but for `functions`, `callers`, `targets`, `modules` and `sources`, of
// which one of each kind suffices. The times are of the recording's start (range) and of a call's
// length (min_time).
struct FilterOptions {
  std::vector<FunctionPattern> functions, not_functions, hidden, callers, targets;
  std::vector<PathPattern> modules, sources;
  std::vector<TriggerOption> triggers;
  std::optional<uint32_t> depth;
  std::optional<Duration> min_time;
  std::optional<Typed<TimeRange>> range;
};

void add_filter_options(OptionParser& parser, FilterOptions& options, FilterUse use);

// The functions of triggers with such an action.
std::vector<FunctionPattern> triggered(const FilterOptions& options, std::initializer_list<TriggerAction> actions);
// The points of -T PROVIDER:NAME@stack, as -e takes them.
std::vector<std::string> stacked_points(const FilterOptions& options);
// The actions that leave something out.
inline constexpr auto kFilteringActions = {TriggerAction::kOn,      TriggerAction::kOff,   TriggerAction::kFilter,
                                           TriggerAction::kNotrace, TriggerAction::kDepth, TriggerAction::kTime,
                                           TriggerAction::kFinish};
// As one types what leaves something out: "-F 'pay*' --depth 3"; empty when nothing does. For sentences.
std::string filter_text(const FilterOptions& options);
// The same, but for the range of time, which is about more than calls.
std::string call_filter_text(const FilterOptions& options);
// What a recording says of the rules it was made with, one option each.
std::vector<std::string> filter_words(const FilterOptions& options);

}  // namespace penna
