// SPDX-License-Identifier: MIT
// See health.h. First the numbers are gathered, then each that matters becomes a sentence.
#include "model/verdict/health.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/count_text.h"
#include "model/blocks/allocations.h"
#include "model/calls/calls.h"
#include "model/calls/slowdown.h"
#include "model/events/points.h"
#include "model/events/sampling.h"
#include "model/locks/locks.h"
#include "model/names/stack_matcher.h"

namespace penna {
namespace {

bool is_none(const EventCounts& counts) { return counts == EventCounts{}; }

constexpr const char* kGeneratedCode = "generated code";  // instead of a file

// " (libfoo.so, libbar.so and 2 others)"; empty if no file is known.
std::string files_text(const HealthReport& report) {
  constexpr size_t kShown = 3;
  const std::vector<std::string>& files = report.no_rule_files;
  std::string text;
  for (size_t i = 0; i < std::min(files.size(), kShown); ++i) text += (i == 0 ? " (" : ", ") + files[i];
  if (files.size() > kShown) text += fmt::format(" and {}", plural_text(files.size() - kShown, "other", "others"));
  return text.empty() ? text : text + ")";
}

// ---- Gathering

void gather_file(HealthReport& report, const Recording& recording, const Summary& summary) {
  report.finished = recording.is_finished();
  report.damage = recording.damage();
  if (const auto failures = recording.write_failures()) {
    std::copy_n(std::begin(failures->lost), report.write_lost.size(), report.write_lost.begin());
    report.write_errno = static_cast<int>(failures->error);
  } else {
    report.write_unknown = true;
  }
  // What each chunk in the file reports is known without the health that the recorder writes at the end.
  report.recorder.torn = report.recorder.damaged = 0;
  for (const ThreadSummary& thread : summary.threads) {
    report.missing_chunks += thread.missing_chunks;
    report.recorder.torn += thread.torn;
    report.recorder.damaged += thread.damaged;
  }
  for (const ChunkRef& chunk : recording.chunks()) report.recorder.unknown += chunk.unknown_events;
}

void add_health(HealthReport& report, const Health& health) {
#define PENNA_HEALTH_RECORDER(rank, field, ...) report.recorder.field += health.field;
#include "penna/health.inc"
}

void gather_target(HealthReport& report, const Recording& recording, const Summary& summary) {
  report.lost = summary.lost;
  report.sample_bytes = SampleScale(recording).mean();
  report.losses.events = summary.lost;
  report.losses.waits = !has_option(recording.session(), "on-full=drop");
  report.imported = has_option(recording.session(), kImportedFromStream);
  for (const RecordedThread& thread : recording.threads()) add_health(report, thread.health);
  for (const RecordedProcess& process : recording.processes()) {
    add_health(report, process.health);
    report.unannounced_processes += !process.announced;
    report.processes_without_end += !process.end.has_value();
    uint64_t blocked = 0;  // as reported by the threads; the process's own count is at least this
    for (uint32_t thread : process.threads) blocked += recording.threads()[thread].health.blocked_ticks;
    blocked = std::max(blocked, process.health.blocked_ticks);
    if (process.end) {
      const penna_counters& counters = process.end->counters;
      blocked = std::max(blocked, counters.blocked_ticks);
      add_counters(report.target, counters);
      report.losses.add(counters);
      for (size_t i = 1; i < report.truncated_stacks.size(); ++i)
        report.truncated_stacks[i] = add_counts(report.truncated_stacks[i], counters.stacks_truncated[i]);
    }
    report.blocked_ticks = add_counts(report.blocked_ticks, blocked);
  }
  report.blocked_ns = static_cast<double>(report.blocked_ticks) * recording.time().ns_per_tick();
}

// Stacks that ended in code without a rule: those whose outermost frame is where the process began are complete. The
// target counted stack walks, the tree of stacks shows places: if a process has both kinds of place the count is an
// upper bound.
void gather_stack_ends(HealthReport& report, const Recording& recording, Names& names) {
  std::set<std::string> files;
  report.truncated_stacks[PENNA_STACK_NO_RULE] = 0;
  for (uint32_t process = 0; process < recording.processes().size(); ++process) {
    const auto& end = recording.processes()[process].end;
    const uint64_t walks = end ? end->counters.stacks_truncated[PENNA_STACK_NO_RULE] : 0;
    bool complete = false, short_one = false;
    const uint64_t nodes = walks == 0 ? 0 : recording.stack_node_count(process);
    for (uint64_t id = 1; id <= nodes; ++id) {
      const auto node = recording.stack_node(process, static_cast<uint32_t>(id));
      if (!node || node->parent != 0 || node->cut || node->end != PENNA_STACK_NO_RULE) continue;
      if (names.is_entry(process, node->pc, node->generation)) {
        complete = true;
        continue;
      }
      short_one = true;
      const CodePlace place = names.map().locate_return(process, node->pc, node->generation);
      files.insert(place.known() ? names.map().file_name(place.module) : kGeneratedCode);
    }
    if (complete && !short_one) continue;
    report.truncated_stacks[PENNA_STACK_NO_RULE] = add_counts(report.truncated_stacks[PENNA_STACK_NO_RULE], walks);
    report.no_rule_at_most |= complete && walks != 0;
  }
  report.no_rule_files.assign(files.begin(), files.end());
}

// By the module of the innermost frame: whose allocations are affected.
void gather_module_stacks(HealthReport& report, const Recording& recording, const Allocations& heap, Names& names) {
  std::map<std::string, ModuleStacks> modules;
  StackEnds ends(recording, names);
  for (const StackAllocations& stack : heap.stacks()) {
    const auto node = stack.stack != 0 ? recording.stack_node(stack.process, stack.stack) : std::nullopt;
    if (!node) {
      modules["(unknown)"].unknown += stack.allocations;
      continue;
    }
    const CodePlace place = names.map().locate_return(stack.process, node->pc, node->generation);
    ModuleStacks& module = modules[place.known() ? names.map().file_name(place.module) : kGeneratedCode];
    (ends.is_complete(stack.process, stack.stack) ? module.complete : module.truncated) += stack.allocations;
  }
  for (auto& [file, module] : modules) {
    report.module_stacks.push_back(module);
    report.module_stacks.back().file = file;
  }
  std::stable_sort(report.module_stacks.begin(), report.module_stacks.end(),
                   [](auto& a, auto& b) { return a.truncated + a.unknown > b.truncated + b.unknown; });
}

void gather_analyses(HealthReport& report, const Recording& recording, const HealthInputs& inputs) {
  if (inputs.walk != nullptr) report.unreadable_chunks = inputs.walk->unreadable;
  if (inputs.calls != nullptr) {
    report.stray_exits = inputs.calls->counts().stray_exits;
    report.inherited_exits = inputs.calls->counts().inherited;
    report.unwound_calls = inputs.calls->counts().unwound;
    report.too_deep_calls = inputs.calls->counts().too_deep;
  }
  if (inputs.allocations != nullptr) {
    const HeapTotals heap = inputs.allocations->total();
    // It is fine if the program unmaps a mapping that it did not map itself, such as a library's.
    if (inputs.allocations->family().is_heap()) {
      report.unmatched_frees = heap.unmatched_frees;
      report.replaced_blocks = heap.replaced;
    }
    report.inherited_frees = heap.inherited_frees;
    report.allocations_without_stack = heap.unknown_stacks;
  }
  if (inputs.locks != nullptr) {
    const LockCounts locks = inputs.locks->counts();
    report.inherited_unlocks = locks.inherited_unlocks;
    report.unmatched_unlocks = locks.unmatched_unlocks;
    report.missed_unlocks = locks.missed_unlocks;
    const double cost_ns = static_cast<double>(recording.collector().event_cost_ps[PENNA_LOCKS]) / 1000;
    const double held_ns = static_cast<double>(locks.hold_time) * recording.time().ns_per_tick();
    if (held_ns > 0) report.hold_distortion = static_cast<double>(locks.acquisitions) * cost_ns / held_ns;
  }
  if (inputs.points != nullptr) {
    report.malformed_points = inputs.points->malformed();
    report.points_without_site = inputs.points->without_site();
  }
  if (inputs.names != nullptr) report.modules = inputs.names->modules();
}

// ---- Sentences

// Counters get their sentences from their table; here are those that depend on more than one number.
class Sentences {
 public:
  explicit Sentences(const HealthReport& report) {
    for (const HealthCounter& counter : health_counters())
      if (const uint64_t count = counter.value(report); count != 0 && counter.has_sentence())
        add(counter.rank, counter.severity, true, counter.sentence(count));
  }
  // `rank`: place among the counters' sentences (penna/health.inc).
  void error(int rank, bool when, std::string text) { add(rank, Severity::kError, when, std::move(text)); }
  void warning(int rank, bool when, std::string text) { add(rank, Severity::kWarning, when, std::move(text)); }
  void note(int rank, bool when, std::string text) { add(rank, Severity::kNote, when, std::move(text)); }
  void add(int rank, Severity severity, bool when, std::string text) {
    if (when) said_.push_back({rank, {severity, std::move(text)}});
  }
  std::vector<HealthSentence> most_severe_first() {
    std::stable_sort(said_.begin(), said_.end(), [](const Said& a, const Said& b) {
      return std::pair(b.sentence.severity, a.rank) < std::pair(a.sentence.severity, b.rank);
    });
    std::vector<HealthSentence> sentences;
    for (Said& one : said_) sentences.push_back(std::move(one.sentence));
    return sentences;
  }

 private:
  struct Said {
    int rank;
    HealthSentence sentence;
  };
  std::vector<Said> said_;
};

void say_file(const HealthReport& report, Sentences& say) {
  say.error(10, report.damage.any(), report.damage.text());
  say.warning(20, !report.finished && report.write_errno == 0,
              "The recording was not finished: penna record was killed or is still running; what had reached the file "
              "is shown.");
  const std::string unwritten = events_text(report.write_lost);
  say.error(
      70, !is_none(report.write_lost),
      fmt::format("{} could not be written to the file{}: make room and record again.", unwritten,
                  report.write_errno != 0 ? fmt::format(" ({})", std::strerror(report.write_errno)) : std::string()));
  say.error(80, report.write_unknown,
            "Whether all events could be written is unknown: the place in the file that would say so is damaged.");
  say.warning(40, report.damage.unknown_blocks != 0,
              fmt::format("{} of a kind that this penna does not know: read the recording with a newer one.",
                          plural_text(report.damage.unknown_blocks, "block is", "blocks are")));
}

void say_lost(const HealthReport& report, Sentences& say) {
  say.error(200, report.imported && !is_none(report.lost),
            fmt::format("Lost: {}. A larger ring where they are recorded holds more.", events_text(report.lost)));
  if (!report.imported)
    for (const std::string& text : loss_texts(report.losses)) say.error(200, true, fmt::format("Lost: {}.", text));
  say.note(310, report.blocked_ticks != 0,
           fmt::format(
               "The program waited {}{:.3f} ms, over all its threads, for the recorder: its times are longer by that.",
               report.blocked_ticks == kMostCounted ? "at least " : "", report.blocked_ns / 1e6));
}

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(text[0]));
  return text;
}

void say_recorder(const HealthReport& report, Sentences& say) {
  say.warning(440, report.finished && report.processes_without_end != 0,
              fmt::format("How {} ended is not in the recording, nor what they lost.",
                          plural_text(report.processes_without_end, "process", "processes")));
  say.note(445, !report.slowdown.empty(), capitalized(report.slowdown) + ".");
  const std::string snapshots = capitalized(snapshots_text(report.snapshots, report.thrown_away));
  say.warning(450, !is_none(report.thrown_away),
              snapshots + ": what began there may have no end here, and the other way round.");
  for (size_t i = 0; i < report.notes.size(); ++i)
    say.add(460, report.any_process && !report.is_half(i) ? Severity::kNote : Severity::kWarning, true,
            report.notes[i]);
}

// C and C++ compilers emit it on request; run-time code generators, such as Java, leave it out.
std::string no_rule_advice(const std::vector<std::string>& files) {
  const bool generated = std::find(files.begin(), files.end(), kGeneratedCode) != files.end();
  const std::string what_made_it = "the run-time code generator left it out, so their callers are unknown";
  if (!generated) return "build it with -fasynchronous-unwind-tables, if it is C or C++";
  return files.size() == 1
             ? what_made_it
             : "build the files with -fasynchronous-unwind-tables, if they are C or C++; of generated code " +
                   what_made_it;
}

void say_stacks(const HealthReport& report, Sentences& say) {
  const auto& cut = report.truncated_stacks;
  say.warning(
      620, cut[PENNA_STACK_NO_RULE] != 0,
      fmt::format("{}{} short, in code without unwind information{}: {}.", report.no_rule_at_most ? "Up to " : "",
                  plural_text(cut[PENNA_STACK_NO_RULE], "stack ends", "stacks end"), files_text(report),
                  no_rule_advice(report.no_rule_files)));
}

void say_analyses(const HealthReport& report, Sentences& say) {
  say.warning(830, report.too_deep_calls != 0,
              fmt::format("{} nested deeper than {}: they are only counted.",
                          plural_text(report.too_deep_calls, "call was", "calls were"), CallMatcher::kMaxDepth));
  say.warning(
      835, report.sample_bytes != 0,
      fmt::format("Only a sample of the allocations was recorded, one in {} bytes: reports estimate all from it.",
                  count_text(report.sample_bytes)));
  say.note(900, report.hold_distortion > 0,
           fmt::format(
               "Recording made each hold of a lock about {:.0f} ns longer: {:.1f} % of the time that they were held.",
               static_cast<double>(report.event_cost_ps[PENNA_LOCKS]) / 1000, report.hold_distortion * 100));
  for (const ModuleNames& module : report.modules) say.note(940, !module.problem.empty(), module.problem);
}

}  // namespace

HealthReport examine(const Recording& recording, const Summary& summary, const HealthInputs& inputs) {
  HealthReport report;
  gather_target(report, recording, summary);
  gather_file(report, recording, summary);
  if (inputs.names != nullptr) gather_stack_ends(report, recording, *inputs.names);
  if (inputs.names != nullptr && inputs.allocations != nullptr)
    gather_module_stacks(report, recording, *inputs.allocations, *inputs.names);
  gather_analyses(report, recording, inputs);
  report.slowdown = slowdown_text(recording);
  report.refused_channels = recording.collector().refused_channels;
  report.event_cost_ps = recording.collector().event_cost_ps;
  report.snapshots = recording.collector().snapshots;
  report.thrown_away = recording.collector().thrown_away;
  report.notes = recording.collector().notes;
  report.missed_by_notes = recording.collector().missed_by_notes;
  report.missed_by_notes.resize(std::max(report.notes.size(), report.missed_by_notes.size()));
  report.any_process = !recording.processes().empty();

  Sentences say(report);
  say_file(report, say);
  say_lost(report, say);
  say_recorder(report, say);
  say_stacks(report, say);
  say_analyses(report, say);
  report.sentences = say.most_severe_first();
  return report;
}

}  // namespace penna
