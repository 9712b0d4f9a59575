// SPDX-License-Identifier: MIT
// penna report health: every counter of what went wrong, and what each means.
#include <fmt/format.h>

#include "report/file_state.h"
#include "report/frames.h"
#include "report/info.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// Counters in the order of an event's way: target, collector, file, analysis.
class Counters {
 public:
  Counters() {
    table_.key = "counters";
    table_.empty_are = "counters are 0";
    table_.columns = {{"counter", "COUNTER", CellKind::kText},
                      {"value", "VALUE", CellKind::kCount},
                      {"meaning", "MEANING", CellKind::kText, true}};
  }
  void add(const char* name, uint64_t value, const char* meaning) {
    table_.add({std::string(name), number(value), std::string(meaning)}).is_empty = value == 0;
  }
  Table take() { return std::move(table_); }

 private:
  Table table_;
};

void add_target(const HealthReport& health, const Recording& recording, Counters& counters) {
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    counters.add(
        fmt::format("lost {}", class_name(i)).c_str(), health.lost[i],
        i == PENNA_CALLS ? "entries and exits that could not be recorded" : "events that could not be recorded");
  const auto& causes = health.losses.for_want;
  counters.add("lost for pairs", causes[PENNA_LOSS_PAIRS], "of them: no trampoline for caller and function");
  counters.add("lost for shape", causes[PENNA_LOSS_SHAPE], "of them: where the function returns to is not known");
  counters.add("lost for unwinders", causes[PENNA_LOSS_UNWOUND], "of them: exits by exceptions, not shown");
  counters.add("lost for pools", causes[PENNA_LOSS_POOLS], "of them: in more pools than can be told apart");
  counters.add("lost for samples", causes[PENNA_LOSS_SAMPLED], "of them: more sampled blocks than can be remembered");
  counters.add("lost in handler", health.in_handler, "came while the agent itself was at work");
  counters.add("blocked ns", static_cast<uint64_t>(ticks_to_ns(recording, health.blocked_ticks)),
               "threads waited for room");
  counters.add("stacks too deep", health.truncated_stacks[PENNA_STACK_DEPTH_LIMIT],
               "outer frames left out at the depth limit");
  counters.add("stacks without rule", health.truncated_stacks[PENNA_STACK_NO_RULE], "code without unwind information");
  counters.add("stacks with bad memory", health.truncated_stacks[PENNA_STACK_BAD_MEMORY],
               "a frame outside the thread's stack");
  counters.add("stack tree full", health.unstored_stacks, "events without a stack: too many different ones");
  counters.add("points armed", health.sites_armed, "points that recorded");
  counters.add("points refused", health.sites_refused, "points that could not be armed");
  counters.add("functions patched", health.functions_patched, "places made to record calls");
  counters.add("functions refused", health.functions_refused, "places that could not be changed, or held other code");
  counters.add("allocators refused", health.allocators_refused, "functions of allocators that could not be entered");
  counters.add("blocks ended at once", health.ended_at_once, "calls that ended blocks of which nobody tells");
  counters.add("values lost", health.values_lost, "calls without their arguments or result: there was no room");
  counters.add("without clock", health.without_clock,
               "processes that may not read it, and record nothing from then on");
  counters.add("without system calls", health.without_calls,
               "processes whose filters forbid what recording needs, from then on");
  counters.add("not followed", health.unfollowed,
               "programs and processes that filters of system calls forbid to record");
  counters.add("modules unknown", health.modules_unknown, "code addresses in no known file");
}

void add_recorder(const HealthReport& health, Counters& counters) {
  counters.add("torn", health.torn, "records begun and never finished");
  counters.add("holes", health.holes, "room reserved and never written");
  counters.add("abandoned chunks", health.abandoned_chunks, "taken from threads that were gone");
  counters.add("damaged chunks", health.damaged_chunks, "could not be read to their end");
  counters.add("unknown records", health.unknown_records, "of a kind that this version does not know");
  counters.add("refused processes", health.refused_channels, "whose memory could not be mapped or trusted");
  counters.add("unannounced processes", health.unannounced_processes, "whose description is missing");
  uint64_t thrown_away = 0;
  for (uint64_t count : health.thrown_away) thrown_away += count;
  counters.add("snapshots", health.snapshots, "taken where a function was entered (-T FUNC@snapshot)");
  counters.add("thrown away", thrown_away, "events before, between and behind snapshots");
  counters.add("processes without end", health.processes_without_end, "still running, or their end is missing");
}

void add_file(const HealthReport& health, Counters& counters) {
  uint64_t events = 0;
  for (uint64_t count : health.write_lost) events += count;
  counters.add("events not written", events, "the file could not take them");
  counters.add("missing chunks", health.missing_chunks, "numbers that no chunk in the file has");
  counters.add("unreadable chunks", health.unreadable_chunks, "chunks in the file that cannot be decoded");
  counters.add("damaged blocks", health.damage.blocks, "blocks of the file with a wrong checksum");
  counters.add("damaged bytes", health.damage.bytes, "bytes of the file in no valid block");
}

void add_analysis(const HealthReport& health, Counters& counters) {
  counters.add("stray exits", health.stray_exits, "exits of functions that were not open");
  counters.add("inherited exits", health.inherited_exits, "of functions that were open when the process was forked");
  counters.add("unwound calls", health.unwound_calls, "ended by the exit of an outer function: their own is missing");
  counters.add("calls too deep", health.too_deep_calls, "beyond the depth that is followed");
  counters.add("unmatched frees", health.unmatched_frees, "of blocks whose allocation was not recorded");
  counters.add("inherited frees", health.inherited_frees, "of blocks that were there when the process was forked");
  counters.add("replaced blocks", health.replaced_blocks, "allocated twice without a free in between");
  counters.add("allocations without stack", health.allocations_without_stack, "whose caller is not known");
  counters.add("inherited unlocks", health.inherited_unlocks, "of locks that were held when the process was forked");
  counters.add("unmatched unlocks", health.unmatched_unlocks, "by a thread that was not seen to take the lock");
  counters.add("missed unlocks", health.missed_unlocks, "taken while another thread seemed to hold it");
  counters.add("malformed points", health.malformed_points, "values that do not fit their description");
  counters.add("points without site", health.points_without_site, "passes of a point that nobody described");
}

// How far the stacks of allocations are known, by the module that allocates.
Table stacks_table(const HealthReport& health) {
  Table table;
  table.key = "module_stacks";
  table.columns = {{"module", "ALLOCATIONS OF", CellKind::kText},
                   {"complete", "COMPLETE", CellKind::kCount},
                   {"truncated", "TRUNCATED", CellKind::kCount},
                   {"unknown", "UNKNOWN", CellKind::kCount}};
  for (const ModuleStacks& module : health.module_stacks)
    table.add({module.file, number(module.complete), number(module.truncated), number(module.unknown)});
  return table;
}

std::string cost_text(const HealthReport& health) {
  std::string text;
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    if (health.event_cost_ps[i] != 0)
      text += fmt::format("{}{:.1f} ns an event of {}", text.empty() ? "Cost in the target: " : ", ",
                          static_cast<double>(health.event_cost_ps[i]) / 1000, class_name(i));
  return text;
}

}  // namespace

std::vector<std::string> health_warnings(const HealthReport& health) {
  std::vector<std::string> warnings;
  for (const HealthSentence& sentence : health.sentences)
    if (sentence.severity != Severity::kNote) warnings.push_back(sentence.text);
  return warnings;
}

Report health_report(const Recording& recording, const Summary& summary, const HealthReport& health) {
  Report report;
  report.head.push_back(fmt::format("{} recorded; {}.", events_text(summary.events),
                                    health.good() ? "nothing lost" : "some of it needs a word"));
  Counters counters;
  add_target(health, recording, counters);
  add_recorder(health, counters);
  add_file(health, counters);
  add_analysis(health, counters);
  report.tables.push_back(counters.take());
  report.add(stacks_table(health));
  if (const std::string cost = cost_text(health); !cost.empty()) report.tail.push_back(cost);
  add_health(report, recording, health);
  for (const HealthSentence& sentence : health.sentences)
    if (sentence.severity == Severity::kNote) report.tail.push_back(sentence.text);
  return report;
}

}  // namespace penna
