// SPDX-License-Identifier: MIT
// See cmd_diff.h. One recording after the other: no more than one is open at a time.
#include "cli/cmd_diff.h"

#include <fmt/format.h>

#include "cli/analyses.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

Result<QuietLimit> parse_limit(const std::string& text) {
  if (const auto ns = parse_duration(text)) return QuietLimit{0, *ns};
  const auto percent =
      text.empty() || text.back() != '%' ? std::nullopt : parse_number(text.substr(0, text.size() - 1));
  if (!percent || *percent > 100)
    return Error{fmt::format("--min-delta is a time or a percentage, as 10us or 5%, not '{}'", text)};
  return QuietLimit{*percent, 0};
}

// The calls of one side; its warnings go to `warnings`.
Result<CallsByName> read_side(const char* side, const std::string& path, const DiffOptions& options,
                              std::vector<std::string>& warnings) {
  InputOptions input = options.input;
  input.recording = path;
  const Recording recording = PENNA_TRY(open_input(input));
  const Summary summary = summarize(recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(input);
  Names names(recording, *symbols);
  const Analyses analyses = analyse(recording, summary, names.map(), kCallEvents, !input.no_progress);
  CallsByName calls = calls_by_name(recording, *analyses.calls, names);
  if (calls.calls == 0) return Error{fmt::format("{} holds no calls: {}", path, why_no_calls(recording))};
  for (const std::string& warning : health_warnings(examine(recording, summary, analyses, names)))
    warnings.push_back(fmt::format("{}: {}", side, warning));
  return calls;
}

Result<> show(const DiffOptions& options, Output& output) {
  std::vector<std::string> warnings;
  const CallsByName a = PENNA_TRY(read_side("A", options.a, options, warnings));
  const CallsByName b = PENNA_TRY(read_side("B", options.b, options, warnings));
  Report report = diff_report(a, b, options.quiet);
  PENNA_TRY(select_report_rows(report, options.table));
  report.warnings = std::move(warnings);
  write_report(report, options.table, output);
  return ok();
}

}  // namespace

Result<Parsed<DiffOptions>> parse_diff(const Arguments& arguments) {
  Parsed<DiffOptions> parsed;
  DiffOptions& options = parsed.options;
  std::vector<std::string> words;
  std::string limit = "1%";
  OptionParser parser(
      "Compares the calls of two recordings, function by function, by name. What changed least comes last; what is "
      "noise is "
      "grey on a terminal and has quiet = 1 in csv and json.",
      "penna diff");
  parser.words("A B", words, "the recordings: before, and after");
  parser.text(
      "--min-delta", limit, "LIMIT",
      "noise is what changed by less: a time as 10us, or a part as 5% where both made as many calls; default 1%");
  add_filter_options(parser, options.input.filter, FilterUse::kReading);
  add_symbol_options(parser, options.input);
  parser.flag("--no-progress", options.input.no_progress, "show no progress on a terminal");
  add_table_options(parser, options.table, true);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (words.size() != 2) return Error{"two recordings are needed, as in 'penna diff before.penna after.penna'"};
  options.a = words[0];
  options.b = words[1];
  options.quiet = PENNA_TRY(parse_limit(limit));
  return parsed;
}

int cmd_diff(const DiffOptions& options) {
  Output output;
  const Result<> shown = show(options, output);
  return shown ? finish_output(output) : fail("diff: " + shown.error().text);
}

int diff_verb(const Arguments& arguments) { return run_parsed("diff", parse_diff(arguments), cmd_diff); }

}  // namespace penna
