// SPDX-License-Identifier: MIT
// See cmd_import.h.
#include "cli/cmd_import.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/file.h"
#include "base/say.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "collect/stream_import.h"
#include "report/info.h"
#include "report/units.h"

namespace penna {
namespace {

// What is known of where it ran: what the stream says, and nothing of this machine.
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

void say_what_came(const std::string& path, const StreamSummary& summary) {
  EventCounts events = summary.events, lost = summary.lost;
  say(fmt::format("{}: {}, written by {}", path, events_text(events),
                  plural_text(static_cast<int64_t>(summary.threads), "thread", "threads")));
  if (events_text(lost) != "nothing")
    say(fmt::format("lost where it was recorded: {}; a larger ring holds more", events_text(lost)));
  if (summary.damaged_bytes != 0)
    say(fmt::format("{} were no records and are passed over: the stream is damaged",
                    bytes_text(static_cast<int64_t>(summary.damaged_bytes))));
  if (summary.cut_bytes != 0) say("the last record is not whole: the stream was cut off");
}

}  // namespace

Result<Parsed<ImportOptions>> parse_import(const Arguments& arguments) {
  Parsed<ImportOptions> parsed;
  OptionParser parser(
      "Makes a recording of a stream of records, as a kernel module or firmware writes it (penna/stream.h).",
      "penna import");
  parser.word("STREAM", parsed.options.stream, "the file with the stream", OptionParser::Need::kRequired);
  parser.text("-o,--output", parsed.options.output, "FILE", "the recording; default STREAM.penna here");
  parser.flag("-f,--force", parsed.options.force, "overwrite FILE when it exists");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  return parsed;
}

int cmd_import(const ImportOptions& options) {
  const Result<Mapping> bytes = map_file(options.stream);
  if (!bytes) return fail(bytes.error().text);
  Result<StreamImport> stream = StreamImport::open(bytes->bytes());
  if (!stream) return fail(fmt::format("cannot import {}: {}", options.stream, stream.error().text));

  std::string output = options.output;
  if (output.empty()) output = std::filesystem::path(options.stream).filename().replace_extension(".penna").string();
  if (is_same_file(options.stream, output))
    return fail(fmt::format("{} is the stream itself: choose another file with -o", output));
  Result<RecordingWriter> writer = RecordingWriter::create(output, {.overwrite = options.force});
  if (!writer) return fail(writer.error().text);
  const StreamSummary summary = stream->write(*writer, session_of(*stream));
  if (auto finished = writer->finish(); !finished) return fail(finished.error().text);
  say_what_came(output, summary);
  return 0;
}

int import_verb(const Arguments& arguments) { return run_parsed("import", parse_import(arguments), cmd_import); }

}  // namespace penna
