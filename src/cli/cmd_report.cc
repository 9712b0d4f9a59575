// SPDX-License-Identifier: MIT
// See cmd_report.h.
#include "cli/cmd_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/say.h"
#include "cli/analyses.h"
#include "cli/cmd_record.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "report/overview.h"
#include "report/reports.h"

namespace penna {
namespace {

// What the builder of a report may use.
struct Material {
  const Recording& recording;
  const Summary& summary;
  const Analyses& analyses;
  Names& names;
  const AllocationView& view;
};

struct NamedReport {
  const char* name;
  uint32_t classes;  // what it must read
  Report (*build)(const Material&);
};

constexpr NamedReport kReports[] = {
    {"calls", kCallEvents, [](const Material& m) { return calls_report(m.recording, *m.analyses.calls, m.names); }},
    {"tree", kCallEvents | kCallTree,
     [](const Material& m) { return tree_report(m.recording, *m.analyses.tree, m.names); }},
    {"alloc", kAllocEvents,
     [](const Material& m) { return alloc_report(m.recording, *m.analyses.allocations, m.names, m.view); }},
    {"leaks", kAllocEvents,
     [](const Material& m) { return leaks_report(m.recording, *m.analyses.allocations, m.names, m.view); }},
    {"locks", kLockEvents,
     [](const Material& m) {
       return locks_report(m.recording, *m.analyses.locks, m.names, m.analyses.lock_blocks.get());
     }},
    {"waits", kLockEvents,
     [](const Material& m) {
       return waits_report(m.recording, *m.analyses.locks, m.names, m.analyses.lock_blocks.get());
     }},
    {"points", kPointEvents, [](const Material& m) { return points_report(m.recording, *m.analyses.points); }},
    {"threads", 0, [](const Material& m) { return threads_report(m.recording, m.summary); }},
    {"health", kEventClasses,
     [](const Material& m) {
       return health_report(m.recording, m.summary, examine(m.recording, m.summary, m.analyses, m.names));
     }},
};

constexpr NamedReport kOverview = {"", kEventClasses, [](const Material& m) {
                                     return overview_report(
                                         m.recording, m.summary,
                                         {m.analyses.calls.get(), m.analyses.allocations.get(), m.analyses.locks.get(),
                                          m.analyses.lock_blocks.get(), m.analyses.points.get()},
                                         m.names);
                                   }};

const NamedReport& report_of(const std::string& name) {
  for (const NamedReport& report : kReports)
    if (name == report.name) return report;
  return kOverview;
}

bool is_report(const std::string& word) {
  const std::vector<std::string> names = report_names();
  return std::find(names.begin(), names.end(), word) != names.end();
}

// Of the words that are no options, the one that names a table and the one that names a recording.
Result<> take_words(const std::vector<std::string>& words, ReportOptions& options) {
  for (const std::string& word : words) {
    if (options.which.empty() && is_report(word)) {
      options.which = word;
    } else if (options.input.recording.empty()) {
      options.input.recording = word;
    } else {
      return Error{fmt::format("'{}' is one word too many: give one recording and one of {}", word,
                               fmt::join(report_names(), ", "))};
    }
  }
  return ok();
}

// Shows `rows` rows of each table, unless the user said how many.
TableOptions with_rows(TableOptions options, size_t rows) {
  if (!options.top) options.top = rows;
  return options;
}

// Of the lines below rows only stacks are limited: they are long and alike.
void limit_stacks(Report& report, const ReportOptions& options) {
  constexpr size_t kFrames = 10, kFramesOfSummary = 6;
  const size_t frames = options.frames.value_or(options.which.empty() ? kFramesOfSummary : kFrames);
  for (Table& table : report.tables)
    if (table.details_key == "stack" && frames != 0) table.most_details = frames;
}

Result<> show(const Recording& recording, const ReportOptions& options, Output& output) {
  const NamedReport& which = report_of(options.which);
  const Summary summary = summarize(recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input);
  Names names(recording, *symbols);
  const Analyses analyses = analyse(recording, summary, names.map(), which.classes, !options.input.no_progress);

  Report report;
  {
    Progress progress("naming", analyses.allocations ? analyses.allocations->stacks().size() : 0, "stacks",
                      !options.input.no_progress);
    report = which.build({recording, summary, analyses, names, {options.by, [&] { progress.slow_step(); }}});
  }
  PENNA_TRY(select_report_rows(report, options.table));
  limit_stacks(report, options);
  // After the rows: only now is it known which names were missing.
  if (options.which != "health") report.warnings = health_warnings(examine(recording, summary, analyses, names));
  write_report(report, options.table, output);
  return ok();
}

}  // namespace

std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const NamedReport& report : kReports) names.push_back(report.name);
  return names;
}

Result<Parsed<ReportOptions>> parse_report(const Arguments& arguments) {
  Parsed<ReportOptions> parsed;
  ReportOptions& options = parsed.options;
  std::vector<std::string> words;
  OptionParser parser("Shows the tables of a recording; without TABLE the top of each.", "penna report");
  parser.words("REC|TABLE", words, fmt::format("the recording, and one of {}", fmt::join(report_names(), ", ")));
  add_input_options(parser, options.input);
  add_table_options(parser, options.table, true);
  parser.number("--frames", options.frames, "N", "frames of each stack in text, 0 for all; default 10");
  parser.choice("--by", options.by,
                {{"function", GroupBy::kFunction}, {"stack", std::nullopt}, {"module", GroupBy::kModule}},
                "alloc and leaks: a row for each function, stack or module; default stack");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  PENNA_TRY(take_words(words, options));
  if (options.by && options.which != "alloc" && options.which != "leaks")
    return Error{"--by is for the tables alloc and leaks: name one of them"};
  if (options.which.empty()) {
    if (options.table.format == Format::kCsv)
      return Error{fmt::format("the summary has several tables and CSV has room for one: name one of {}",
                               fmt::join(report_names(), ", "))};
    options.table = with_rows(options.table, 5);
  }
  if (options.which == "health") options.table = with_rows(options.table, 0);  // a fixed list
  return parsed;
}

int cmd_report(const ReportOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  Output output;
  const Result<> shown = show(*recording, options, output);
  return shown ? finish_output(output) : fail("report: " + shown.error().text);
}

int report_verb(const Arguments& arguments) { return run_parsed("report", parse_report(arguments), cmd_report); }

void print_short_report(const std::string& path) {
  ReportOptions options;
  options.input.recording = path;
  options.table = with_rows({}, 3);
  options.frames = 3;
  const Result<Recording> recording = Recording::open(path);
  if (!recording) return say(recording.error().text);
  Output output = Output::standard_error();
  output.write("\n");
  if (const Result<> shown = show(*recording, options, output); !shown) say(shown.error().text);
  (void)output.finish();
}

}  // namespace penna
