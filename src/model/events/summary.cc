// SPDX-License-Identifier: MIT
// See summary.h.
#include "model/events/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include "filter/selection.h"

namespace penna {
namespace {

uint64_t sum_of(const EventCounts& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }
void add_to(EventCounts& sum, const EventCounts& more) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = add_counts(sum[i], more[i]);
}
void raise_to(EventCounts& counts, const uint64_t* least) {
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = std::max(counts[i], least[i]);
}

// A span of ticks that starts empty.
struct Span {
  uint64_t first = UINT64_MAX, last = 0;
  void add(uint64_t begin, uint64_t end) {
    first = std::min(first, begin);
    last = std::max(last, end);
  }
  bool empty() const { return first > last; }
};

// Calls that were entered. Which events are entries, only the recorder has counted: of a file that has more or fewer
// chunks than it counted, the same share; of an older one half, as if all calls had ended.
uint64_t calls_of(const RecordedThread& thread, uint64_t events) {
  const uint64_t counted = thread.health.stored[PENNA_CALLS], entries = thread.health.call_entries;
  if (counted == 0 || entries == Health::kNotCounted) return paired_calls(events);
  if (counted == events) return entries;
  return static_cast<uint64_t>(static_cast<double>(events) * static_cast<double>(entries) /
                               static_cast<double>(counted));
}

ThreadSummary summarize_thread(const Recording& recording, uint32_t index) {
  const RecordedThread& thread = recording.threads()[index];
  ThreadSummary summary;
  summary.thread = index;
  summary.process = thread.process;
  summary.tid = thread.tid;
  summary.name = thread.name;
  summary.has_health = thread.has_health;
  summary.lost = thread.health.lost;
  summary.holes = thread.health.holes;
  summary.blocked_ticks = thread.health.blocked_ticks;
  Span span;
  const auto chunks = recording.chunks(index);
  for (const ChunkRef& chunk : chunks) {
    for (size_t i = 0; i < chunk.events.size(); ++i) summary.events[i] += chunk.events[i];
    summary.torn += chunk.torn;
    summary.damaged += chunk.damaged;
    span.add(chunk.time_begin, chunk.time_end);
  }
  summary.calls = calls_of(thread, summary.events[PENNA_CALLS]);
  summary.chunks = chunks.size();
  // Chunk numbers start at 0, ascend and are distinct: missing ones were thrown away or lost.
  uint64_t numbers = 0;  // pieces of a chunk share one
  for (size_t i = 0; i < chunks.size(); ++i) numbers += i == 0 || chunks[i].sequence != chunks[i - 1].sequence;
  const uint64_t unused = chunks.empty() ? 0 : bounded_count(chunks.back().sequence - (numbers - 1));
  summary.missing_chunks = unused - std::min(unused, thread.health.skipped);
  if (!span.empty()) {
    summary.first_time = span.first;
    summary.last_time = span.last;
  }
  return summary;
}

ProcessSummary summarize_process(const Recording& recording, uint32_t index,
                                 const std::vector<ThreadSummary>& threads) {
  const RecordedProcess& process = recording.processes()[index];
  ProcessSummary summary;
  summary.process = index;
  summary.number = process.process.number;
  summary.announced = process.announced;
  summary.pid = process.process.pid;
  summary.parent_pid = process.process.parent_pid;
  summary.after_exec = process.process.after_exec;
  summary.name = process_name(process.process);
  summary.command = process.process.command;
  summary.threads = static_cast<uint32_t>(process.threads.size());
  summary.ended = process.end.has_value();
  if (process.end) {
    summary.how = process.end->how;
    summary.code = process.end->code;
    raise_to(summary.lost, process.end->counters.lost);
  }
  summary.end_text = process.end ? end_text(*process.end) : "unknown";

  Span span;
  EventCounts attributed{};
  for (uint32_t thread : process.threads) {
    add_to(summary.events, threads[thread].events);
    summary.calls += threads[thread].calls;
    add_to(attributed, threads[thread].lost);
    if (threads[thread].chunks != 0) span.add(threads[thread].first_time, threads[thread].last_time);
  }
  // The process's own count covers what its threads reported, and what they could no longer report.
  raise_to(summary.lost, attributed.data());
  raise_to(summary.lost, process.health.lost.data());
  for (size_t i = 0; i < attributed.size(); ++i)
    summary.unattributed_lost = add_counts(summary.unattributed_lost, summary.lost[i] - attributed[i]);
  const uint64_t start = process.process.start_ticks;
  if (start != 0) span.add(start, start);
  if (process.end && process.end->end_ticks != 0) span.add(process.end->end_ticks, process.end->end_ticks);
  // The recorder was killed: the process lived while the recorder wrote its clocks, though it may have waited and
  // recorded nothing.
  if (!process.end && !span.empty()) span.add(span.first, recording.time().last_ticks());
  if (!span.empty()) {
    summary.first_time = span.first;
    summary.last_time = span.last;
  }
  return summary;
}

// Whether the process's threads reported all of the time that it waited for room.
bool all_blocked_attributed(const RecordedProcess& process, const std::vector<ThreadSummary>& threads) {
  uint64_t attributed = 0, counted = process.health.blocked_ticks;
  if (process.end) counted = std::max(counted, process.end->counters.blocked_ticks);
  for (uint32_t thread : process.threads) attributed += threads[thread].blocked_ticks;
  return attributed >= counted;
}

}  // namespace

std::string end_text(const ProcessEnd& end) {
  switch (end.how) {
    case EndKind::kExited: return fmt::format("exited with {}", end.code);
    case EndKind::kSignaled: {
      const char* name = sigabbrev_np(end.code);
      return name != nullptr ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", end.code);
    }
    case EndKind::kExec: return "became another program";
    case EndKind::kStopped: return "was running when the recording stopped";
    case EndKind::kUnknown: break;  // its parent reaped it before anyone could ask
  }
  return "ended, status unknown";
}

const char* class_name(uint32_t event_class) {
  return event_class < PENNA_CLASS_COUNT ? kClassNames[event_class] : "other";
}

std::string process_name(const Process& process) {
  const auto last_part = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  std::string_view word = process.command.empty() ? std::string_view() : process.command[0];
  if (!word.empty() && word[0] == '-') word.remove_prefix(1);  // a login shell
  // Some overwrite their arguments with a title: "nginx: worker process", "/usr/bin/redis-server *:6379".
  const bool is_title = word.find_first_of(" :") != std::string_view::npos;
  const std::string_view name = is_title ? std::string_view() : last_part(word);
  return std::string(name.empty() ? last_part(process.executable) : name);
}

uint64_t ThreadSummary::total_events() const { return sum_of(events); }
uint64_t Summary::total_events() const { return sum_of(events); }
std::string events_text(const EventCounts& counts) { return events_text(counts, paired_calls(counts[PENNA_CALLS])); }
std::string events_text(const EventCounts& counts, uint64_t calls) {
  std::string text;
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i) {
    const uint64_t count = i == PENNA_CALLS ? calls : counts[i];
    if (count == 0) continue;
    text +=
        (text.empty() ? "" : ", ") + plural_text(static_cast<int64_t>(count), kClassNouns[i].one, kClassNouns[i].many);
  }
  return text.empty() ? "nothing" : text;
}

std::string late_threads_text(uint64_t threads) {
  return plural_text(static_cast<int64_t>(threads), "thread was", "threads were") +
         " called so only when events before had been left out";
}

std::string snapshots_text(uint64_t snapshots, const EventCounts& thrown_away) {
  const bool all = sum_of(thrown_away) == 0;
  const std::string events = events_text(thrown_away);
  if (snapshots == 0)
    return "no snapshot was taken" +
           (all ? std::string(", and there was nothing to keep") : fmt::format(": {} were thrown away", events));
  return fmt::format("{} taken; {}", plural_text(static_cast<int64_t>(snapshots), "snapshot was", "snapshots were"),
                     all ? "all events were kept" : events + " before, between and after them were thrown away");
}

uint64_t Summary::total_lost() const { return sum_of(lost); }

uint64_t all_lost(const Recording& recording, const Summary& summary) {
  const auto failures = recording.write_failures();
  if (!failures) return summary.total_lost();
  return std::accumulate(std::begin(failures->lost), std::end(failures->lost), summary.total_lost(), add_counts);
}

bool continues_after_fork(const Recording& recording, uint32_t thread) {
  const RecordedThread& first = recording.threads()[thread];
  const Process& own = recording.processes()[first.process].process;
  if (own.after_exec || first.serial != 1) return false;
  const auto earlier = recording.processes().first(first.process);  // most parents come right before
  return std::any_of(earlier.rbegin(), earlier.rend(),
                     [&](const RecordedProcess& other) { return other.process.pid == own.parent_pid; });
}

uint64_t fork_slack(const Recording& recording) {
  constexpr double kNs = 200e6;
  return static_cast<uint64_t>(kNs / recording.time().ns_per_tick());
}

std::vector<uint64_t> open_ends(const Recording& recording, const Summary& summary) {
  const CallRules* rules = call_rules(recording);
  std::vector<uint64_t> ends;
  for (const ProcessSummary& process : summary.processes) {
    const uint64_t end = process.ended ? process.last_time : summary.last_time;
    ends.push_back(rules == nullptr ? end : std::min(end, rules->end));
  }
  return ends;
}

Summary summarize(const Recording& recording) {
  Summary summary;
  for (uint32_t i = 0; i < recording.threads().size(); ++i) summary.threads.push_back(summarize_thread(recording, i));
  Span span;
  const auto parents = process_parents(recording);
  for (uint32_t i = 0; i < recording.processes().size(); ++i) {
    auto& process = summary.processes.emplace_back(summarize_process(recording, i, summary.threads));
    process.parent = parents[i];
    const bool attributed = all_blocked_attributed(recording.processes()[i], summary.threads);
    for (uint32_t thread : recording.processes()[i].threads) {
      ThreadSummary& of_thread = summary.threads[thread];
      of_thread.blocked_known = of_thread.has_health && (attributed || of_thread.blocked_ticks != 0);
    }
    add_to(summary.events, process.events);
    summary.calls += process.calls;
    add_to(summary.lost, process.lost);
    if (process.last_time != 0) span.add(process.first_time, process.last_time);
  }
  if (!span.empty()) {
    summary.first_time = span.first;
    summary.last_time = span.last;
    summary.duration_ns = recording.time().duration_ns(span.first, span.last);
  }
  return summary;
}

}  // namespace penna
