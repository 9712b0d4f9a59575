// SPDX-License-Identifier: MIT
// See cmd_import.h.
#include "cli/verbs/cmd_import.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/file.h"
#include "base/nearest_name.h"
#include "base/say.h"
#include "cli/output/new_recording.h"
#include "cli/output/output.h"
#include "cli/sort_words.h"
#include "cli/verbs.h"
#include "collect/import/rtrace_import.h"
#include "collect/import/stream_import.h"
#include "options/standard_input.h"
#include "penna/version.h"
#include "report/info.h"
#include "report/units.h"

namespace penna {
namespace {

// The session of an imported stream: the contents of its header, and nothing about this machine, which it may never
// have run on.
Session session_of(const StreamImport& stream) {
  const penna_stream_header& header = stream.header();
  Session session;
  session.penna_version = PENNA_VERSION;
  session.kernel = stream.source();
  session.ticks_per_second = header.ticks_per_second;
  session.clock_flags = kClockInvariant;
  session.start = {header.ticks, header.monotonic_ns, header.realtime_ns};
  session.options.push_back(kImportedFromStream);
  return session;
}

// What was read, and everything that was not: a stream may have been cut off or damaged on its way.
void print_summary(const std::string& path, const StreamSummary& summary) {
  EventCounts events = summary.events, lost = summary.lost;
  say(fmt::format("{}: {}, written by {}", path, events_text(events, summary.calls),
                  plural_text(static_cast<int64_t>(summary.threads), "thread", "threads")));
  if (events_text(lost) != "nothing")
    say(fmt::format("lost where it was recorded: {}; a larger ring loses less", events_text(lost)));
  if (summary.damaged_bytes != 0)
    say(fmt::format("{} were not records and were skipped: the stream is damaged",
                    bytes_text(static_cast<int64_t>(summary.damaged_bytes))));
  if (summary.cut_bytes != 0) say("the last record is incomplete: the stream was cut off");
}

void print_summary(const std::string& path, const RtraceSummary& summary) {
  say(fmt::format("{}: {}", path, events_text(summary.events)));
  const auto lines = [](uint64_t count) { return plural_text(static_cast<int64_t>(count), "line", "lines"); };
  if (summary.other_resources != 0)
    say(fmt::format("{} of files, threads and other resources were skipped: only memory can be imported",
                    plural_text(static_cast<int64_t>(summary.other_resources), "event", "events")));
  if (summary.damaged_lines != 0)
    say(fmt::format("{} could not be read and were skipped: the trace is damaged", lines(summary.damaged_lines)));
}

// `bytes` is untrusted. Opened and checked before the output is created, so that a file of another format leaves
// nothing behind.
Result<> import_stream(const ImportOptions& options, const std::string& output, std::span<const uint8_t> bytes) {
  Result<StreamImport> stream = StreamImport::open(bytes);
  if (!stream) return Error{fmt::format("cannot import {}: {}", options.input, stream.error().text)};
  StreamSummary summary;
  const auto write = [&](RecordingWriter& writer) -> Result<bool> {
    summary = stream->write(writer, session_of(*stream));
    PENNA_TRY(writer.finish());
    return true;
  };
  PENNA_TRY(make_recording(output, {.overwrite = options.force}, write));
  print_summary(output, summary);
  return ok();
}

// Like import_stream(), for a text trace, whose reader provides the session.
Result<> import_rtrace(const ImportOptions& options, const std::string& output, std::span<const uint8_t> bytes) {
  Result<RtraceImport> trace = RtraceImport::open({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!trace) return Error{fmt::format("cannot import {}: {}", options.input, trace.error().text)};
  Session session = trace->session();
  session.penna_version = PENNA_VERSION;
  session.options.push_back(kImportedFromStream);
  RtraceSummary summary;
  const auto write = [&](RecordingWriter& writer) -> Result<bool> {
    summary = trace->write(writer, session);
    PENNA_TRY(writer.finish());
    return true;
  };
  PENNA_TRY(make_recording(output, {.overwrite = options.force}, write));
  print_summary(output, summary);
  return ok();
}

}  // namespace

Result<Parsed<ImportOptions>> parse_import(const Arguments& arguments) {
  Parsed<ImportOptions> parsed;
  ImportOptions& options = parsed.options;
  std::vector<std::string> words;
  OptionParser parser(
      "Makes a recording from a stream of records, as a kernel module or firmware writes it (penna/stream.h), or, "
      "after the word rtrace, from a memory trace in the text format of functracer and sp-rtrace.",
      "penna import");
  parser.words("[rtrace] FILE", words, "what to read");
  parser.known({"rtrace"});
  parser.text("-o,--output", options.output, "FILE", "the recording; default FILE.penna here");
  parser.flag("-f,--force", options.force, "overwrite the recording when it exists");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (words.empty()) return Error{"the file to import is missing"};
  if (words.size() == 2 && words[0] == "rtrace") {
    options.format = ImportOptions::Format::kRtrace;
  } else if (words.size() == 2 && !is_meant_as_file(words[0])) {
    return Error{there_is_no("format", words[0], std::vector<std::string>{"rtrace"})};
  } else if (words.size() != 1) {
    return Error{fmt::format("unexpected argument '{}': give one file, preceded by the word rtrace if it is an rtrace",
                             words[1])};
  }
  options.input = words.back();
  if (options.output == "-") return Error{kNoRecordingToOutput};
  if (options.input == "-" && options.output.empty())
    return Error{"standard input has no name to make one of: name the recording with -o"};
  return parsed;
}

int cmd_import(const ImportOptions& options) {
  const Result<std::string> path = readable_path(options.input);
  if (!path) return fail(path.error().text);
  const Result<Mapping> bytes = load_file(*path);
  if (!bytes) return fail(bytes.error().text);
  std::string output = options.output;
  if (output.empty()) output = std::filesystem::path(options.input).filename().replace_extension(".penna").string();
  // The input is mapped: overwriting it would change the bytes under us.
  if (is_same_file(options.input, output))
    return fail(fmt::format("{} is the file to import: choose another output with -o", output));
  const Result<> done = options.format == ImportOptions::Format::kRtrace
                            ? import_rtrace(options, output, bytes->bytes())
                            : import_stream(options, output, bytes->bytes());
  return done ? 0 : fail(done.error().text);
}

int import_verb(const Arguments& arguments) { return run_parsed("import", parse_import(arguments), cmd_import); }

}  // namespace penna
