// SPDX-License-Identifier: MIT
// penna report health: every counter of what went wrong, and what each means.
#include <fmt/format.h>

#include "report/columns.h"
#include "report/file_state.h"
#include "report/frames.h"
#include "report/info.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// Counters along an event's way: target, collector, file, analysis. All of them; text leaves out those of 0.
class Counters {
 public:
  void add(std::string name, uint64_t value, const char* meaning) {
    counters_.push_back({std::move(name), value, meaning});
  }
  Table take() const {
    const Columns<Counter> columns = {
        {{"counter", "COUNTER", CellKind::kText}, [](const Counter& one) { return one.name; }},
        {{"value", "VALUE", CellKind::kCount}, [](const Counter& one) { return one.value; }},
        {prose({"meaning", "MEANING", CellKind::kText, true}), [](const Counter& one) { return one.meaning; }}};
    Table table;
    table.key = "counters";
    table.empty_are = "counters are 0";
    columns.fill(table, counters_);
    for (TableRow& row : table.rows) row.is_empty = counters_[row.source].value == 0;
    return table;
  }

 private:
  struct Counter {
    std::string name;
    uint64_t value;
    const char* meaning;
  };
  std::vector<Counter> counters_;
};

void add_section(const HealthReport& health, HealthSection section, Counters& counters) {
  for (const HealthCounter& counter : health_counters())
    if (counter.section == section) counters.add(counter.name, counter.value(health), counter.meaning);
}

// Counters per class or cause have their rows here; those of causes from losses.inc, all others from health.inc.
void add_target(const HealthReport& health, Counters& counters) {
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    counters.add(
        fmt::format("lost {}", class_name(i)), health.lost[i],
        i == PENNA_CALLS ? "entries and exits that could not be recorded" : "events that could not be recorded");
#define PENNA_LOSS(number, name, event_class, key, meaning, ...) \
  counters.add("lost for " key, health.losses.for_want[number], meaning);
#include "penna/losses.inc"
#undef PENNA_LOSS
  add_section(health, HealthSection::kTarget, counters);
}

// How complete the stacks of allocations are, by allocating module: stacks end at a module without unwind information.
Table stacks_table(const HealthReport& health) {
  const Columns<ModuleStacks> columns = {
      {{"module", "ALLOCATIONS OF", CellKind::kText}, [](const ModuleStacks& of) { return of.file; }},
      {{"complete", "COMPLETE", CellKind::kCount}, [](const ModuleStacks& of) { return of.complete; }},
      {{"truncated", "TRUNCATED", CellKind::kCount}, [](const ModuleStacks& of) { return of.truncated; }},
      {{"unknown", "UNKNOWN", CellKind::kCount}, [](const ModuleStacks& of) { return of.unknown; }}};
  Table table;
  table.key = "module_stacks";
  columns.fill(table, health.module_stacks);
  return table;
}

// Measured by the agent in the target, so it is the cost on that machine.
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

// Errors and warnings go above the table, as in every report; notes below it.
Report health_report(const Recording& recording, const Summary& summary, const HealthReport& health) {
  Report report;
  report.head.push_back(fmt::format("{} recorded; {}.", events_text(summary.events, summary.calls),
                                    health.good() ? "nothing lost" : "with caveats"));
  Counters counters;
  add_target(health, counters);
  for (HealthSection section : {HealthSection::kRecorder, HealthSection::kFile, HealthSection::kAnalysis})
    add_section(health, section, counters);
  report.tables.push_back(counters.take());
  report.add(stacks_table(health));
  if (const std::string cost = cost_text(health); !cost.empty()) report.tail.push_back(cost);
  add_health(report, recording, health);
  for (const HealthSentence& sentence : health.sentences)
    if (sentence.severity == Severity::kNote) report.tail.push_back(sentence.text);
  return report;
}

}  // namespace penna
