// SPDX-License-Identifier: MIT
// See info.h.
#include "report/info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <numeric>

#include "report/columns.h"
#include "report/facts.h"
#include "report/file_state.h"
#include "report/units.h"

namespace penna {
namespace {

// For a shell: everything that is not plainly harmless is in single quotes.
std::string quoted(const std::string& argument) {
  const bool plain = !argument.empty() && std::all_of(argument.begin(), argument.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || (c != '\0' && std::strchr("_-./=:,+@%^", c) != nullptr);
  });
  if (plain) return argument;
  std::string text = "'";
  for (char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string kinds_text(uint32_t classes) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    if ((classes & 1u << i) != 0) names.push_back(class_name(i));
  return fmt::format("{}", fmt::join(names, ", "));
}

// What the recorder was asked to leave out, and how much that was. None of it is a loss.
std::string left_out_text(const CollectorHealth& health) {
  std::vector<std::string> parts;
  const auto add = [&](uint64_t count, const char* noun, const char* by) {
    if (count != 0) parts.push_back(plural_text(static_cast<int64_t>(count), noun) + by);
  };
  add(health.calls_left_out, "call", " by filters");
  add(health.points_left_out, "point", " by --where");
  add(health.events_left_out, "event", " of other times");
  add(health.others_left_out, "event", " of other threads");
  add(std::accumulate(health.thrown_away.begin(), health.thrown_away.end(), uint64_t{0}), "event",
      " before, between and after snapshots");
  if (health.late_threads != 0) parts.push_back(late_threads_text(health.late_threads));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What ended the recording, if neither the program nor a signal did. The index comes from the file.
std::string finish_text(const Recording& recording, const Summary& summary) {
  const CollectorHealth& health = recording.collector();
  if (health.finish_ticks == 0) return {};
  std::string text = fmt::format("where a function of -T FUNC@finish was entered, {} after the start",
                                 duration_text(recording.time().duration_ns(summary.first_time, health.finish_ticks)));
  if (health.finish_process < recording.processes().size())
    text += fmt::format(", in process {}", recording.processes()[health.finish_process].process.pid);
  return text;
}

// When and why a flight recorder has made this file.
std::string snapshot_text(const Recording& recording) {
  const CollectorHealth& health = recording.collector();
  if (health.snapshot_cause.empty()) return {};
  std::string text =
      fmt::format("{}, {}", date_text(recording.time().realtime_ns(health.snapshot_ticks)), health.snapshot_cause);
  if (health.snapshots_suppressed != 0)
    text += fmt::format("; before that, {} came too soon after another",
                        plural_text(static_cast<int64_t>(health.snapshots_suppressed), "cause"));
  return text;
}

// What was lost, in the target or on the way into the file. If the file is incomplete the numbers are minima.
std::string lost_text(const Recording& recording, const Summary& summary) {
  EventCounts unwritten{};
  if (const auto failures = recording.write_failures())
    std::copy_n(std::begin(failures->lost), unwritten.size(), unwritten.begin());
  const bool any_unwritten = std::any_of(unwritten.begin(), unwritten.end(), [](uint64_t count) { return count != 0; });
  std::string text = summary.total_lost() != 0 || !any_unwritten ? events_text(summary.lost) : "";
  if (any_unwritten)
    text += (text.empty() ? "" : "; and ") + events_text(unwritten) + ", for which there was no room in the file";
  const bool is_whole = recording.is_finished() && !recording.damage().any();
  return is_whole ? text : text + ", according to the file";
}

// Like file_state(), in words, with how much of the file is present.
std::string state_text(const Recording& recording) {
  switch (file_state(recording)) {
    case FileState::kComplete: return "complete";
    case FileState::kDamaged: return "damaged";
    case FileState::kUnfinished: return "unfinished: the recorder did not get to its end";
    case FileState::kUnwritten: return "unfinished: its end could not be written";
    case FileState::kCut: break;
  }
  // Written in place at the beginning of the file, and thus known even if its end is missing.
  const auto in_place = recording.write_failures();
  return in_place && in_place->end > recording.file_bytes()
             ? fmt::format("cut off: {} of its {} bytes are there", recording.file_bytes(), in_place->end)
             : "cut off";
}

// One line per fact; empty ones are left out.
Table facts(const Recording& recording, const Summary& summary) {
  const Session& session = recording.session();
  Facts facts;
  facts.add("recording", recording.path());
  facts.add("command", command_text(session.command, session.command_cut));
  facts.add("directory", session.cwd);
  facts.add("recorded", recording.created_ns() == 0 ? "" : date_text(recording.created_ns()));
  facts.add("duration", duration_text(summary.duration_ns));
  facts.add("kinds", kinds_text(session.classes));
  facts.add("events", events_text(summary.events, summary.calls));
  const uint64_t events = summary.total_events();
  facts.add("size",
            bytes_text(static_cast<int64_t>(recording.file_bytes())) +
                (events == 0 ? ""
                             : fmt::format(", {:.1f} bytes an event",
                                           static_cast<double>(recording.file_bytes()) / static_cast<double>(events))));
  facts.add("lost", lost_text(recording, summary));
  facts.add("left out", left_out_text(recording.collector()));
  facts.add("ended", finish_text(recording, summary));
  facts.add("snapshot", snapshot_text(recording));
  facts.add("state", state_text(recording));
  facts.add("host", session.host);
  facts.add("kernel", session.kernel);
  facts.add("processor", session.cpu_count == 0 ? session.cpu : fmt::format("{} x {}", session.cpu_count, session.cpu));
  facts.add("clock", session.ticks_per_second == 0
                         ? ""
                         : fmt::format("{:.3f} MHz{}", static_cast<double>(session.ticks_per_second) / 1e6,
                                       (session.clock_flags & kClockInvariant) != 0 ? ", constant" : ", may vary"));
  facts.add("times", session.time_shift == 0 ? ""
                                             : fmt::format("to {} ticks, {:.0f} ns, as there are allocations only",
                                                           uint64_t{1} << session.time_shift,
                                                           recording.time().ns_per_tick() *
                                                               static_cast<double>(uint64_t{1} << session.time_shift)));
  facts.add("options", fmt::format("{}", fmt::join(session.options, ", ")));
  facts.add("penna", session.penna_version);
  return facts.take("recording");
}

struct ProcessItem {
  const Recording& recording;
  const Summary& summary;
  const ProcessSummary& process;
  int64_t image;  // number of this program among those its process ran
  // Since `begin`, both in ticks; without an event nothing is known about a process.
  Cell time(uint64_t begin, uint64_t ticks) const {
    return process.first_time == 0 ? Cell{} : Cell{recording.time().duration_ns(begin, ticks)};
  }
};

// `several_images`: some pid ran more than one program.
Columns<ProcessItem> processes_columns(bool several_images) {
  return {{{"pid", "PID", CellKind::kNumber}, [](const ProcessItem& item) { return item.process.pid; }},
          {{"image", "N", CellKind::kNumber, false, !several_images},  // for --pid PID:N
           [](const ProcessItem& item) { return item.image; }},
          {minor({"parent_pid", "PARENT", CellKind::kNumber}),
           [](const ProcessItem& item) {
             return item.process.parent_pid == 0 ? Cell{} : Cell{int64_t{item.process.parent_pid}};
           }},
          {minor({"start_ns", "START", CellKind::kDuration}),
           [](const ProcessItem& item) { return item.time(item.summary.first_time, item.process.first_time); }},
          {{"duration_ns", "DURATION", CellKind::kDuration},
           [](const ProcessItem& item) { return item.time(item.process.first_time, item.process.last_time); }},
          {{"threads", "THREADS", CellKind::kCount}, [](const ProcessItem& item) { return item.process.threads; }},
          {{"events", "EVENTS", CellKind::kCount},
           [](const ProcessItem& item) {
             uint64_t events = 0;
             for (uint64_t count : item.process.events) events += count;
             return number(events);
           }},
          {{"end", "END", CellKind::kText}, [](const ProcessItem& item) { return item.process.end_text; }},
          {{"end_kind", "END KIND", CellKind::kText, false, true},
           [](const ProcessItem& item) { return end_name(item.process); }},
          {{"end_code", "END CODE", CellKind::kNumber, false, true},
           [](const ProcessItem& item) {
             const bool has = item.process.how == EndKind::kExited || item.process.how == EndKind::kSignaled;
             return has ? Cell{int64_t{item.process.code}} : Cell{};
           }},
          {{"command", "COMMAND", CellKind::kText, true}, [](const ProcessItem& item) {
             const std::vector<std::string>& command = item.process.command;
             return Cell{command.empty() ? item.process.name : command_text(command, 0)};
           }}};
}

// A pid has several rows if its process ran several programs (exec): N is shown then, for --pid PID:N.
Table processes(const Recording& recording, const Summary& summary) {
  std::map<uint32_t, int64_t> images;  // by pid
  std::vector<ProcessItem> items;
  bool several = false;
  for (const ProcessSummary& process : summary.processes) {
    items.push_back({recording, summary, process, ++images[process.pid]});
    several |= items.back().image != 1;
  }
  Table table;
  table.key = "processes";
  table.title = "Processes";
  processes_columns(several).fill(table, std::move(items));
  return table;
}

}  // namespace

std::string command_text(const std::vector<std::string>& command, uint32_t left_out) {
  std::string text;
  for (const std::string& argument : command) text += (text.empty() ? "" : " ") + quoted(argument);
  if (left_out != 0) text += fmt::format(" ... ({} more)", left_out);
  return text;
}

// In UTC: the recording may be read anywhere.
std::string date_text(uint64_t realtime_ns) {
  const std::time_t seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm broken{};
  if (::gmtime_r(&seconds, &broken) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", broken.tm_year + 1900, broken.tm_mon + 1,
                     broken.tm_mday, broken.tm_hour, broken.tm_min, broken.tm_sec);
}

Report info_report(const Recording& recording, const Summary& summary, const HealthReport& health) {
  Report report;
  report.tables.push_back(facts(recording, summary));
  report.tables.push_back(processes(recording, summary));
  add_health(report, recording, health);
  report.warnings.clear();  // here along with the notes
  for (const HealthSentence& sentence : health.sentences) report.warnings.push_back(sentence.text);
  return report;
}

}  // namespace penna
