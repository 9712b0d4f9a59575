// SPDX-License-Identifier: MIT
// See cmd_info.h.
#include "cli/verbs/cmd_info.h"

#include "analysis/analyses.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/output/table_output.h"
#include "cli/verbs.h"
#include "report/info.h"

namespace penna {

Result<Parsed<InfoOptions>> parse_info(const Arguments& arguments) {
  Parsed<InfoOptions> parsed;
  OptionParser parser("Shows what a recording contains: command, machine, time, processes, events.", "penna info");
  parser.word("REC", parsed.options.input.recording, "the recording; default the newest *.penna here");
  add_recording_option(parser, parsed.options.input);
  add_table_options(parser, parsed.options.table, false);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  return parsed;
}

// Reads no events, so it is as fast for a recording of gigabytes: `Analyses{}` means "nothing known from events", and
// health reports only the file's metadata.
int cmd_info(const InfoOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  const Summary summary = summarize(*recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, *recording);
  Names names(*recording, *symbols);
  const Report report = info_report(*recording, summary, examine(*recording, summary, Analyses{}, names));
  Output output = Output::paged(!options.table.no_pager);
  write_report(report, options.table, output);
  return finish_output(output);
}

int info_verb(const Arguments& arguments) { return run_parsed("info", parse_info(arguments), cmd_info); }

}  // namespace penna
