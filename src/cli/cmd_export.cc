// SPDX-License-Identifier: MIT
// See cmd_export.h.
#include "cli/cmd_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/say.h"
#include "cli/analyses.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "export/chrome_export.h"
#include "export/csv_export.h"
#include "report/reports.h"

namespace penna {
namespace {

struct ExportFormat {
  const char* name;
  bool (*write)(const Recording&, Names&, const TextSink&, const std::function<void()>&, WalkReport*);
};
constexpr ExportFormat kFormats[] = {{"csv", export_csv}, {"chrome", export_chrome}};

const ExportFormat* find_format(const std::string& name) {
  for (const ExportFormat& format : kFormats)
    if (name == format.name) return &format;
  return nullptr;
}

Result<Output> open_output(const ExportOptions& options, const std::string& recording) {
  if (options.output.empty() || options.output == "-") return Output();
  if (is_same_file(options.output, recording))
    return Error{fmt::format("{} is the recording itself: choose another file", options.output)};
  return Output::create(options.output);
}

}  // namespace

std::vector<std::string> export_formats() {
  std::vector<std::string> names;
  for (const ExportFormat& format : kFormats) names.push_back(format.name);
  return names;
}

Result<Parsed<ExportOptions>> parse_export(const Arguments& arguments) {
  Parsed<ExportOptions> parsed;
  ExportOptions& options = parsed.options;
  std::vector<std::string> words;
  const std::string formats = fmt::format("{}", fmt::join(export_formats(), ", "));
  OptionParser parser(
      "Writes the events of a recording for other tools.\n"
      "  csv     one line for each event, in time order\n"
      "  chrome  Trace Event Format, for chrome://tracing and ui.perfetto.dev",
      "penna export");
  parser.words("FORMAT [REC]", words, "one of " + formats + ", and the recording");
  add_input_options(parser, options.input);
  parser.text("-o,--output", options.output, "FILE", "the file; default standard output");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  for (const std::string& word : words) {
    if (options.format.empty() && find_format(word) != nullptr) {
      options.format = word;
    } else if (options.input.recording.empty()) {
      options.input.recording = word;
    } else {
      return Error{fmt::format("'{}' is one word too many: give a format ({}) and one recording", word, formats)};
    }
  }
  if (options.format.empty()) return Error{fmt::format("a format is missing: name one of {}", formats)};
  return parsed;
}

int cmd_export(const ExportOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  Result<Output> output = open_output(options, recording->path());
  if (!output) return fail(output.error().text);

  const Summary summary = summarize(*recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input);
  Names names(*recording, *symbols);
  Analyses analyses;
  {
    Progress progress("exporting", summary.total_events(), "events",
                      !options.input.no_progress && !is_terminal(output->fd()));
    find_format(options.format)
        ->write(
            *recording, names, output->sink(), [&] { progress.step(); }, &analyses.walk);
  }
  const int status = finish_output(*output);
  if (status == 0)
    for (const std::string& warning : health_warnings(examine(*recording, summary, analyses, names))) say(warning);
  return status;
}

int export_verb(const Arguments& arguments) { return run_parsed("export", parse_export(arguments), cmd_export); }

}  // namespace penna
