// SPDX-License-Identifier: MIT
// See cmd_trim.h.
#include "cli/verbs/cmd_trim.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/count_text.h"
#include "base/say.h"
#include "cli/input.h"
#include "cli/output/new_recording.h"
#include "cli/output/output.h"
#include "cli/verbs.h"
#include "collect/recording_copy.h"
#include "model/locks/holder_tracker.h"
#include "options/standard_input.h"
#include "report/units.h"

namespace penna {
namespace {

std::string output_of(const TrimOptions& options, const Recording& recording) {
  if (!options.output.empty()) return options.output;
  return std::filesystem::path(recording.path()).filename().replace_extension(".trimmed.penna").string();
}

// By thread: when its first chunk in the part begins.
std::vector<uint64_t> first_copied(const Recording& recording, const CopiedTime& time) {
  std::vector<uint64_t> first(recording.threads().size(), UINT64_MAX);
  for (uint32_t thread = 0; thread < first.size(); ++thread)
    for (const ChunkRef& chunk : recording.chunks(thread))
      if (time.holds(chunk)) first[thread] = std::min(first[thread], chunk.time_begin);
  return first;
}

// Of the calls that are open where the part begins a chunk tells, of holds and waits only the records of their
// beginnings: reports of the part miss those that are not in it. Empty: none is missed.
std::string missed_locks(const Recording& recording, const CopiedTime& time) {
  const std::vector<uint64_t> first = first_copied(recording, time);
  HolderTracker held(recording);
  for_each_event(recording, {.classes = kLockEvents | kAllocEvents, .past = true, .all_threads = true},
                 [&](const Event& event) { held.take(event); });
  int64_t holds = 0, waits = 0;
  for (uint32_t object = 0; object < held.objects().size(); ++object)
    held.for_each_holder(object,
                         [&](const LockHold& hold) { holds += !hold.learned && hold.since < first[hold.thread]; });
  for (uint32_t thread = 0; thread < first.size(); ++thread)
    waits += held.wait_of(thread).is_open() && held.wait_of(thread).begin < first[thread];
  if (holds == 0 && waits == 0) return "";
  std::string what = plural_text(holds, "hold of a lock", "holds of locks");
  if (waits != 0) what = (holds == 0 ? "" : what + " and ") + plural_text(waits, "wait");
  return fmt::format("{} began before this part and {} missing in it: 'penna report -r' of the whole recording has {}",
                     what, holds + waits == 1 ? "is" : "are", holds + waits == 1 ? "it" : "them");
}

// Copies whole chunks. The copy says that it is of this range, as a recording made with -r does, so readers leave out
// events outside of it. Returns what is missing, in sentences.
Result<std::vector<std::string>> trim(const TrimOptions& options, const Recording& recording, RecordingWriter& writer) {
  const CallRules* const rules = call_rules(recording);
  Session session = recording.session();
  session.options.push_back("range=" + options.input.filter.range->text);
  PENNA_TRY(writer.write_session(session));
  const CopiedTime time = rules == nullptr ? CopiedTime{} : CopiedTime{rules->begin, rules->end};
  RecordingCopy copy(writer);
  PENNA_TRY(copy.add(recording, time));
  CollectorHealth health = recording.collector();
  copy.note_missing(health);
  std::vector<std::string> missing = copy.missing();
  if (std::string locks = missed_locks(recording, time); !locks.empty()) {
    health.notes.push_back(locks);
    health.missed_by_notes.push_back(1u << PENNA_LOCKS);
    missing.push_back(std::move(locks));
  }
  PENNA_TRY(writer.write_collector(health));
  PENNA_TRY(writer.finish());
  return missing;
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
  std::vector<std::string> missing;
  const Result<uint64_t> bytes =
      make_recording(output, {.overwrite = options.force}, [&](RecordingWriter& writer) -> Result<bool> {
        missing = PENNA_TRY(trim(options, *recording, writer));
        return true;
      });
  if (!bytes) return fail(bytes.error().text);
  say(fmt::format("{}: {} of {}", output, bytes_text(static_cast<int64_t>(*bytes)),
                  bytes_text(static_cast<int64_t>(recording->file_bytes()))));
  for (const std::string& sentence : missing) say(sentence);
  return 0;
}

int trim_verb(const Arguments& arguments) { return run_parsed("trim", parse_trim(arguments), cmd_trim); }

}  // namespace penna
