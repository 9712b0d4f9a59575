// SPDX-License-Identifier: MIT
// See filter_rules.h.
#include "options/filter_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "base/pattern.h"
#include "model/calls/first_entry.h"
#include "model/events/summary.h"
#include "model/names/recorded_names.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr int64_t kForEver = TimeRange::kForEver;

// Whether any option depends on the called function. If not, no symbols are read, and no call is looked at.
bool asks_functions(const FilterOptions& options) {
  return !restricted_to(options).empty() || !options.not_functions.empty() || !options.hidden.empty() ||
         !options.callers.empty() || !options.targets.empty() || !options.modules.empty() || !options.sources.empty() ||
         !triggered(options, kFilteringActions).empty();
}

// The three closures share one chooser: it caches its decisions, and knows which patterns matched no function.
void ask_chooser(FunctionChoice choice, std::unique_ptr<SymbolSource> symbols, CallRules& rules) {
  auto chooser = std::make_shared<FunctionChooser>(std::move(choice), std::move(symbols));
  rules.ask = [chooser](uint32_t process, uint64_t pc, uint64_t ticks) { return chooser->traits(process, pc, ticks); };
  rules.learn = [chooser](uint32_t process, const Module& module) { return chooser->learn(process, module); };
  rules.unmet = [chooser] { return chooser->unmet(); };
}

// Rounded up, so that a limit is not undercut. A limit too long for 64 bits of ticks never expires.
uint64_t ticks_of(int64_t ns, double ticks_per_ns) {
  const double ticks = std::ceil(static_cast<double>(ns) * ticks_per_ns);
  return ticks < 9e18 ? static_cast<uint64_t>(ticks) : std::numeric_limits<uint64_t>::max();
}

FunctionLimit limit_of(const Trigger& trigger, double ticks_per_ns) {
  FunctionLimit limit{trigger.function, trigger.text};
  if (trigger.action == TriggerAction::kDepth) limit.depth = static_cast<uint32_t>(trigger.value);
  if (trigger.action == TriggerAction::kTime)
    limit.min_ticks = ticks_of(static_cast<int64_t>(trigger.value), ticks_per_ns);
  return limit;
}

// `recorded`: FUNC@time limits that the recording was made with. They also apply to readers, because the recorder
// applied them roughly: what it kept may include calls that are too short.
void choose_functions(const FilterOptions& options, const std::vector<Trigger>& recorded, double ticks_per_ns,
                      std::unique_ptr<SymbolSource> symbols, CallRules& rules) {
  FunctionChoice choice;
  choice.only = restricted_to(options);
  choice.never = options.not_functions;
  choice.hidden = options.hidden;
  choice.callers = options.callers;
  choice.targets = options.targets;
  choice.on = triggered(options, {TriggerAction::kOn});
  choice.off = triggered(options, {TriggerAction::kOff});
  choice.filters = triggered(options, {TriggerAction::kFilter});
  choice.notraces = triggered(options, {TriggerAction::kNotrace});
  choice.finishes = triggered(options, {TriggerAction::kFinish});
  for (const Trigger& trigger : triggers_of(options.triggers, {TriggerAction::kDepth, TriggerAction::kTime}))
    choice.limits.push_back(limit_of(trigger, ticks_per_ns));
  for (const Trigger& trigger : recorded) {
    choice.limits.push_back(limit_of(trigger, ticks_per_ns));
    choice.limits.back().was_recorded = true;
  }
  choice.modules = options.modules;
  choice.sources = options.sources;
  rules.inside_callers = !choice.callers.empty() || !choice.filters.empty();
  rules.only_paths = !options.targets.empty();
  rules.starts_off = !choice.on.empty();
  ask_chooser(std::move(choice), std::move(symbols), rules);
}

std::unique_ptr<SymbolSource> of_this_machine() { return make_symbol_source(); }

// The common part for recording and reading. `symbols` creates the symbols on demand.
CallRules common_rules(const FilterOptions& options, double ticks_per_ns,
                       const std::function<std::unique_ptr<SymbolSource>()>& symbols,
                       const std::vector<Trigger>& recorded = {}) {
  CallRules rules;
  if (options.depth) rules.depth = *options.depth;
  rules.min_ticks = ticks_of(options.min_time ? static_cast<int64_t>(options.min_time->value) : 0, ticks_per_ns);
  if (asks_functions(options) || !recorded.empty()) choose_functions(options, recorded, ticks_per_ns, symbols(), rules);
  return rules;
}

// The first tick at which at least `ns` have passed since `start`. By bisection, in 64 steps: TimeMap only converts
// ticks to time, and its slope changes where the clocks were read (recording/time_map.h).
uint64_t ticks_at(const Recording& recording, uint64_t start, int64_t ns) {
  uint64_t low = start, high = std::numeric_limits<uint64_t>::max();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (recording.time().duration_ns(start, middle) < ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The filters that a recording was made with, as far as they apply to its readers.
struct RecordedFilter {
  int64_t min_ns = 0;
  TimeRange range;
  std::vector<FunctionPattern> targets;
  std::vector<Trigger> times;  // FUNC@time=TIME
};

// The session's options are text in a file that anyone may have written. Unparsable ones are skipped: an ignored filter
// shows more, never less.
RecordedFilter recorded_filter(const Session& session) {
  RecordedFilter filter;
  for (const std::string& option : session.options) {
    const size_t equals = option.find('=');
    if (equals == option.npos) continue;
    const std::string_view word = std::string_view(option).substr(0, equals);
    const std::string text = option.substr(equals + 1);
    if (word == "min-time") filter.min_ns = parse_duration(text).value_or(filter.min_ns);
    if (word == "paths-to" && check_pattern(text)) filter.targets.emplace_back(text);
    if (const auto range = word == "range" ? parse_range(text) : Error{}; range) {
      filter.range.begin = std::max(filter.range.begin, range->begin);
      filter.range.end = std::min(filter.range.end, range->end);
    }
    if (const auto trigger = word == "trigger" ? parse_trigger(text, FilterUse::kRecording) : Error{}; trigger)
      for (Trigger& time : triggers_of({*trigger}, {TriggerAction::kTime})) filter.times.push_back(std::move(time));
  }
  return filter;
}

// Where the recording ends by -T FUNC@finish: at the first such entry, as requested by the reader or as seen by the
// recorder. The recorder notices it late, and records a little more than that. UINT64_MAX: nowhere.
uint64_t end_by_function(const FilterOptions& options, const Recording& recording, const SymbolOptions& symbols) {
  const uint64_t seen = recording.collector().finish_ticks;
  uint64_t end = seen != 0 ? seen : UINT64_MAX;
  FunctionChoice choice;
  choice.finishes = triggered(options, {TriggerAction::kFinish});
  if (!choice.finishes.empty()) {
    FunctionChooser chooser(std::move(choice), make_symbol_source(symbols, recording));
    for (uint32_t process = 0; process < recording.processes().size(); ++process)
      for (const Module& module : recording.processes()[process].modules) (void)chooser.learn(process, module);
    end = std::min(end, first_entry(recording, [&chooser](uint32_t process, uint64_t pc, uint64_t ticks) {
                     return chooser.traits(process, pc, ticks).finish;
                   }));
  }
  return end == UINT64_MAX ? end : end + 1;  // that call is the last one included
}

}  // namespace

bool asked_for_point_stacks(const Session& session) {
  return std::any_of(session.options.begin(), session.options.end(), [](const std::string& option) {
    constexpr std::string_view kTriggerWord = "trigger=";
    if (option == kPointStacksWord) return true;
    if (!option.starts_with(kTriggerWord)) return false;
    const auto trigger = parse_trigger(option.substr(kTriggerWord.size()), FilterUse::kRecording);
    return trigger && !triggers_of({*trigger}, {TriggerAction::kPointStack}).empty();
  });
}

// The exact rules: the clock's rate and the start of the recording are known.
CallRules reading_rules(const FilterOptions& options, const Recording& recording, const SymbolOptions& symbols) {
  const RecordedFilter recorded = recorded_filter(recording.session());
  FilterOptions narrowed = options;
  // Calls that lead to the targets may have been kept for another reason: they were open where a chunk ended.
  if (options.targets.empty()) narrowed.targets = recorded.targets;
  const double ticks_per_ns = 1 / recording.time().ns_per_tick();
  CallRules rules = common_rules(
      narrowed, ticks_per_ns, [&] { return make_symbol_source(symbols, recording); }, recorded.times);
  TimeRange range = options.range ? options.range->value : TimeRange{};
  range.begin = std::max(range.begin, recorded.range.begin);
  range.end = std::min(range.end, recorded.range.end);
  rules.recorded_min_ticks = ticks_of(recorded.min_ns, ticks_per_ns);
  if (range.begin != 0 || range.end != kForEver) {
    const uint64_t start = summarize(recording).first_time;
    if (range.begin != 0) rules.begin = ticks_at(recording, start, range.begin);
    if (range.end != kForEver) rules.end = ticks_at(recording, start, range.end);
  }
  if (const uint64_t end = end_by_function(options, recording, symbols); end < rules.end) {
    rules.end = end;
    rules.finishes = true;
  }
  // A reader knows all modules from the beginning; while recording they become known one by one.
  if (rules.learn) {
    for (uint32_t process = 0; process < recording.processes().size(); ++process)
      for (const Module& module : recording.processes()[process].modules) (void)rules.learn(process, module);
  }
  return rules;
}

CallRules watched_functions(const FilterOptions& options, TriggerAction action) {
  FunctionChoice choice;
  (action == TriggerAction::kFinish ? choice.finishes : choice.snapshots) = triggered(options, {action});
  CallRules rules;
  if (!choice.snapshots.empty() || !choice.finishes.empty())
    ask_chooser(std::move(choice), make_symbol_source(), rules);
  return rules;
}

ChosenFunctions chosen_functions(const std::vector<std::string>& only, const std::vector<std::string>& never) {
  FunctionChoice choice;
  for (const std::string& text : only) choice.only.emplace_back(text);
  for (const std::string& text : never) choice.never.emplace_back(text);
  auto chooser = std::make_shared<FunctionChooser>(std::move(choice), of_this_machine());
  return {[chooser](uint32_t process, uint64_t pc, uint64_t ticks) {
            const FunctionTraits traits = chooser->traits(process, pc, ticks);
            return ChosenFunctions::Answer{traits.chosen, traits.lasting};
          },
          [chooser](uint32_t process, const Module& module) { return chooser->learn(process, module); }};
}

CallRules rules_for(FunctionPattern function) {
  FunctionChoice choice;
  choice.snapshots.push_back(std::move(function));
  CallRules rules;
  ask_chooser(std::move(choice), make_symbol_source(), rules);
  return rules;
}

bool needs_clock(const FilterOptions& options) {
  return options.min_time || options.range || !triggered(options, {TriggerAction::kTime}).empty();
}

// Rough on purpose, erring on the side of keeping more: the clock's rate is only estimated, and the first process has
// not started. Readers apply the exact limits again.
CallRules recording_rules(const FilterOptions& options, double ticks_per_ns) {
  constexpr double kClockDoubt = 0.002;       // relative error of the quickly measured rate
  constexpr int64_t kStartDoubt = 1'000'000;  // ns
  CallRules rules = common_rules(options, ticks_per_ns * (1 - kClockDoubt), of_this_machine);
  rules.rough = true;
  rules.finishes = !triggered(options, {TriggerAction::kFinish}).empty();
  if (!options.range) return rules;
  const TimeRange& range = options.range->value;
  if (range.begin > kStartDoubt) rules.begin = ticks_of(range.begin - kStartDoubt, ticks_per_ns * (1 - kClockDoubt));
  if (range.end < kForEver - kStartDoubt) {
    rules.end = ticks_of(range.end + kStartDoubt, ticks_per_ns * (1 + kClockDoubt));
    rules.earliest_end = ticks_of(std::max<int64_t>(range.end - kStartDoubt, 0), ticks_per_ns * (1 - kClockDoubt));
  }
  return rules;
}

CallRules live_rules(const FilterOptions& options, double ticks_per_ns) {
  CallRules rules = common_rules(options, ticks_per_ns, of_this_machine);
  rules.finishes = !triggered(options, {TriggerAction::kFinish}).empty();
  if (!options.range) return rules;
  const TimeRange& range = options.range->value;
  rules.begin = ticks_of(range.begin, ticks_per_ns);
  if (range.end != kForEver) rules.end = ticks_of(range.end, ticks_per_ns);
  return rules;
}

}  // namespace penna
