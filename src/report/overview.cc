// SPDX-License-Identifier: MIT
// See overview.h.
#include "report/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "report/frames.h"
#include "report/info.h"
#include "report/units.h"

namespace penna {
namespace {

// Appends the tables of `part`; the first one's title is its name and the part's first sentence.
void append(Report& whole, Report part, const char* name) {
  part.tables[0].title = fmt::format("{}: {}", name, part.head.empty() ? "" : part.head[0]);
  for (Table& table : part.tables) whole.add(std::move(table));
}

// The tables of a part that was not recorded: JSON has all tables, these empty.
void append_empty(Report& whole, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    Table table;
    table.key = key;
    whole.add(std::move(table));
  }
}

std::string first_line(const Recording& recording, const Summary& summary) {
  std::string command = command_text(recording.session().command, recording.session().command_cut);
  if (command.empty()) command = recording.path();
  return fmt::format("{}: {}, {}, {}", command, duration_text(summary.duration_ns),
                     plural_text(static_cast<int64_t>(summary.processes.size()), "process", "processes"),
                     plural_text(static_cast<int64_t>(summary.threads.size()), "thread"));
}

}  // namespace

// The top of each table that has rows. The caller limits their number.
Report overview_report(const Recording& recording, const Summary& summary, const OverviewInputs& inputs, Names& names) {
  Report report;
  report.head.push_back(first_line(recording, summary));
  report.head.push_back(
      fmt::format("{} recorded, {} lost", events_text(summary.events, summary.calls), events_text(summary.lost)));
  if (inputs.calls != nullptr)
    append(report, calls_report(recording, *inputs.calls, names), "Calls");
  else
    append_empty(report, {"calls"});
  if (inputs.allocations != nullptr) {
    append(report, alloc_report(recording, *inputs.allocations, names), "Allocations");
    AllocationView view;
    view.suppressor = inputs.suppressor;
    append(report, leaks_report(recording, *inputs.allocations, names, view), "Leaks");
  } else {
    append_empty(report, {"alloc", "leaks"});
  }
  if (inputs.locks != nullptr) {
    LockView view{inputs.lock_blocks};
    view.with_stacks = true;
    view.held = inputs.held_calls;
    Report locks = locks_report(recording, *inputs.locks, names, view);
    report.tail = std::move(locks.tail);
    append(report, std::move(locks), "Locks");
  } else {
    append_empty(report, {"locks", "waits", "others", "conditions"});
  }
  if (inputs.points != nullptr)
    append(report, points_report(recording, *inputs.points, names), "Points");
  else
    append_empty(report, {"points", "stacks"});
  if (lacks_calls(recording, summary)) report.tail.push_back(no_calls_text(recording));
  if (std::all_of(report.tables.begin(), report.tables.end(), [](const Table& table) { return table.rows.empty(); }))
    report.tail.push_back(
        "There is nothing to show: 'penna info' says what should have been recorded, 'penna report health' what went "
        "wrong.");
  return report;
}

}  // namespace penna
