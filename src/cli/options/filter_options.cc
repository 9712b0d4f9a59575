// SPDX-License-Identifier: MIT
// See filter_options.h.
#include "cli/options/filter_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "model/calls/first_entry.h"
#include "model/events/summary.h"
#include "model/names/function_chooser.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr std::string_view kMinTimeWord = "min-time=", kRangeWord = "range=", kTriggerWord = "trigger=",
                           kPathsWord = "paths-to=";
constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

Result<int64_t> min_time_of(const FilterOptions& options) {
  if (options.min_time.empty()) return int64_t{0};
  if (const auto ns = parse_duration(options.min_time)) return *ns;
  return Error{fmt::format("--min-time is a time with its unit, as 10us or 1.5ms, not '{}'", options.min_time)};
}

constexpr auto kFilters = {TriggerAction::kOn,    TriggerAction::kOff,  TriggerAction::kFilter, TriggerAction::kNotrace,
                           TriggerAction::kDepth, TriggerAction::kTime, TriggerAction::kFinish};

template <typename Pattern>
std::vector<Pattern> patterns(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

bool asks_functions(const FilterOptions& options) {
  return !options.functions.empty() || !options.not_functions.empty() || !options.hidden.empty() ||
         !options.callers.empty() || !options.targets.empty() || !options.modules.empty() || !options.sources.empty() ||
         !triggered(options, kFilters).empty();
}

void ask_chooser(FunctionChoice choice, const SymbolOptions& symbols, CallRules& rules) {
  auto chooser = std::make_shared<FunctionChooser>(std::move(choice), make_symbol_source(symbols));
  rules.ask = [chooser](uint32_t process, uint64_t pc, uint64_t ticks) { return chooser->traits(process, pc, ticks); };
  rules.learn = [chooser](uint32_t process, const Module& module) { return chooser->learn(process, module); };
  rules.unmet = [chooser] { return chooser->unmet(); };
}

uint64_t ticks_of(int64_t ns, double ticks_per_ns) {
  const double ticks = std::ceil(static_cast<double>(ns) * ticks_per_ns);
  return ticks < 9e18 ? static_cast<uint64_t>(ticks) : std::numeric_limits<uint64_t>::max();
}

FunctionLimit limit_of(const Trigger& trigger, double ticks_per_ns) {
  FunctionLimit limit{FunctionPattern(trigger.function), trigger.text};
  if (trigger.action == TriggerAction::kDepth) limit.depth = static_cast<uint32_t>(trigger.value);
  if (trigger.action == TriggerAction::kTime)
    limit.min_ticks = ticks_of(static_cast<int64_t>(trigger.value), ticks_per_ns);
  return limit;
}

// `recorded`: options that the recording was made with, of which the limits of time hold, too.
void choose_functions(const FilterOptions& options, const std::vector<std::string>& recorded, double ticks_per_ns,
                      const SymbolOptions& symbols, CallRules& rules) {
  FunctionChoice choice;
  choice.only = patterns<FunctionPattern>(options.functions);
  choice.never = patterns<FunctionPattern>(options.not_functions);
  choice.hidden = patterns<FunctionPattern>(options.hidden);
  choice.callers = patterns<FunctionPattern>(options.callers);
  choice.targets = patterns<FunctionPattern>(options.targets);
  choice.on = patterns<FunctionPattern>(triggered(options, {TriggerAction::kOn}));
  choice.off = patterns<FunctionPattern>(triggered(options, {TriggerAction::kOff}));
  choice.filters = patterns<FunctionPattern>(triggered(options, {TriggerAction::kFilter}));
  choice.notraces = patterns<FunctionPattern>(triggered(options, {TriggerAction::kNotrace}));
  choice.finishes = patterns<FunctionPattern>(triggered(options, {TriggerAction::kFinish}));
  for (const Trigger& trigger : triggers_of(options.triggers, {TriggerAction::kDepth, TriggerAction::kTime}))
    choice.limits.push_back(limit_of(trigger, ticks_per_ns));
  for (const Trigger& trigger : triggers_of(recorded, {TriggerAction::kTime})) {
    choice.limits.push_back(limit_of(trigger, ticks_per_ns));
    choice.limits.back().was_recorded = true;
  }
  choice.modules = patterns<PathPattern>(options.modules);
  choice.sources = patterns<PathPattern>(options.sources);
  rules.inside_callers = !choice.callers.empty() || !choice.filters.empty();
  rules.only_paths = !options.targets.empty();
  rules.starts_off = !choice.on.empty();
  ask_chooser(std::move(choice), symbols, rules);
}

// What is the same for recording and reading.
CallRules common_rules(const FilterOptions& options, double ticks_per_ns, const SymbolOptions& symbols = {},
                       const std::vector<std::string>& recorded = {}) {
  CallRules rules;
  if (options.depth) rules.depth = *options.depth;
  rules.min_ticks = ticks_of(*min_time_of(options), ticks_per_ns);
  if (asks_functions(options) || !recorded.empty()) choose_functions(options, recorded, ticks_per_ns, symbols, rules);
  return rules;
}

// The ticks at which the time since `start` is `ns`, by bisection: TimeMap only knows the other direction.
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

// What a recording says behind such a word, where it has sense.
std::vector<std::string> recorded_words(const Session& session, std::string_view word) {
  std::vector<std::string> texts;
  for (const std::string& option : session.options)
    if (option.starts_with(word)) texts.push_back(option.substr(word.size()));
  return texts;
}

int64_t recorded_min_ns(const Session& session) {
  int64_t ns = 0;
  for (const std::string& text : recorded_words(session, kMinTimeWord)) ns = parse_duration(text).value_or(ns);
  return ns;
}

// The range that a recording was made with narrows the one that is asked for now.
void narrow(const Session& session, TimeRange& range) {
  for (const std::string& text : recorded_words(session, kRangeWord)) {
    const Result<TimeRange> recorded = parse_range(text);
    if (!recorded) continue;
    range.begin = std::max(range.begin, recorded->begin);
    range.end = std::min(range.end, recorded->end);
  }
}

// What leads to them may have been kept for more than that: calls that were open where a chunk ended.
std::vector<std::string> recorded_targets(const Session& session) {
  std::vector<std::string> targets = recorded_words(session, kPathsWord);
  std::erase_if(targets, [](const std::string& text) { return !check_pattern(text); });
  return targets;
}

// When the first function of -T FUNC@finish was entered, as whoever reads has asked or the recorder has seen; the
// recording ends there.
uint64_t end_by_function(const FilterOptions& options, const Recording& recording, const SymbolOptions& symbols) {
  const uint64_t seen = recording.collector().finish_ticks;
  uint64_t end = seen != 0 ? seen : UINT64_MAX;
  FunctionChoice choice;
  choice.finishes = patterns<FunctionPattern>(triggered(options, {TriggerAction::kFinish}));
  if (!choice.finishes.empty()) {
    FunctionChooser chooser(std::move(choice), make_symbol_source(symbols));
    for (uint32_t process = 0; process < recording.processes().size(); ++process)
      for (const Module& module : recording.processes()[process].modules) (void)chooser.learn(process, module);
    end = std::min(end, first_entry(recording, [&chooser](uint32_t process, uint64_t pc, uint64_t ticks) {
                     return chooser.traits(process, pc, ticks).finish;
                   }));
  }
  return end == UINT64_MAX ? end : end + 1;  // that call is the last that is there
}

template <typename Visit>
void each_option(const FilterOptions& options, Visit&& visit) {
  for (const auto& text : options.functions) visit("-F", "function", text);
  for (const auto& text : options.not_functions) visit("-N", "no-function", text);
  for (const auto& text : options.hidden) visit("--hide", "hide", text);
  for (const auto& text : options.callers) visit("--caller", "caller", text);
  for (const auto& text : options.targets) visit("--paths-to", "paths-to", text);
  for (const auto& text : options.modules) visit("--module", "module", text);
  for (const auto& text : options.sources) visit("--source", "source", text);
  for (const auto& text : options.triggers) visit("-T", "trigger", text);
  if (options.depth) visit("--depth", "depth", std::to_string(*options.depth));
  if (!options.min_time.empty()) visit("--min-time", "min-time", options.min_time);
  if (!options.range.empty()) visit("-r", "range", options.range);
}

bool needs_quotes(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:+-/@") !=
         std::string::npos;
}

}  // namespace

std::vector<std::string> triggered(const FilterOptions& options, std::initializer_list<TriggerAction> actions) {
  std::vector<std::string> functions;
  for (Trigger& trigger : triggers_of(options.triggers, actions)) functions.push_back(std::move(trigger.function));
  return functions;
}

void add_filter_options(OptionParser& parser, FilterOptions& options, FilterUse use) {
  parser.texts(
      "-F,--function", options.functions, "PATTERN",
      "only calls of functions of this name: pay, shop::pay, 'shop::*', '/^shop::(pay|book)/'; may be repeated");
  parser.texts("-N,--no-function", options.not_functions, "PATTERN",
               "no calls of functions of this name, whatever -F says; may be repeated");
  parser.texts("--hide", options.hidden, "PATTERN", "no calls of such a function, nor what they call; may be repeated");
  parser.texts("--caller", options.callers, "PATTERN", "only calls inside a call of such a function, it included");
  parser.texts("--paths-to", options.targets, "PATTERN",
               "only calls of such a function and those that lead to one, not what it calls; may be repeated");
  parser.number("--depth", options.depth, "N", "at most N calls deep, of those that are kept", 1);
  parser.text("--min-time", options.min_time, "TIME", "no calls shorter than this, as 10us");
  parser.texts("--module", options.modules, "PATTERN", "only calls of functions in such a file, as 'libshop*'");
  parser.texts("--source", options.sources, "PATTERN", "only calls of functions of such a source file, as 'shop/*.c'");
  parser.text("-r,--range", options.range, "FROM-TO",
              "only what happened in this time since the start: 1.2s-3s or 1.2s..3s, 1.2s-, -3s, 1.2s+500ms");
  if (use == FilterUse::kReading)
    parser.texts(
        "-T,--trigger", options.triggers, "FUNC@WHAT",
        "on, off: calls of a thread are kept from, or until, it enters FUNC; filter, notrace: as --caller, "
        "--hide; depth=N, time=TIME: inside of FUNC this holds instead of --depth, --min-time; finish: nothing "
        "is shown from where FUNC is entered first; several with commas between; may be repeated");
  else
    parser.texts("-T,--trigger", options.triggers, "FUNC@WHAT",
                 "on, off: calls of a thread are kept from, or until, it enters FUNC; filter, notrace: as --caller, "
                 "--hide; depth=N, time=TIME: inside of FUNC this holds instead of --depth, --min-time; finish: the "
                 "recording ends when FUNC is entered; stack: record from where FUNC is called, each time, or where "
                 "FUNC is PROVIDER:NAME, a point is passed; snapshot: keep events in memory only, and store them when "
                 "FUNC is entered; several with commas between; may be repeated");
}

Result<TimeRange> parse_range(const std::string& text) {
  const Error wrong{
      fmt::format("--range is a time from the start, as 1.2s-3s, 1.2s-, -3s or 1.2s+500ms, not '{}'", text)};
  const size_t dots = text.find("..");
  const size_t at = dots != std::string::npos ? dots : text.find_first_of("-+");
  const size_t sign = dots != std::string::npos ? 2 : 1;
  if (at == std::string::npos || text.size() == sign) return wrong;
  const std::string from = text.substr(0, at), to = text.substr(at + sign);
  TimeRange range;
  if (!from.empty() && from != "0") {
    const auto ns = parse_duration(from);
    if (!ns) return wrong;
    range.begin = *ns;
  }
  if (!to.empty()) {
    const auto ns = parse_duration(to);
    if (!ns) return wrong;
    range.end = text[at] != '+' ? *ns : *ns > kForEver - range.begin ? kForEver : range.begin + *ns;
  } else if (text[at] == '+') {
    return wrong;
  }
  if (range.begin >= range.end)
    return Error{fmt::format("--range '{}' is empty: its end lies before its beginning", text)};
  return range;
}

Result<> check_filter(const FilterOptions& options, FilterUse use) {
  PENNA_TRY(min_time_of(options));
  if (!options.range.empty()) PENNA_TRY(parse_range(options.range));
  for (const std::string& text : options.triggers) {
    const std::vector<Trigger> triggers = PENNA_TRY(parse_triggers(text, use));
    PENNA_TRY(check_pattern(triggers.front().function));
  }
  for (const auto* texts : {&options.functions, &options.not_functions, &options.hidden, &options.callers,
                            &options.targets, &options.modules, &options.sources})
    for (const std::string& text : *texts) {
      if (text.empty()) return Error{"a pattern is empty: write a name, where * stands for anything"};
      PENNA_TRY(check_pattern(text));
    }
  return ok();
}

bool asked_for_point_stacks(const Session& session) {
  return std::any_of(session.options.begin(), session.options.end(), [](const std::string& option) {
    if (option == kPointStacksWord) return true;
    if (!option.starts_with(kTriggerWord)) return false;
    return !triggers_of({option.substr(kTriggerWord.size())}, {TriggerAction::kPointStack}).empty();
  });
}

std::string filter_text(const FilterOptions& options) {
  std::vector<std::string> words;
  FilterOptions filter = options;
  std::erase_if(filter.triggers, [](const std::string& text) { return triggers_of({text}, kFilters).empty(); });
  each_option(filter, [&](const char* option, const char*, const std::string& text) {
    words.push_back(needs_quotes(text) ? fmt::format("{} '{}'", option, text) : fmt::format("{} {}", option, text));
  });
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> filter_words(const FilterOptions& options) {
  std::vector<std::string> words;
  each_option(options, [&](const char*, const char* name, const std::string& text) {
    words.push_back(fmt::format("{}={}", name, text));
  });
  return words;
}

// Those that say how long calls must take: whoever reads the recording judges that again.
static std::vector<std::string> timed(const std::vector<std::string>& triggers) {
  std::vector<std::string> found;
  for (const std::string& text : triggers)
    if (!triggers_of({text}, {TriggerAction::kTime}).empty() && check_pattern(text.substr(0, text.rfind('@'))))
      found.push_back(text);
  return found;
}

CallRules reading_rules(const FilterOptions& options, const Recording& recording, const SymbolOptions& symbols) {
  FilterOptions narrowed = options;
  if (options.targets.empty()) narrowed.targets = recorded_targets(recording.session());
  const double ticks_per_ns = 1 / recording.time().ns_per_tick();
  const std::vector<std::string> recorded = recorded_words(recording.session(), kTriggerWord);
  CallRules rules = common_rules(narrowed, ticks_per_ns, symbols, timed(recorded));
  TimeRange range = options.range.empty() ? TimeRange{} : *parse_range(options.range);
  narrow(recording.session(), range);
  rules.recorded_min_ticks = ticks_of(recorded_min_ns(recording.session()), ticks_per_ns);
  if (range.begin != 0 || range.end != kForEver) {
    const uint64_t start = summarize(recording).first_time;
    if (range.begin != 0) rules.begin = ticks_at(recording, start, range.begin);
    if (range.end != kForEver) rules.end = ticks_at(recording, start, range.end);
  }
  if (const uint64_t end = end_by_function(options, recording, symbols); end < rules.end) {
    rules.end = end;
    rules.finishes = true;
  }
  if (rules.learn) {
    for (uint32_t process = 0; process < recording.processes().size(); ++process)
      for (const Module& module : recording.processes()[process].modules) (void)rules.learn(process, module);
  }
  return rules;
}

CallRules watched_functions(const FilterOptions& options, TriggerAction action) {
  FunctionChoice choice;
  (action == TriggerAction::kFinish ? choice.finishes : choice.snapshots) =
      patterns<FunctionPattern>(triggered(options, {action}));
  CallRules rules;
  if (!choice.snapshots.empty() || !choice.finishes.empty()) ask_chooser(std::move(choice), SymbolOptions{}, rules);
  return rules;
}

bool needs_clock(const FilterOptions& options) {
  return !options.min_time.empty() || !options.range.empty() || !triggered(options, {TriggerAction::kTime}).empty();
}

CallRules recording_rules(const FilterOptions& options, double ticks_per_ns) {
  constexpr double kClockDoubt = 0.002;       // of the rate, as it is measured in a moment
  constexpr int64_t kStartDoubt = 1'000'000;  // ns
  CallRules rules = common_rules(options, ticks_per_ns * (1 - kClockDoubt));
  rules.rough = true;
  rules.finishes = !triggered(options, {TriggerAction::kFinish}).empty();
  if (options.range.empty()) return rules;
  const TimeRange range = *parse_range(options.range);
  if (range.begin > kStartDoubt) rules.begin = ticks_of(range.begin - kStartDoubt, ticks_per_ns * (1 - kClockDoubt));
  if (range.end < kForEver - kStartDoubt) {
    rules.end = ticks_of(range.end + kStartDoubt, ticks_per_ns * (1 + kClockDoubt));
    rules.earliest_end = ticks_of(std::max<int64_t>(range.end - kStartDoubt, 0), ticks_per_ns * (1 - kClockDoubt));
  }
  return rules;
}

CallRules live_rules(const FilterOptions& options, double ticks_per_ns) {
  CallRules rules = common_rules(options, ticks_per_ns);
  rules.finishes = !triggered(options, {TriggerAction::kFinish}).empty();
  if (options.range.empty()) return rules;
  const TimeRange range = *parse_range(options.range);
  rules.begin = ticks_of(range.begin, ticks_per_ns);
  if (range.end != kForEver) rules.end = ticks_of(range.end, ticks_per_ns);
  return rules;
}

}  // namespace penna
