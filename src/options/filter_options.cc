// SPDX-License-Identifier: MIT
// See filter_options.h.
#include "options/filter_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace penna {
namespace {

// Visits each given option with the letter or word that is typed, the word that a recording stores, and its value. One
// list for both, so that what is recorded can be typed again.
template <typename Visit>
void each_option(const FilterOptions& options, Visit&& visit) {
  for (const auto& pattern : options.functions) visit("-F", "function", pattern.text());
  for (const auto& pattern : options.not_functions) visit("-N", "no-function", pattern.text());
  for (const auto& pattern : options.hidden) visit("--hide", "hide", pattern.text());
  for (const auto& pattern : options.callers) visit("--caller", "caller", pattern.text());
  for (const auto& pattern : options.targets) visit("--paths-to", "paths-to", pattern.text());
  for (const auto& pattern : options.modules) visit("--module", "module", pattern.text());
  for (const auto& pattern : options.sources) visit("--source", "source", pattern.text());
  for (const auto& trigger : options.triggers) visit("-T", "trigger", trigger.text);
  if (options.depth) visit("--depth", "depth", std::to_string(*options.depth));
  if (options.min_time) visit("--min-time", "min-time", options.min_time->text);
  if (options.range) visit("-r", "range", options.range->text);
}

// Quoted for a shell, unless it contains nothing special.
bool needs_quotes(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:+-/@") !=
         std::string::npos;
}

}  // namespace

std::vector<FunctionPattern> triggered(const FilterOptions& options, std::initializer_list<TriggerAction> actions) {
  std::vector<FunctionPattern> functions;
  for (Trigger& trigger : triggers_of(options.triggers, actions)) functions.push_back(std::move(trigger.function));
  return functions;
}

std::vector<std::string> stacked_points(const FilterOptions& options) {
  std::vector<std::string> points;
  for (const FunctionPattern& point : triggered(options, {TriggerAction::kPointStack})) points.push_back(point.text());
  return points;
}

// One declaration for recording and reading; only -T accepts more words when recording.
void add_filter_options(OptionParser& parser, FilterOptions& options, FilterUse use) {
  parser.section("Which calls");
  parser.values(
      "-F,--function", options.functions, "PATTERN",
      "only calls of functions of this name: pay, shop::pay, 'shop::*', '/^shop::(pay|book)/'; may be repeated",
      parse_pattern<FunctionPattern>);
  parser.values("-N,--no-function", options.not_functions, "PATTERN",
                "no calls of functions of this name, whatever -F says; may be repeated",
                parse_pattern<FunctionPattern>);
  parser.values("--hide", options.hidden, "PATTERN",
                "hide calls of such a function and everything they call; may be repeated",
                parse_pattern<FunctionPattern>);
  parser.values("--caller", options.callers, "PATTERN", "only calls of such a function and everything they call",
                parse_pattern<FunctionPattern>);
  parser.values("--paths-to", options.targets, "PATTERN",
                "only calls of such a function and the calls that lead to it, not what it calls; may be repeated",
                parse_pattern<FunctionPattern>);
  parser.number("--depth", options.depth, "N", "at most N levels of calls, counting only those that are kept", 1);
  parser.value("--min-time", options.min_time, "TIME", "only calls that take at least TIME, such as 10us",
               parse_min_time);
  parser.values("--module", options.modules, "PATTERN", "only calls of functions in such a file, as 'libshop*'",
                parse_pattern<PathPattern>);
  parser.values("--source", options.sources, "PATTERN", "only calls of functions of such a source file, as 'shop/*.c'",
                parse_pattern<PathPattern>);
  parser.value("-r,--range", options.range, "FROM-TO",
               "only what happened in this time since the start: 1.2s-3s or 1.2s..3s, 1.2s-, -3s, 1.2s+500ms",
               use == FilterUse::kReading ? parse_range_or_days : parse_typed_range);
  const auto parse = [use](const std::string& text) { return parse_trigger(text, use); };
  if (use == FilterUse::kReading)
    parser.values(
        "-T,--trigger", options.triggers, "FUNC@WHAT",
        "on, off: calls of a thread are kept from, or until, it enters FUNC; filter, notrace: as --caller, "
        "--hide; depth=N, time=TIME: inside of FUNC this holds instead of --depth, --min-time; finish: nothing "
        "is shown from where FUNC is entered first; several with commas between; may be repeated",
        parse);
  else
    parser.values("-T,--trigger", options.triggers, "FUNC@WHAT",
                  "on, off: calls of a thread are kept from, or until, it enters FUNC; filter, notrace: as --caller, "
                  "--hide; depth=N, time=TIME: inside of FUNC this holds instead of --depth, --min-time; finish: the "
                  "recording ends when FUNC is entered; stack: record from where FUNC is called, each time, or where "
                  "FUNC is PROVIDER:NAME, a point is passed; snapshot: keep events in memory only, and store them when "
                  "FUNC is entered; several with commas between; may be repeated",
                  parse);
}

std::vector<FunctionPattern> restricted_to(const FilterOptions& options) {
  const std::vector<FunctionPattern>& named = options.functions;
  const bool is_all = std::all_of(named.begin(), named.end(), [](const auto& one) { return one.text() == "*"; });
  return is_all ? std::vector<FunctionPattern>{} : named;
}

std::string filter_text(const FilterOptions& options) {
  std::vector<std::string> words;
  // Triggers that record something, and leave out nothing, are not filters.
  FilterOptions filter = options;
  filter.functions = restricted_to(options);
  std::erase_if(filter.triggers,
                [](const TriggerOption& option) { return triggers_of({option}, kFilteringActions).empty(); });
  each_option(filter, [&](const char* option, const char*, const std::string& text) {
    words.push_back(needs_quotes(text) ? fmt::format("{} '{}'", option, text) : fmt::format("{} {}", option, text));
  });
  return fmt::format("{}", fmt::join(words, " "));
}

std::string call_filter_text(const FilterOptions& options) {
  FilterOptions filter = options;
  filter.range.reset();
  return filter_text(filter);
}

// "min-time=10us": text, so that a recording can be read without knowing types added later.
std::vector<std::string> filter_words(const FilterOptions& options) {
  std::vector<std::string> words;
  each_option(options, [&](const char*, const char* name, const std::string& text) {
    words.push_back(fmt::format("{}={}", name, text));
  });
  return words;
}

}  // namespace penna
