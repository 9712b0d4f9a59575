// SPDX-License-Identifier: MIT
// The options that select calls, and a time range: the same for recording and for reading (docs/filters.md).
//
// Why one place: one syntax, one meaning; filter_rules.h turns them into rules.
// Invariant: everything here was parsed with the command line; texts are only printed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "model/names/function_chooser.h"
#include "model/names/function_pattern.h"
#include "options/arguments.h"
#include "options/triggers.h"
#include "options/values.h"

namespace penna {

// How a recording stores --point-stacks.
inline constexpr const char* kPointStacksWord = "point-stacks";

// All of them must hold, except that one match suffices in each of `functions`, `callers`, `targets`, `modules` and
// `sources`. Times are relative to the recording's start (range), or a call's length (min_time).
struct FilterOptions {
  std::vector<FunctionPattern> functions, not_functions, hidden, callers, targets;
  std::vector<PathPattern> modules, sources;
  std::vector<TriggerOption> triggers;
  std::optional<uint32_t> depth;
  std::optional<Duration> min_time;
  std::optional<Typed<TimeRange>> range;
};

void add_filter_options(OptionParser& parser, FilterOptions& options, FilterUse use);

// Those of -F; empty if it leaves no function out: it names none, or only '*'.
std::vector<FunctionPattern> restricted_to(const FilterOptions& options);
// The functions of triggers with one of these actions.
std::vector<FunctionPattern> triggered(const FilterOptions& options, std::initializer_list<TriggerAction> actions);
// The points of -T PROVIDER:NAME@stack, in the form of -e.
std::vector<std::string> stacked_points(const FilterOptions& options);
// The actions that leave something out.
inline constexpr auto kFilteringActions = {TriggerAction::kOn,      TriggerAction::kOff,   TriggerAction::kFilter,
                                           TriggerAction::kNotrace, TriggerAction::kDepth, TriggerAction::kTime,
                                           TriggerAction::kFinish};
// The options that leave something out, as typed: "-F 'pay*' --depth 3"; empty if none does. For sentences.
std::string filter_text(const FilterOptions& options);
// The same, except the time range, which affects more than calls.
std::string call_filter_text(const FilterOptions& options);
// How a recording stores the rules it was made with, one string per option.
std::vector<std::string> filter_words(const FilterOptions& options);

}  // namespace penna
