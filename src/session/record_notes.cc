// SPDX-License-Identifier: MIT
// See record_notes.h.
#include "session/record_notes.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/find_program.h"
#include "base/say.h"
#include "model/calls/slowdown.h"
#include "model/events/summary.h"
#include "model/verdict/health_counters.h"
#include "model/verdict/losses.h"
#include "penna/detail/preload.h"
#include "report/info.h"
#include "report/units.h"
#include "symbols/elf/elf_facts.h"

namespace penna {
namespace {

std::string what_conditions_did(const std::vector<Where>& conditions, const CollectorTotals& totals) {
  std::vector<std::string> texts;
  texts.reserve(conditions.size());
  for (const Where& condition : conditions) texts.push_back(condition.text());
  return fmt::format("--where '{}' left out {}", fmt::join(texts, "' and '"),
                     plural_text(static_cast<int64_t>(totals.points_left_out), "point"));
}

// Printed even if nothing was left out: a filter without effect is most likely mistyped.
std::string what_filters_did(const RecordingTimes& times, const CollectorTotals& totals) {
  std::vector<std::string> parts;
  if (totals.events_left_out != 0)
    parts.push_back(plural_text(static_cast<int64_t>(totals.events_left_out), "event") + " of other times");
  if (totals.calls_left_out != 0) parts.push_back(plural_text(static_cast<int64_t>(totals.calls_left_out), "call"));
  std::string text = parts.empty() ? fmt::format("{} filtered out no calls", times.filter)
                                   : fmt::format("{} left out {}", times.filter, fmt::join(parts, " and "));
  if (!times.unmet.empty())
    text += fmt::format("; no function that was called matches {}", fmt::join(times.unmet, ", "));
  return text;
}

std::string what_threads_did(const RecordingTimes& times, const CollectorTotals& totals) {
  std::string text = totals.others_left_out == 0
                         ? fmt::format("{} filtered out no events", times.threads)
                         : fmt::format("{} left out {} of other threads", times.threads,
                                       plural_text(static_cast<int64_t>(totals.others_left_out), "event"));
  if (totals.late_threads != 0) text += "; " + late_threads_text(totals.late_threads);
  return text;
}

std::string what_finish_did(bool goes_on) {
  return fmt::format("the recording ended where a function of -T FUNC@finish was entered{}",
                     goes_on ? "; the program keeps running, unrecorded" : "");
}

std::string what_snapshots_did(const std::vector<std::string>& unmet, const CollectorTotals& totals) {
  std::string text = snapshots_text(totals.snapshots, totals.thrown_away);
  if (!unmet.empty()) text += fmt::format("; no function that was called matches {}", fmt::join(unmet, ", "));
  return text;
}

std::string what_files_are(const RecordingTimes& times, const std::string& how_long, const CollectorTotals& totals) {
  std::string text = fmt::format("{}: {}", how_long, times.files);
  if (totals.snapshots_suppressed != 0)
    text += fmt::format("; conditions were met {} more, too soon after a snapshot (--on-again)",
                        plural_text(static_cast<int64_t>(totals.snapshots_suppressed), "time"));
  if (times.snapshots && !times.snapshots->empty())
    text += fmt::format("; no function that was called matches {}", fmt::join(*times.snapshots, ", "));
  return text;
}

// Programs that were started and not recorded, a line each if they are few; a build starts thousands.
std::vector<std::string> lines_of_unrecorded(const CollectorTotals& totals) {
  constexpr size_t kFew = 2;
  const uint64_t count = add_counts(totals.unrecorded.size(), totals.unrecorded_unreported);
  std::vector<std::string> lines;
  if (count > kFew || totals.unrecorded_unreported != 0)
    lines.push_back(unrecorded_summary(totals.unrecorded, totals.unrecorded_unreported) + "; see: penna info");
  else
    for (const UnrecordedProgram& program : totals.unrecorded) lines.push_back(unrecorded_sentence(program));
  return lines;
}

// "Stored" is what is in the file: what the collector received, less what could not be written. Everything else is
// lost, wherever that happened.
struct Counted {
  EventCounts stored{}, lost{};
  uint64_t calls = 0;  // stored
  uint64_t stored_sum = 0, lost_sum = 0, lost_on_disk = 0;
};

Counted count_events(const CollectorTotals& totals, const RecordingWriter& writer) {
  Counted all;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    all.stored[i] = totals.stored[i] - writer.lost()[i];
    all.lost[i] = add_counts(totals.lost[i], writer.lost()[i]);
    all.stored_sum += all.stored[i];
    all.lost_sum = add_counts(all.lost_sum, all.lost[i]);
    all.lost_on_disk += writer.lost()[i];
  }
  all.calls = totals.call_entries - std::min(totals.call_entries, paired_calls(writer.lost()[PENNA_CALLS]));
  return all;
}

void say_file(const RecordingTimes& times, const CollectorTotals& totals, uint64_t file_bytes) {
  const std::string how_long = fmt::format("{:.3f} s, {} process{}",
                                           static_cast<double>(times.end.monotonic_ns - times.begin.monotonic_ns) / 1e9,
                                           totals.processes, totals.processes == 1 ? "" : "es");
  if (times.files.empty())
    say(fmt::format("{}: {}, {}", times.path, bytes_text(static_cast<int64_t>(file_bytes)), how_long));
  else
    say(what_files_are(times, how_long, totals));
}

void say_events(const RecordingTimes& times, const CollectorTotals& totals, const Counted& counted) {
  say(fmt::format("{}; {}{}",
                  !times.files.empty()      ? events_text(totals.thrown_away) + " not kept"
                  : counted.stored_sum == 0 ? "no events"
                                            : events_text(counted.stored, counted.calls),
                  counted.lost_sum == 0
                      ? "0 lost"
                      : fmt::format("{} LOST ({})", count_text(counted.lost_sum), events_text(counted.lost)),
                  totals.torn == 0 ? "" : fmt::format(", {} torn", totals.torn)));
}

// What conditions, filters and limits did.
void say_what_was_asked(const RecordingTimes& times, const CollectorTotals& totals) {
  if (!times.conditions.empty() && totals.sites_with_condition != 0) say(what_conditions_did(times.conditions, totals));
  for (const std::string& sentence : times.unmet_conditions) say(sentence + " (see: penna list)");
  if (!times.filter.empty()) say(what_filters_did(times, totals));
  if (!times.threads.empty()) say(what_threads_did(times, totals));
  for (const std::string& sentence : times.unmet_threads) say(sentence);
  if (!times.others.empty()) say(times.others);
  if (totals.finished) say(what_finish_did(times.goes_on));
  if (totals.full)
    say(fmt::format("the recording has ended at its --max-size{}",
                    times.goes_on ? "; the program keeps running, unrecorded" : ""));
  if (times.snapshots && times.files.empty()) say(what_snapshots_did(*times.snapshots, totals));
  if (!times.refused.empty()) say(times.refused);
}

void say_cost(const RecordingTimes& times, const CollectorTotals& totals) {
  if (!times.overhead.empty()) say(times.overhead);
  if (const Slowdown slowdown(totals.costliest); slowdown.is_much())
    say(slowdown_text(totals.costliest,
                      totals.processes == 1 ? "the program" : fmt::format("process {}", totals.costliest_pid)));
  if (totals.processes == 0) return;
  // + 1: an interval of no ticks must not divide by zero.
  const double ms_per_tick = static_cast<double>(times.end.monotonic_ns - times.begin.monotonic_ns) /
                             static_cast<double>(times.end.ticks - times.begin.ticks + 1) / 1e6;
  say(fmt::format("start-up cost {:.2f} ms, {}{:.1f} ms waited for room",
                  static_cast<double>(totals.start_cost_ticks) * ms_per_tick,
                  totals.threads_blocked_ticks == kMostCounted ? "at least " : "",
                  static_cast<double>(totals.threads_blocked_ticks) * ms_per_tick));
}

void say_losses(const RecordingTimes& times, const CollectorTotals& totals, uint64_t lost_on_disk) {
  if (lost_on_disk != 0)
    say("some events could not be written to the file: free space on its disk, or record elsewhere with -o");
  for (const std::string& text : loss_texts({totals.lost, totals.lost_for, times.waits})) say("lost: " + text);
}

// `unrecorded`: why nothing was recorded of the program itself; empty: something was.
void say_what_is_missing(const CollectorTotals& totals, const std::string& unrecorded) {
  if (totals.restricted_processes != 0)
    say(fmt::format("{} not recorded to the end: forbidden what recording needs (seccomp, PR_SET_TSC)",
                    plural_text(static_cast<int64_t>(totals.restricted_processes), "process was", "processes were")));
  // `unfollowed` counts programs, which have their own line below, and forked processes: the difference is the latter.
  const auto listed = std::count_if(totals.unrecorded.begin(), totals.unrecorded.end(),
                                    [](const UnrecordedProgram& one) { return one.why == PENNA_START_SECCOMP; });
  const uint64_t forked =
      totals.target.unfollowed - std::min<uint64_t>(totals.target.unfollowed, static_cast<uint64_t>(listed));
  if (forked != 0)
    say(fmt::format("{} not recorded: an inherited restriction (seccomp, PR_SET_TSC) forbids what recording needs",
                    plural_text(static_cast<int64_t>(forked), "forked process was", "forked processes were")));
  for (const std::string& sentence : closing_sentences(totals.target)) say(sentence);
  for (const std::string& limit : totals.limits) say(limit);
  if (!unrecorded.empty()) say(unrecorded);
  for (const std::string& line : lines_of_unrecorded(totals)) say(line);
}

}  // namespace

// In order of importance: file and events, what was lost or left out, the cost, what was not recorded, the next steps.
void print_closing_lines(const RecordingTimes& times, const Collector& collector, const std::string& unrecorded) {
  const CollectorTotals& totals = collector.totals();
  const Counted counted = count_events(totals, collector.writer());
  say_file(times, totals, collector.writer().file_bytes());
  say_events(times, totals, counted);
  say_what_was_asked(times, totals);
  say_cost(times, totals);
  say_losses(times, totals, counted.lost_on_disk);
  say_what_is_missing(totals, unrecorded);
  if (!times.way_to_calls.empty()) say(times.way_to_calls);
  if (!times.path.empty()) say(fmt::format("next: penna report {}", times.path));
}

std::string file_of_command(const std::string& command) {
  return command.find('/') != std::string::npos ? command : find_program(command);
}

bool is_of_musl(const ElfFacts& facts) { return facts.interpreter.find("/ld-musl-") != std::string::npos; }

// Whether exec changes its user or group (setuid, setgid). The dynamic linker then ignores LD_PRELOAD (ld.so(8),
// secure-execution mode), but the program would pass the variable on to programs it starts. On a file system mounted
// nosuid, or if we are the owner, nothing changes.
static bool begins_with_other_rights(const std::string& file) {
  struct stat status {};
  struct statvfs system {};
  if (::stat(file.c_str(), &status) != 0 || ::statvfs(file.c_str(), &system) != 0 || (system.f_flag & ST_NOSUID) != 0)
    return false;
  return ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid()) ||
         ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid());
}

std::string preload_for(const std::string& command, const std::string& agent) {
  const auto facts = read_elf_facts(file_of_command(command));
  if (!facts || !facts->is_elf) return agent;
  if (facts->bits != 64 || facts->machine_name != "x86-64" || is_of_musl(*facts)) return {};
  if (begins_with_other_rights(file_of_command(command))) return {};
  // A sanitizer's runtime refuses to start unless it is loaded first.
  for (const std::string& library : facts->needed)
    if (penna_first_runtime(library.c_str()) == library.size() && !library.empty()) return library + ":" + agent;
  return agent;
}

// The other recorder's agent is in this process, because the exec that starts the program comes from us: that recorder
// follows the program, and an agent connects to only one recorder.
static bool is_recorded_itself() {
  const auto maps = read_file("/proc/self/maps");  // the agent hides from dlsym()
  return maps && maps->find("/libpenna-agent.so") != std::string::npos;
}

// Certain causes first, guesses last. Only called if no process connected to the recorder.
std::string why_unrecorded(const std::string& command) {
  auto facts = read_elf_facts(file_of_command(command));
  const std::string of_another = fmt::format(
      "nothing was recorded of {}: this recorder is itself being recorded, and the other recorder has the program in "
      "its recording; run only one of the two",
      command);
  if (!facts || !facts->is_elf)
    return is_recorded_itself() ? of_another
                                : fmt::format("nothing was recorded of {}: it never reached the recorder", command);
  if (facts->is_static)
    return fmt::format(
        "nothing was recorded of {}: it is statically linked, so no agent can be preloaded; record it with --via "
        "breakpoint, or link it dynamically",
        command);
  if (facts->bits != 64 || facts->machine_name != "x86-64")
    return fmt::format("nothing was recorded of {}: it is a {}-bit {} program, and the agent is for x86-64", command,
                       facts->bits, facts->machine_name);
  if (is_of_musl(*facts))
    return fmt::format(
        "nothing was recorded of {}: its libc is musl, and the agent needs glibc; record it with --via breakpoint",
        command);
  if (facts->setuid)
    return fmt::format(
        "nothing was recorded of {}: it is setuid or has capabilities, so nothing can be preloaded; record it as the "
        "user whose rights it takes",
        command);
  if (is_recorded_itself()) return of_another;
  return fmt::format(
      "nothing was recorded of {}: it ended or timed out before it reached the recorder, or its resource limits "
      "(ulimit) leave no memory",
      command);
}

}  // namespace penna
