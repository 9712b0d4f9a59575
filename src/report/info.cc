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

#include "report/file_state.h"
#include "report/units.h"

namespace penna {
namespace {

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

// "field  value" lines: a table without titles.
class Facts {
 public:
  Facts() {
    table_.key = "recording";
    table_.columns = {{"field", "", CellKind::kText}, {"value", "", CellKind::kText, true}};
  }
  void add(const char* field, std::string value) {
    if (!value.empty()) table_.add({std::string(field), std::move(value)});
  }
  Table take() { return std::move(table_); }

 private:
  Table table_;
};

// What the recorder was asked to leave out, and how much that was.
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
      " before, between and behind snapshots");
  if (health.late_threads != 0) parts.push_back(late_threads_text(health.late_threads));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What has ended the recording, when that was neither the program nor a signal.
std::string finish_text(const Recording& recording, const Summary& summary) {
  const CollectorHealth& health = recording.collector();
  if (health.finish_ticks == 0) return {};
  std::string text = fmt::format("where a function of -T FUNC@finish was entered, {} after the start",
                                 duration_text(recording.time().duration_ns(summary.first_time, health.finish_ticks)));
  if (health.finish_process < recording.processes().size())
    text += fmt::format(", in process {}", recording.processes()[health.finish_process].process.pid);
  return text;
}

// In the target, or on the way into the file.
std::string lost_text(const Recording& recording, const Summary& summary) {
  EventCounts unwritten{};
  if (const auto failures = recording.write_failures())
    std::copy_n(std::begin(failures->lost), unwritten.size(), unwritten.begin());
  const bool any_unwritten = std::any_of(unwritten.begin(), unwritten.end(), [](uint64_t count) { return count != 0; });
  std::string text = summary.total_lost() != 0 || !any_unwritten ? events_text(summary.lost) : "";
  if (any_unwritten)
    text += (text.empty() ? "" : "; and ") + events_text(unwritten) + ", for which there was no room in the file";
  const bool is_whole = recording.is_finished() && !recording.damage().any();
  return is_whole ? text : text + ", as far as the file tells";
}

std::string state_text(const Recording& recording) {
  switch (file_state(recording)) {
    case FileState::kComplete: return "complete";
    case FileState::kDamaged: return "damaged";
    case FileState::kUnfinished: return "unfinished: the recorder did not get to its end";
    case FileState::kUnwritten: return "unfinished: its end could not be written";
    case FileState::kCut: break;
  }
  const auto in_place = recording.write_failures();
  return in_place && in_place->end > recording.file_bytes()
             ? fmt::format("cut off: {} of its {} bytes are there", recording.file_bytes(), in_place->end)
             : "cut off";
}

Table facts(const Recording& recording, const Summary& summary) {
  const Session& session = recording.session();
  Facts facts;
  facts.add("recording", recording.path());
  facts.add("command", command_text(session.command, session.command_cut));
  facts.add("directory", session.cwd);
  facts.add("recorded", recording.created_ns() == 0 ? "" : date_text(recording.created_ns()));
  facts.add("duration", duration_text(summary.duration_ns));
  facts.add("kinds", kinds_text(session.classes));
  facts.add("events", events_text(summary.events));
  const uint64_t events = summary.total_events();
  facts.add("size",
            bytes_text(static_cast<int64_t>(recording.file_bytes())) +
                (events == 0 ? ""
                             : fmt::format(", {:.1f} bytes an event",
                                           static_cast<double>(recording.file_bytes()) / static_cast<double>(events))));
  facts.add("lost", lost_text(recording, summary));
  facts.add("left out", left_out_text(recording.collector()));
  facts.add("ended", finish_text(recording, summary));
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
  return facts.take();
}

Table processes(const Recording& recording, const Summary& summary) {
  Table table;
  table.key = "processes";
  table.title = "Processes";
  table.columns = {{"pid", "PID", CellKind::kNumber},
                   {"image", "N", CellKind::kNumber, false, true},  // of --pid PID:N
                   {"parent_pid", "PARENT", CellKind::kNumber},
                   {"start_ns", "START", CellKind::kDuration},
                   {"duration_ns", "DURATION", CellKind::kDuration},
                   {"threads", "THREADS", CellKind::kCount},
                   {"events", "EVENTS", CellKind::kCount},
                   {"end", "END", CellKind::kText},
                   {"end_kind", "END KIND", CellKind::kText, false, true},
                   {"end_code", "END CODE", CellKind::kNumber, false, true},
                   {"command", "COMMAND", CellKind::kText, true}};
  const TimeMap& time = recording.time();
  std::map<uint32_t, int64_t> images;  // by pid
  for (const ProcessSummary& process : summary.processes) table.columns[1].machine_only &= ++images[process.pid] == 1;
  images.clear();
  for (const ProcessSummary& process : summary.processes) {
    uint64_t events = 0;
    for (uint64_t count : process.events) events += count;
    const bool timed = process.first_time != 0;
    table.add(
        {int64_t{process.pid}, ++images[process.pid],
         process.parent_pid == 0 ? Cell{} : Cell{int64_t{process.parent_pid}},
         timed ? Cell{time.duration_ns(summary.first_time, process.first_time)} : Cell{},
         timed ? Cell{time.duration_ns(process.first_time, process.last_time)} : Cell{}, int64_t{process.threads},
         number(events), process.end_text, std::string(end_name(process)),
         process.how == EndKind::kExited || process.how == EndKind::kSignaled ? Cell{int64_t{process.code}} : Cell{},
         process.command.empty() ? process.name : command_text(process.command, 0)});
  }
  return table;
}

}  // namespace

std::string command_text(const std::vector<std::string>& command, uint32_t left_out) {
  std::string text;
  for (const std::string& argument : command) text += (text.empty() ? "" : " ") + quoted(argument);
  if (left_out != 0) text += fmt::format(" ... ({} more)", left_out);
  return text;
}

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
  report.warnings.clear();  // here with what is worth knowing
  for (const HealthSentence& sentence : health.sentences) report.warnings.push_back(sentence.text);
  return report;
}

}  // namespace penna
