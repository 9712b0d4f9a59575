// SPDX-License-Identifier: MIT
// See view_readers.h.
#include "cli/verbs/view_readers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/input.h"
#include "cli/report/report_table.h"
#include "cli/report/weights.h"
#include "cli/verbs/cmd_diff.h"
#include "cli/verbs/cmd_report.h"
#include "penna/version.h"

namespace penna {
namespace {

// What is read, again and again.
struct Source {
  InputOptions input;
  std::string path;
  std::function<void(Recording&)> number;
};

// The options for reading that part, except for its threads.
InputOptions options_of(const Source& source, const ViewSelection& of) {
  const InputOptions& input = source.input;
  InputOptions chosen = input;
  chosen.recording = source.path;
  chosen.no_progress = true;
  TimeRange range = input.filter.range ? input.filter.range->value : TimeRange{};
  range.begin = std::max(range.begin, of.t0.value_or(0));
  range.end = std::min(range.end, of.t1.value_or(TimeRange::kForEver));
  if (of.t0 || of.t1) chosen.filter.range = {range, fmt::format("{}ns..{}ns", range.begin, range.end)};
  return chosen;
}

// By index: several threads may have had the same tid.
Result<Recording> open_part(const Source& source, const InputOptions& options, const std::vector<uint32_t>& threads) {
  Recording part = PENNA_TRY(open_input(options));
  if (source.number) source.number(part);
  if (threads.empty()) return part;
  Selection selection = part.selection() != nullptr ? *part.selection() : Selection{};
  selection.threads.assign(part.threads().size(), false);
  for (const uint32_t thread : threads)
    if (thread < selection.threads.size()) selection.threads[thread] = true;
  part.select(std::make_shared<const Selection>(std::move(selection)));
  return part;
}

// As `penna report` reads these words: page and command line cannot show different numbers.
Result<Report> report_of(const Source& source, const ReportRequest& request) {
  Arguments words = {fmt::format("-n{}", request.rows)};
  if (!request.table.empty()) words.push_back(request.table);
  if (!request.sort.empty()) words.push_back("--sort=" + request.sort);
  ReportOptions options = std::move(PENNA_TRY(parse_report(words)).options);
  options.input = options_of(source, request.of);
  std::vector<uint32_t> threads = request.of.threads;
  const ThreadUse use = find_report(request.table).threads;
  if (!threads.empty() && use == ThreadUse::kRefuse)
    return Error{fmt::format("{} is about all threads together: choose all of them", request.table)};
  if (!threads.empty() && use == ThreadUse::kCriticalPath) {
    if (threads.size() > 1) return Error{fmt::format("{} is of one thread, or of all: choose one", request.table)};
    const Recording part = PENNA_TRY(open_part(source, options.input, {}));
    if (threads.front() >= part.threads().size()) return Error{"there is no such thread"};
    options.path.thread = std::to_string(part.threads()[threads.front()].tid);
    return make_report(part, options, false);
  }
  const Recording part = PENNA_TRY(open_part(source, options.input, threads));
  return make_report(part, options, false);
}

Result<> fold_of(const Source& source, const FoldRequest& request, const StackVisitor& visit) {
  const FoldedOptions folded{request.weight, request.by_thread, nullptr};
  PENNA_TRY(check_threads(folded));
  const InputOptions options = options_of(source, request.of);
  const Recording part = PENNA_TRY(open_part(source, options, request.of.threads));
  PENNA_TRY(check_weight_of_sample(part, request.weight));
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options, part);
  Names names(part, *symbols, name_style(options, Format::kTable));
  (void)fold_stacks(part, names, folded, visit, [](uint64_t) {});
  return ok();
}

// For the recording that it is compared with, as a whole.
Result<> fold_before(const InputOptions& input, const std::string& before, FoldedWeight weight,
                     const StackVisitor& visit) {
  InputOptions options = input;
  options.recording = before;
  options.no_progress = true;
  const Recording recording = PENNA_TRY(open_input(options));
  PENNA_TRY(check_weight_of_sample(recording, weight));
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options, recording);
  Names names(recording, *symbols, name_style(options, Format::kTable));
  (void)fold_stacks(recording, names, {weight, false, nullptr}, visit, [](uint64_t) {});
  return ok();
}

// As `penna diff` reads these words.
Result<Report> diff_of(const Source& source, const std::string& before, const ReportRequest& request) {
  Arguments words = {before, source.path, fmt::format("-n{}", request.rows), "--of=" + request.table};
  if (!request.sort.empty()) words.push_back("--sort=" + request.sort);
  DiffOptions options = std::move(PENNA_TRY(parse_diff(words)).options);
  options.input = source.input;
  options.input.no_progress = true;
  return make_diff_report(options);
}

// A condition that cannot apply to the point would hide nothing: it is refused.
Result<> check_condition(const Where& where, const Recording& recording, const std::string& point) {
  std::vector<std::string> names;
  for (uint32_t process = 0; process < recording.processes().size(); ++process)
    for (const Site& site : recording.processes()[process].sites) {
      if (site_name(&site, site.id) != point) continue;
      if (where.places_in(site)) return ok();
      for (const SiteArgument& argument : site.arguments)
        if (std::find(names.begin(), names.end(), argument.name) == names.end()) names.push_back(argument.name);
    }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return Error{fmt::format("no {} has arguments that can be compared like this; {}", point,
                           list.empty() ? "it has none" : "it has " + list)};
}

Result<> read_part(const Source& source, const PartRequest& request, const UsePart& use) {
  InputOptions options = options_of(source, request.of);
  if (!request.where.empty()) {
    Where where = PENNA_TRY(Where::parse(request.where));
    const Recording all = PENNA_TRY(open_recording(source.path));
    PENNA_TRY(check_condition(where, all, request.point));
    options.conditions.push_back(std::move(where));
  }
  const Recording part = PENNA_TRY(open_part(source, options, request.of.threads));
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options, part);
  Names names(part, *symbols, name_style(options, Format::kTable));
  return use(part, names);
}

}  // namespace

std::vector<TableName> view_tables(const Summary& summary) {
  std::vector<TableName> names;
  for (const NamedReport& report : named_reports()) {
    bool has_events = report.passes.classes == 0;
    for (uint32_t kind = 0; kind < PENNA_CLASS_COUNT; ++kind)
      has_events |= (report.passes.classes & 1u << kind) != 0 && summary.events[kind] != 0;
    if (report.build != nullptr && has_events) names.push_back({std::string(report.name), std::string(report.name)});
  }
  return names;
}

std::string answers_key(const InputOptions& input) {
  if (!input.library.empty()) return {};
  std::vector<std::string> words = {PENNA_VERSION, input.symfs, input.debuginfod};
  words.push_back(input.demangle ? std::to_string(static_cast<int>(*input.demangle)) : "");
  words.emplace_back(input.with_library ? "std" : "");
  for (const std::string& directory : input.debug_dirs) words.push_back(directory);
  return fmt::format("{}", fmt::join(words, "\n"));
}

Questions::Readers view_readers(const InputOptions& input, const std::string& path,
                                const std::vector<std::string>& source_dirs, const std::string& before,
                                const std::function<void(Recording&)>& number) {
  const auto source = std::make_shared<const Source>(Source{input, path, number});
  Questions::Readers readers{
      [=](const ReportRequest& request) { return report_of(*source, request); },
      [=](const FoldRequest& request, const StackVisitor& visit) { return fold_of(*source, request, visit); },
      [=](const PartRequest& request, const UsePart& use) { return read_part(*source, request, use); }};
  readers.source_dirs = source_dirs;
  if (before.empty()) return readers;
  readers.before = before;
  readers.fold_before = [=](FoldedWeight weight, const StackVisitor& visit) {
    return fold_before(source->input, before, weight, visit);
  };
  readers.make_diff = [=](const ReportRequest& request) { return diff_of(*source, before, request); };
  return readers;
}

}  // namespace penna
