// SPDX-License-Identifier: MIT
// penna report threads: what each thread recorded, lost and waited for.
#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "report/columns.h"
#include "report/frames.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {

namespace {

// A row: a thread, or (null) the losses of a process that no thread has reported.
struct ThreadItem {
  const Recording& recording;
  const Summary& summary;
  const ThreadSummary* thread;
  const ProcessSummary& process;

  template <typename Value>
  Cell of_thread(Value value) const {
    return thread == nullptr ? Cell{} : value(*thread);
  }
  Cell events(penna_event_class of) const {
    return of_thread([&](const ThreadSummary& one) { return number(one.events[of]); });
  }
  // Since `begin`, both in ticks; nothing is known about a thread without an event.
  Cell time(uint64_t begin, uint64_t ThreadSummary::*ticks) const {
    if (thread == nullptr || thread->first_time == 0) return {};
    return recording.time().duration_ns(begin, thread->*ticks);
  }
};

// Empty, not 0, if a thread did not report: it may have lost something.
Cell lost_by(const ThreadItem& item) {
  if (item.thread == nullptr) return number(item.process.unattributed_lost);
  if (!item.thread->has_health) return {};
  uint64_t lost = 0;
  for (uint64_t count : item.thread->lost) lost += count;
  return number(lost);
}

Columns<ThreadItem> thread_item_columns() {
  using Item = ThreadItem;
  using Thread = ThreadSummary;
  return {{minor({"pid", "PID", CellKind::kNumber}), [](const Item& item) { return item.process.pid; }},
          {{"tid", "TID", CellKind::kNumber},
           [](const Item& item) { return item.of_thread([](const Thread& one) { return Cell{int64_t{one.tid}}; }); }},
          {{"name", "NAME", CellKind::kText, true},
           [](const Item& item) {
             return Cell{item.thread == nullptr ? "(not reported by a thread)" : item.thread->name};
           }},
          {minor({"start_ns", "START", CellKind::kDuration}),
           [](const Item& item) { return item.time(item.summary.first_time, &Thread::first_time); }},
          {{"duration_ns", "DURATION", CellKind::kDuration},
           [](const Item& item) {
             return item.thread == nullptr ? Cell{} : item.time(item.thread->first_time, &Thread::last_time);
           }},
          {{"calls", "CALLS", CellKind::kCount},
           [](const Item& item) { return item.of_thread([](const Thread& one) { return number(one.calls); }); }},
          {{"alloc", "ALLOC", CellKind::kCount}, [](const Item& item) { return item.events(PENNA_ALLOC); }},
          {{"locks", "LOCKS", CellKind::kCount}, [](const Item& item) { return item.events(PENNA_LOCKS); }},
          {{"points", "POINTS", CellKind::kCount}, [](const Item& item) { return item.events(PENNA_POINTS); }},
          {{"lost", "LOST", CellKind::kCount}, lost_by},
          {{"torn", "TORN", CellKind::kCount, false, true},
           [](const Item& item) { return item.of_thread([](const Thread& one) { return number(one.torn); }); }},
          {{"blocked_ns", "BLOCKED", CellKind::kDuration}, [](const Item& item) {
             if (item.thread == nullptr || !item.thread->blocked_known) return Cell{};
             return Cell{ticks_to_ns(item.recording, item.thread->blocked_ticks)};
           }}};
}

}  // namespace

Report threads_report(const Recording& recording, const Summary& summary) {
  Report report;
  const auto quiet = std::count_if(summary.threads.begin(), summary.threads.end(),
                                   [](const ThreadSummary& thread) { return thread.chunks == 0; });
  report.head.push_back(fmt::format("{} of {}{}", plural_text(static_cast<int64_t>(summary.threads.size()), "thread"),
                                    plural_text(static_cast<int64_t>(summary.processes.size()), "process", "processes"),
                                    quiet == 0 ? "" : fmt::format(", {} of them without an event", quiet)));
  // What a thread lost or waited for is known of its whole life only.
  if (call_rules(recording) != nullptr || point_conditions(recording) != nullptr)
    report.head.push_back("of the whole recording: only --thread and --tid leave something out here");
  Table table;
  table.key = "threads";
  std::vector<ThreadItem> items;
  for (uint32_t i = 0; i < summary.threads.size(); ++i)
    if (takes_thread(recording, i))
      items.push_back({recording, summary, &summary.threads[i], summary.processes[summary.threads[i].process]});
  uint64_t unattributed = 0;
  for (const ProcessSummary& process : summary.processes) {
    if (process.unattributed_lost == 0) continue;
    items.push_back({recording, summary, nullptr, process});
    unattributed = add_counts(unattributed, process.unattributed_lost);
  }
  thread_item_columns().fill(table, std::move(items));
  if (unattributed != 0)
    report.tail.push_back(
        fmt::format("A thread reports its losses once it has room again: {} lost by threads that ended before that.",
                    plural_text(static_cast<int64_t>(unattributed), "event was", "events were")));
  report.tail.push_back(
      "Threads without events are known only if they were alive when penna record looked, twice a second.");
  report.add(std::move(table));
  return report;
}

}  // namespace penna
