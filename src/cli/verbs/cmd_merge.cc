// SPDX-License-Identifier: MIT
// See cmd_merge.h.
#include "cli/verbs/cmd_merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/count_text.h"
#include "base/say.h"
#include "cli/input.h"
#include "cli/output/new_recording.h"
#include "cli/output/output.h"
#include "cli/verbs.h"
#include "collect/recording_copy.h"
#include "options/standard_input.h"
#include "report/units.h"

namespace penna {
namespace {

// False for options that say nothing about what is in the recording.
bool is_about_content(const std::string& option) {
  constexpr std::string_view kOthers[] = {"on-full=", "pool=", "ring=", "max-size=", "no-follow"};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [&](std::string_view other) { return option.starts_with(other); });
}

std::set<std::string> options_of(const Session& session) {
  std::set<std::string> options;
  for (const std::string& option : session.options)
    if (is_about_content(option)) options.insert(option);
  return options;
}

// Compares the seconds between the two starts by three clocks: they differ if the machine was rebooted in between.
bool is_of_one_boot(const Recording& a, const Recording& b) {
  constexpr double kSlack = 0.01;   // of the distance: the tick rate is that of one recording
  constexpr double kMoment = 0.01;  // between reading one clock and the next
  constexpr double kSetClock = 5;   // by which the time of day may have been set meanwhile
  const Session &one = a.session(), &other = b.session();
  if (one.host != other.host || one.ticks_per_second != other.ticks_per_second) return false;
  const auto seconds = [](uint64_t from, uint64_t to, double ns) {
    return static_cast<double>(static_cast<int64_t>(to - from)) * ns / 1e9;
  };
  const double ticks = seconds(one.start.ticks, other.start.ticks, a.time().ns_per_tick());
  const double monotonic = seconds(one.start.monotonic_ns, other.start.monotonic_ns, 1);
  const double real = seconds(one.start.realtime_ns, other.start.realtime_ns, 1);
  return std::abs(ticks - monotonic) <= kMoment + kSlack * std::abs(monotonic) &&
         std::abs(real - monotonic) <= kSetClock;
}

CollectorHealth added(CollectorHealth sum, const Recording& recording) {
  const CollectorHealth& one = recording.collector();
  sum.chunks = add_counts(sum.chunks, one.chunks);
  sum.raw_bytes = add_counts(sum.raw_bytes, one.raw_bytes);
  sum.processes = add_counts(sum.processes, one.processes);
  sum.refused_channels = add_counts(sum.refused_channels, one.refused_channels);
  sum.max_backlog = std::max(sum.max_backlog, one.max_backlog);
  sum.cpu_ns = add_counts(sum.cpu_ns, one.cpu_ns);
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    if (sum.event_cost_ps[i] == 0) sum.event_cost_ps[i] = one.event_cost_ps[i];
    sum.thrown_away[i] = add_counts(sum.thrown_away[i], one.thrown_away[i]);
  }
  sum.points_left_out = add_counts(sum.points_left_out, one.points_left_out);
  sum.calls_left_out = add_counts(sum.calls_left_out, one.calls_left_out);
  sum.events_left_out = add_counts(sum.events_left_out, one.events_left_out);
  sum.snapshots = add_counts(sum.snapshots, one.snapshots);
  sum.others_left_out = add_counts(sum.others_left_out, one.others_left_out);
  sum.late_threads = add_counts(sum.late_threads, one.late_threads);
  for (size_t i = 0; i < one.notes.size(); ++i) {
    sum.notes.push_back(recording.path() + ": " + one.notes[i]);
    sum.missed_by_notes.resize(sum.notes.size() - 1);
    sum.missed_by_notes.push_back(i < one.missed_by_notes.size() ? one.missed_by_notes[i] : 0);
  }
  sum.notes_cut += one.notes_cut;
  return sum;
}

// The session of the recording that began first, with the event kinds of all. Kinds that only some recordings have are
// noted (kinds_note()).
Session session_of(const std::vector<Recording>& recordings) {
  const auto first = std::min_element(recordings.begin(), recordings.end(), [](const Recording& a, const Recording& b) {
    return a.session().start.ticks < b.session().start.ticks;
  });
  Session session = first->session();
  for (const Recording& one : recordings) {
    session.classes |= one.session().classes;
    session.time_shift = std::min(session.time_shift, one.session().time_shift);
  }
  return session;
}

std::string kinds_note(const Recording& recording, uint32_t all) {
  std::vector<std::string> kinds;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i)
    if ((all & ~recording.session().classes & 1u << i) != 0) kinds.emplace_back(kClassNames[i]);
  return kinds.empty() ? std::string()
                       : fmt::format("of {}, no {} were recorded", recording.path(), fmt::join(kinds, ", "));
}

// Returns what is missing, in sentences.
Result<std::vector<std::string>> merge(const std::vector<Recording>& recordings, RecordingWriter& writer) {
  const Session session = session_of(recordings);
  PENNA_TRY(writer.write_session(session));
  RecordingCopy copy(writer);
  CollectorHealth health;
  for (const Recording& one : recordings) {
    PENNA_TRY(copy.add(one));
    health = added(std::move(health), one);
    if (std::string note = kinds_note(one, session.classes); !note.empty()) {
      health.missed_by_notes.resize(health.notes.size());
      health.notes.push_back(std::move(note));
    }
  }
  copy.note_missing(health);
  PENNA_TRY(writer.write_collector(health));
  PENNA_TRY(writer.finish());
  return copy.missing();
}

Result<std::vector<Recording>> open_all(const MergeOptions& options, const std::string& output) {
  std::vector<Recording> recordings;
  for (const std::string& path : options.inputs) {
    if (is_same_file(path, output))
      return Error{fmt::format("{} is one of the recordings: choose another output with -o", output)};
    recordings.push_back(PENNA_TRY(open_recording(path)));
    if (const std::string why = why_apart(recordings.front(), recordings.back()); !why.empty()) return Error{why};
  }
  return recordings;
}

}  // namespace

std::string why_apart(const Recording& a, const Recording& b) {
  const Session &one = a.session(), &other = b.session();
  if (!is_of_one_boot(a, b))
    return fmt::format(
        "{} and {} have no clock in common: they are of different machines, or one was started anew in between",
        a.path(), b.path());
  const std::set<std::string> options = options_of(one);
  if (options != options_of(other))
    return fmt::format("{} and {} were recorded with different options, as 'penna info' shows: they cannot be one",
                       a.path(), b.path());
  const bool has_range = std::any_of(options.begin(), options.end(),
                                     [](const std::string& option) { return option.starts_with("range="); });
  if (has_range && &a != &b)
    return fmt::format("{} and {} are parts, each of a time since its own start: merge the whole ones", a.path(),
                       b.path());
  return {};
}

Result<Parsed<MergeOptions>> parse_merge(const Arguments& arguments) {
  Parsed<MergeOptions> parsed;
  MergeOptions& options = parsed.options;
  OptionParser parser(
      "Makes one recording, on one clock, of several that were made on one machine since it was started.",
      "penna merge");
  parser.words("REC REC...", options.inputs, "the recordings");
  parser.text("-o,--output", options.output, "FILE", "the merged recording; default merged.penna here");
  parser.flag("-f,--force", options.force, "overwrite FILE if it exists");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (options.inputs.size() < 2) return Error{"there is nothing to merge: name two recordings or more"};
  if (options.output == "-") return Error{kNoRecordingToOutput};
  if (options.output.empty()) options.output = "merged.penna";
  return parsed;
}

int cmd_merge(const MergeOptions& options) {
  const auto recordings = open_all(options, options.output);
  if (!recordings) return fail("merge", recordings.error().text);
  std::vector<std::string> missing;
  const Result<uint64_t> bytes =
      make_recording(options.output, {.overwrite = options.force}, [&](RecordingWriter& writer) -> Result<bool> {
        missing = PENNA_TRY(merge(*recordings, writer));
        return true;
      });
  if (!bytes) return fail(bytes.error().text);
  say(fmt::format("{}: {}, {} recordings", options.output, bytes_text(static_cast<int64_t>(*bytes)),
                  recordings->size()));
  for (const std::string& sentence : missing) say(sentence);
  return 0;
}

int merge_verb(const Arguments& arguments) { return run_parsed("merge", parse_merge(arguments), cmd_merge); }

}  // namespace penna
