// SPDX-License-Identifier: MIT
// penna report threads: what each thread recorded, lost and waited for.
#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {

Report threads_report(const Recording& recording, const Summary& summary) {
  Report report;
  const auto quiet = std::count_if(summary.threads.begin(), summary.threads.end(),
                                   [](const ThreadSummary& thread) { return thread.chunks == 0; });
  report.head.push_back(fmt::format("{} of {}{}", plural_text(static_cast<int64_t>(summary.threads.size()), "thread"),
                                    plural_text(static_cast<int64_t>(summary.processes.size()), "process", "processes"),
                                    quiet == 0 ? "" : fmt::format(", {} of them without an event", quiet)));
  Table table;
  table.key = "threads";
  table.columns = {{"pid", "PID", CellKind::kNumber},
                   {"tid", "TID", CellKind::kNumber},
                   {"name", "NAME", CellKind::kText, true},
                   {"start_ns", "START", CellKind::kDuration},
                   {"duration_ns", "DURATION", CellKind::kDuration},
                   {"calls", "CALLS", CellKind::kCount},
                   {"alloc", "ALLOC", CellKind::kCount},
                   {"locks", "LOCKS", CellKind::kCount},
                   {"points", "POINTS", CellKind::kCount},
                   {"lost", "LOST", CellKind::kCount},
                   {"torn", "TORN", CellKind::kCount, false, true},
                   {"blocked_ns", "BLOCKED", CellKind::kDuration}};
  const TimeMap& time = recording.time();
  for (uint32_t i = 0; i < summary.threads.size(); ++i) {
    if (!takes_thread(recording, i)) continue;
    const ThreadSummary& thread = summary.threads[i];
    uint64_t lost = 0;
    for (uint64_t count : thread.lost) lost += count;
    const bool timed = thread.first_time != 0;
    table.add({int64_t{recording.processes()[thread.process].process.pid}, int64_t{thread.tid}, thread.name,
               timed ? Cell{time.duration_ns(summary.first_time, thread.first_time)} : Cell{},
               timed ? Cell{time.duration_ns(thread.first_time, thread.last_time)} : Cell{},
               number((thread.events[PENNA_CALLS] + 1) / 2), number(thread.events[PENNA_ALLOC]),
               number(thread.events[PENNA_LOCKS]), number(thread.events[PENNA_POINTS]),
               thread.has_health ? number(lost) : Cell{}, number(thread.torn),
               thread.blocked_known ? Cell{ticks_to_ns(recording, thread.blocked_ticks)} : Cell{}});
  }
  uint64_t untold = 0;
  for (const ProcessSummary& process : summary.processes) {
    if (process.unattributed_lost == 0) continue;
    std::vector<Cell> cells(table.columns.size());
    cells[0] = int64_t{process.pid};
    cells[2] = std::string("(no thread told)");
    cells[9] = number(process.unattributed_lost);
    table.add(std::move(cells));
    untold = add_counts(untold, process.unattributed_lost);
  }
  if (untold != 0)
    report.tail.push_back(
        fmt::format("A thread tells what it lost when it has room again: {} lost by threads that ended before that.",
                    plural_text(static_cast<int64_t>(untold), "event was", "events were")));
  report.tail.push_back(
      "Threads without an event are known only if they lived when the recorder of penna record looked, twice a "
      "second.");
  report.add(std::move(table));
  return report;
}

}  // namespace penna
