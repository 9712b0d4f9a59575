// SPDX-License-Identifier: MIT
// See filter_options.h.
#include "cli/filter_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "model/function_chooser.h"
#include "model/summary.h"
#include "penna/detail/regex.h"
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

constexpr std::pair<std::string_view, TriggerAction> kActions[] = {{"on", TriggerAction::kOn},
                                                                   {"off", TriggerAction::kOff},
                                                                   {"stack", TriggerAction::kStack},
                                                                   {"snapshot", TriggerAction::kSnapshot}};

// Says what is kept; the others say what is recorded besides.
bool filters(TriggerAction action) { return action == TriggerAction::kOn || action == TriggerAction::kOff; }
constexpr auto kFilters = {TriggerAction::kOn, TriggerAction::kOff};

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

void choose_functions(const FilterOptions& options, const SymbolOptions& symbols, CallRules& rules) {
  FunctionChoice choice;
  choice.only = patterns<FunctionPattern>(options.functions);
  choice.never = patterns<FunctionPattern>(options.not_functions);
  choice.hidden = patterns<FunctionPattern>(options.hidden);
  choice.callers = patterns<FunctionPattern>(options.callers);
  choice.targets = patterns<FunctionPattern>(options.targets);
  choice.on = patterns<FunctionPattern>(triggered(options, {TriggerAction::kOn}));
  choice.off = patterns<FunctionPattern>(triggered(options, {TriggerAction::kOff}));
  choice.modules = patterns<PathPattern>(options.modules);
  choice.sources = patterns<PathPattern>(options.sources);
  rules.inside_callers = !options.callers.empty();
  rules.only_paths = !options.targets.empty();
  rules.starts_off = !choice.on.empty();
  ask_chooser(std::move(choice), symbols, rules);
}

// What is the same for recording and reading.
CallRules common_rules(const FilterOptions& options, const SymbolOptions& symbols) {
  CallRules rules;
  if (options.depth) rules.depth = *options.depth;
  if (asks_functions(options)) choose_functions(options, symbols, rules);
  return rules;
}

uint64_t ticks_of(int64_t ns, double ticks_per_ns) {
  const double ticks = std::ceil(static_cast<double>(ns) * ticks_per_ns);
  return ticks < 9e18 ? static_cast<uint64_t>(ticks) : std::numeric_limits<uint64_t>::max();
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

// The limits that a recording was made with narrow those that are asked for now.
void narrow(const Session& session, int64_t& min_ns, TimeRange& range) {
  for (const std::string& option : session.options) {
    if (option.starts_with(kMinTimeWord))
      min_ns = std::max(min_ns, parse_duration(option.substr(kMinTimeWord.size())).value_or(0));
    if (!option.starts_with(kRangeWord)) continue;
    const Result<TimeRange> recorded = parse_range(option.substr(kRangeWord.size()));
    if (!recorded) continue;
    range.begin = std::max(range.begin, recorded->begin);
    range.end = std::min(range.end, recorded->end);
  }
}

// What leads to them may have been kept for more than that: calls that were open where a chunk ended.
std::vector<std::string> recorded_targets(const Session& session) {
  std::vector<std::string> targets;
  for (const std::string& option : session.options)
    if (option.starts_with(kPathsWord) && penna_is_pattern(option.c_str() + kPathsWord.size()) != 0)
      targets.push_back(option.substr(kPathsWord.size()));
  return targets;
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

// Has a colon that is not one of two: PROVIDER:NAME, not shop::pay.
bool names_points(const std::string& pattern) {
  for (size_t at = pattern.find(':'); at != std::string::npos; at = pattern.find(':', at)) {
    const size_t end = std::min(pattern.find_first_not_of(':', at), pattern.size());
    if (end - at == 1) return true;
    at = end;
  }
  return false;
}

}  // namespace

Result<Trigger> parse_trigger(const std::string& text, FilterUse use) {
  const size_t at = text.rfind('@');
  const std::string_view what = at == text.npos ? std::string_view() : std::string_view(text).substr(at + 1);
  const auto* found =
      std::find_if(std::begin(kActions), std::end(kActions), [&](const auto& one) { return one.first == what; });
  if (at == 0 || found == std::end(kActions))
    return Error{fmt::format(
        "--trigger is a function and what happens there, as 'work@on', 'work@off', 'work@stack' or 'work@snapshot', "
        "not '{}'",
        text)};
  if (use == FilterUse::kReading && !filters(found->second))
    return Error{
        fmt::format("--trigger '{}' is for penna record: {}", text,
                    found->second == TriggerAction::kStack ? "only while the program runs there is a stack"
                                                           : "afterwards, -r and -T FUNC@off show what was before"),
    };
  const std::string name = text.substr(0, at);
  if (found->second == TriggerAction::kStack && names_points(name)) return Trigger{name, TriggerAction::kPointStack};
  return Trigger{name, found->second};
}

std::vector<std::string> triggered(const FilterOptions& options, std::initializer_list<TriggerAction> actions) {
  std::vector<std::string> functions;
  for (const std::string& text : options.triggers)
    if (const auto trigger = parse_trigger(text, FilterUse::kRecording);
        trigger && std::find(actions.begin(), actions.end(), trigger->action) != actions.end())
      functions.push_back(trigger->function);
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
    parser.texts("-T,--trigger", options.triggers, "FUNC@on|off",
                 "calls of a thread are kept from, or until, it enters FUNC; may be repeated");
  else
    parser.texts("-T,--trigger", options.triggers, "FUNC@WHAT",
                 "on, off: calls of a thread are kept from, or until, it enters FUNC; stack: record from where FUNC is "
                 "called, each time, or where FUNC is PROVIDER:NAME, a point is passed; snapshot: keep events in "
                 "memory only, and store them when FUNC is entered; may be "
                 "repeated");
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
    const Trigger trigger = PENNA_TRY(parse_trigger(text, use));
    PENNA_TRY(check_pattern(trigger.function));
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
    const auto trigger = parse_trigger(option.substr(kTriggerWord.size()), FilterUse::kRecording);
    return trigger && trigger->action == TriggerAction::kPointStack;
  });
}

std::string filter_text(const FilterOptions& options) {
  std::vector<std::string> words;
  FilterOptions filter = options;
  std::erase_if(filter.triggers,
                [](const std::string& text) { return !filters(parse_trigger(text, FilterUse::kRecording)->action); });
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

CallRules reading_rules(const FilterOptions& options, const Recording& recording, const SymbolOptions& symbols) {
  FilterOptions narrowed = options;
  if (options.targets.empty()) narrowed.targets = recorded_targets(recording.session());
  CallRules rules = common_rules(narrowed, symbols);
  int64_t min_ns = *min_time_of(options);
  TimeRange range = options.range.empty() ? TimeRange{} : *parse_range(options.range);
  narrow(recording.session(), min_ns, range);
  rules.min_ticks = ticks_of(min_ns, 1 / recording.time().ns_per_tick());
  if (range.begin != 0 || range.end != kForEver) {
    const uint64_t start = summarize(recording).first_time;
    if (range.begin != 0) rules.begin = ticks_at(recording, start, range.begin);
    if (range.end != kForEver) rules.end = ticks_at(recording, start, range.end);
  }
  if (rules.learn) {
    for (uint32_t process = 0; process < recording.processes().size(); ++process)
      for (const Module& module : recording.processes()[process].modules) (void)rules.learn(process, module);
  }
  return rules;
}

CallRules snapshot_functions(const FilterOptions& options) {
  FunctionChoice choice;
  choice.snapshots = patterns<FunctionPattern>(triggered(options, {TriggerAction::kSnapshot}));
  CallRules rules;
  if (!choice.snapshots.empty()) ask_chooser(std::move(choice), SymbolOptions{}, rules);
  return rules;
}

CallRules recording_rules(const FilterOptions& options, double ticks_per_ns) {
  constexpr double kClockDoubt = 0.002;       // of the rate, as it is measured in a moment
  constexpr int64_t kStartDoubt = 1'000'000;  // ns
  CallRules rules = common_rules(options, SymbolOptions{});
  rules.rough = true;
  rules.min_ticks = ticks_of(*min_time_of(options), ticks_per_ns * (1 - kClockDoubt));
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
  CallRules rules = common_rules(options, SymbolOptions{});
  rules.min_ticks = ticks_of(*min_time_of(options), ticks_per_ns);
  if (options.range.empty()) return rules;
  const TimeRange range = *parse_range(options.range);
  rules.begin = ticks_of(range.begin, ticks_per_ns);
  if (range.end != kForEver) rules.end = ticks_of(range.end, ticks_per_ns);
  return rules;
}

}  // namespace penna
