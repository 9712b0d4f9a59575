// SPDX-License-Identifier: MIT
// See cmd_trim.h.
#include "cli/verbs/cmd_trim.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/say.h"
#include "cli/input.h"
#include "cli/options/standard_input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "collect/recording_copy.h"
#include "model/events/summary.h"
#include "report/units.h"

namespace penna {
namespace {

std::string output_of(const TrimOptions& options, const Recording& recording) {
  if (!options.output.empty()) return options.output;
  return std::filesystem::path(recording.path()).filename().replace_extension(".trimmed.penna").string();
}

// Copies whole chunks. The copy says that it is of this range, as a recording made with -r does, so readers leave out
// events outside of it. Returns what is missing, in sentences.
Result<std::vector<std::string>> trim(const TrimOptions& options, const Recording& recording, RecordingWriter& writer) {
  const CallRules* const rules = call_rules(recording);
  Session session = recording.session();
  session.options.push_back("range=" + options.input.filter.range->text);
  PENNA_TRY(writer.write_session(session));
  RecordingCopy copy(writer);
  PENNA_TRY(copy.add(recording, rules == nullptr ? CopiedTime{} : CopiedTime{rules->begin, rules->end}));
  CollectorHealth health = recording.collector();
  copy.note_missing(health);
  PENNA_TRY(writer.write_collector(health));
  PENNA_TRY(writer.finish());
  return copy.missing();
}

}  // namespace

Result<Parsed<TrimOptions>> parse_trim(const Arguments& arguments) {
  Parsed<TrimOptions> parsed;
  TrimOptions& options = parsed.options;
  OptionParser parser(
      "Makes a recording of a part of another one, by time: smaller, to be sent or kept. Its times are those of the "
      "whole one.",
      "penna trim");
  parser.word("REC", options.input.recording, "the recording; default the newest *.penna here");
  add_recording_option(parser, options.input);
  parser.section("Which part");
  parser.value("-r,--range", options.input.filter.range, "FROM-TO",
               "what happened in this time since the start: 1.2s-3s or 1.2s..3s, 1.2s-, -3s, 1.2s+500ms",
               parse_typed_range);
  parser.section("Output");
  parser.text("-o,--output", options.output, "FILE", "the part; default REC.trimmed.penna here");
  parser.flag("-f,--force", options.force, "overwrite FILE if it exists");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (!options.input.filter.range) return Error{"-r is missing: name the time to keep, as in 'penna trim -r 1s-2s'"};
  if (options.output == "-") return Error{kNoRecordingToOutput};
  return parsed;
}

int cmd_trim(const TrimOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  const std::string output = output_of(options, *recording);
  if (is_same_file(recording->path(), output))
    return fail("trim", fmt::format("{} is the recording itself: choose another output with -o", output));
  Result<RecordingWriter> writer = RecordingWriter::create(output, {.overwrite = options.force});
  if (!writer) return fail(writer.error().text);
  const Result<std::vector<std::string>> missing = trim(options, *recording, *writer);
  if (!missing) return fail(missing.error().text);
  say(fmt::format("{}: {} of {}", output, bytes_text(static_cast<int64_t>(writer->file_bytes())),
                  bytes_text(static_cast<int64_t>(recording->file_bytes()))));
  for (const std::string& sentence : *missing) say(sentence);
  return 0;
}

int trim_verb(const Arguments& arguments) { return run_parsed("trim", parse_trim(arguments), cmd_trim); }

}  // namespace penna
