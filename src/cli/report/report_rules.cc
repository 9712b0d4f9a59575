// SPDX-License-Identifier: MIT
// See report_rules.h. The table of reports says which options each accepts; this is how a refusal is phrased.
#include "cli/report/report_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/report/report_table.h"
#include "options/filter_options.h"
#include "options/wrong_words.h"

namespace penna {
namespace {

const char* word_of(ReportBy by) {
  for (const auto& one : kReportByWords)
    if (one.value == by) return one.word;
  return "";
}

// From the table of reports, so that a refusal never names a report that does not accept the option.
std::vector<std::string> names_where(const std::function<bool(const NamedReport&)>& is_one) {
  std::vector<std::string> names;
  for (const NamedReport& report : named_reports())
    if (is_one(report)) names.emplace_back(report.name);
  return names;
}

// "alloc, leaks and temp".
std::string list_text(const std::vector<std::string>& words, const char* last = " and ") {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return text;
}

// An option that only some reports accept. A refusal names those that do.
struct TakenBySome {
  uint32_t bit;
  bool (*is_given)(const ReportOptions&);
  const char* sentence;  // {}: the reports that accept it
};
constexpr TakenBySome kTakenBySome[] = {
    {kTakesDrawing, [](const ReportOptions& options) { return options.weight || options.width; },
     "--weight and --width are for {0}: penna report {0}"},
    {kTakesAscii, [](const ReportOptions& options) { return options.ascii; }, "--ascii is for {}"},
    {kTakesLock, [](const ReportOptions& options) { return options.lock.has_value(); }, "--lock is for {}"},
    {kTakesMinWait, [](const ReportOptions& options) { return options.min_wait.has_value(); }, "--min-wait is for {}"},
    {kTakesMinHold, [](const ReportOptions& options) { return options.min_hold.has_value(); }, "--min-hold is for {}"},
    {kTakesNet, [](const ReportOptions& options) { return options.net; }, "--net is for {}: penna report calls --net"},
    {kTakesUnmatched, [](const ReportOptions& options) { return options.unmatched; },
     "--unmatched is a table of its own: penna report {} --unmatched"},
    {kTakesWithin, [](const ReportOptions& options) { return options.within.has_value(); }, "--within is for {}"},
    {kTakesSuppressions,
     [](const ReportOptions& options) { return !options.suppressions.file.empty() || options.suppressions.none; },
     "--suppressions and --no-suppressions are for {}"},
    {kTakesAllocations, [](const ReportOptions& options) { return options.allocations.any(); },
     "--family, --size, --lifetime, --stack and --pid are for tables of allocations ({}), and for flame with a "
     "--weight of them"},
    {kTakesSpan, [](const ReportOptions& options) { return options.path.any(); },
     "--span is for the critical path: penna report {} --span NAME"},
};

// The options that this report accepts; flame also accepts those about allocations, if it draws them.
uint32_t taken(const ReportOptions& options) {
  const NamedReport& report = find_report(options.which);
  const bool draws_allocations =
      report.does_take(kTakesDrawing) && options.weight && classes_of(*options.weight) == kAllocEvents;
  return report.takes | (draws_allocations ? static_cast<uint32_t>(kTakesAllocations) : 0);
}

Result<> check_taken(const ReportOptions& options) {
  for (const TakenBySome& one : kTakenBySome)
    if (one.is_given(options) && (taken(options) & one.bit) == 0)
      return Error{fmt::format(fmt::runtime(one.sentence), list_text(names_where([&](const NamedReport& report) {
                                 return report.does_take(one.bit);
                               })))};
  return ok();
}

// The words accepted by --by depend on the table. For tables of allocations, which accept nearly all, the message names
// the tables instead.
Result<> check_by(const ReportOptions& options) {
  if (!options.by) return ok();
  const NamedReport& report = find_report(options.which);
  if (report.by.empty())
    return Error{fmt::format("--by is for the tables {}: name one of them",
                             fmt::join(names_where([](const NamedReport& one) { return !one.by.empty(); }), ", "))};
  const ReportBy by = *options.by;
  if (report.has_by(by)) return ok();
  if (report.is_by_stacks())  // which accepts nearly all
    return Error{fmt::format("--by {} is for {}, not for {}", word_of(by),
                             list_text(names_where([by](const NamedReport& one) { return one.has_by(by); })),
                             options.which)};
  std::vector<std::string> possible;
  for (const ReportBy one : report.by) possible.emplace_back(word_of(one));
  return Error{fmt::format("{} can be shown --by {}", options.which, list_text(possible, " or "))};
}

// -F and similar options select calls. For a table of allocations or locks they would leave out nothing, and the result
// would look like the allocations of that function: the message names the option for that purpose instead.
Result<> check_call_filters(const ReportOptions& options) {
  const std::string text = call_filter_text(options.input.filter);
  if (text.empty() || options.by == ReportBy::kCall) return ok();
  if ((taken(options) & kTakesAllocations) != 0)
    return Error{
        fmt::format("{} chooses calls, and this shows none: allocations are chosen by --stack, --size and "
                    "--lifetime",
                    text)};
  if ((taken(options) & kTakesLock) != 0)
    return Error{fmt::format("{} chooses calls, and this shows none: locks are chosen by --lock", text)};
  return ok();
}

// Options that exclude each other within one report.
Result<> check_pairs(const ReportOptions& options) {
  // Calls left out by filters had their cost too, which would be missing.
  if (const std::string text = call_filter_text(options.input.filter); options.net && !text.empty())
    return Error{fmt::format("--net needs all calls, for each had its cost: leave out {}", text)};
  if (options.unmatched && options.by)
    return Error{"--unmatched is a table of its own: penna report alloc --unmatched"};
  if (options.by == ReportBy::kThread && options.lock) return contradiction("--by thread", "--lock");
  if (!options.path.thread.empty() && !options.path.span.empty()) return contradiction("--thread", "--span");
  return ok();
}

Result<> check_format(const ReportOptions& options) {
  if (find_report(options.which).build == nullptr && options.table.format != Format::kTable)
    return Error{"flame is a drawing: penna export folded writes its numbers"};
  if (options.which.empty() && options.table.format == Format::kCsv)
    return Error{fmt::format("the summary has several tables and CSV holds one: name one of {}",
                             fmt::join(report_names(), ", "))};
  return ok();
}

}  // namespace

// The words have determined the table; the refusals that name it come first.
Result<> check_report(const ReportOptions& options) {
  PENNA_TRY(check_by(options));
  PENNA_TRY(check_taken(options));
  PENNA_TRY(check_call_filters(options));
  PENNA_TRY(check_pairs(options));
  return check_format(options);
}

}  // namespace penna
