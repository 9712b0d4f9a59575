// SPDX-License-Identifier: MIT
// penna report waits --by: time waited, summed by who, where or what for.
//
// Invariant: the times in a table's rows add up to all time waited for the chosen locks.
#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "report/columns.h"
#include "report/frames.h"
#include "report/locks/lock_findings.h"
#include "report/locks/lock_rows.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// Sums by the name of a row: things with the same name are one row, as a reader could not distinguish them.
class WaitSums {
 public:
  void add(const std::string& name, const WaitSum& more) {
    const auto [found, added] = by_name_.try_emplace(name, static_cast<uint32_t>(rows_.size()));
    if (added) rows_.push_back({name, {}});
    rows_[found->second].second.add(more);
  }
  const std::vector<std::pair<std::string, WaitSum>>& sorted() {
    std::stable_sort(rows_.begin(), rows_.end(), [](auto& a, auto& b) { return a.second.time > b.second.time; });
    return rows_;
  }

 private:
  TextMap<uint32_t> by_name_;
  std::vector<std::pair<std::string, WaitSum>> rows_;
};

std::string or_not_known(std::string name) { return name.empty() ? "(not known)" : name; }

std::string process_text(const Recording& recording, uint32_t process) {
  const Process& one = recording.processes()[process].process;
  return fmt::format("{} (pid {})", process_name(one), one.pid);
}

std::string holder_of_pair(const Locks& locks, const WaitPair& pair, const LockNames& name_of) {
  const std::string function = name_of.function(other_process(locks.all()[pair.lock], pair), pair.other_stack);
  return function.empty() ? other_side_text(locks, pair, name_of) : function;
}

// Each grouping sums another list of the analysis, and every list contains each wait once. `of_holders`: waits for
// objects with holders, or for all others.
WaitSums wait_sums_by(const Recording& recording, const Locks& locks, const LockChoice& choice,
                      const LockNames& name_of, WaitsBy by, bool of_holders) {
  WaitSums sums;
  const auto is_shown = [&](const LockStats& lock) { return has_holder(lock.kind) == of_holders && choice.has(lock); };
  if (by == WaitsBy::kThread) {
    const std::vector<WaitSum>& threads = locks.thread_waits(of_holders);
    for (uint32_t i = 0; i < threads.size(); ++i)
      if (threads[i].waits != 0) sums.add(name_of.thread(i), threads[i]);
  } else if (by == WaitsBy::kHolder) {
    for (const WaitPair& pair : locks.pairs())
      if (is_shown(locks.all()[pair.lock]))
        sums.add(holder_of_pair(locks, pair, name_of), {pair.waits, pair.time, pair.longest, pair.open});
  } else {
    for (const WaitStack& one : locks.wait_stacks()) {
      const LockStats& lock = locks.all()[one.lock];
      if (!is_shown(lock)) continue;
      sums.add(by == WaitsBy::kLock      ? name_of(lock)
               : by == WaitsBy::kProcess ? process_text(recording, lock.process)
                                         : or_not_known(name_of.function(lock.process, one.stack)),
               one.sum);
    }
  }
  return sums;
}

const char* title_of_waits(WaitsBy by, bool of_holders) {
  switch (by) {
    case WaitsBy::kFunction: return "WAITED IN";
    case WaitsBy::kHolder: return of_holders ? "HELD MEANWHILE BY" : "WOKEN BY";
    case WaitsBy::kLock: return of_holders ? "LOCK" : "WHAT";
    case WaitsBy::kThread: return "THREAD";
    case WaitsBy::kProcess: return "PROCESS";
  }
  return "";
}
const char* key_of_waits(WaitsBy by) {
  constexpr const char* kKeys[] = {"function", "holder", "lock", "thread", "process"};
  return kKeys[static_cast<int>(by)];
}

struct SumItem {
  const Recording& recording;
  std::string name;
  WaitSum sum;
  uint64_t all;  // ticks, in the whole table
};

Columns<SumItem> sum_columns(WaitsBy by, bool of_holders) {
  return {{{"wait_ns", "WAIT", CellKind::kDuration},
           [](const SumItem& item) { return ticks_to_ns(item.recording, item.sum.time); }},
          {{"percent", "SHARE", CellKind::kPercent},
           [](const SumItem& item) {
             if (item.all == 0) return Cell{0.0};
             return Cell{100 * static_cast<double>(item.sum.time) / static_cast<double>(item.all)};
           }},
          {{"waits", "WAITS", CellKind::kCount}, [](const SumItem& item) { return item.sum.waits; }},
          {minor({"avg_wait_ns", "AVG", CellKind::kDuration}),
           [](const SumItem& item) {
             return ticks_to_ns(item.recording, item.sum.time / std::max<uint64_t>(item.sum.waits, 1));
           }},
          {{"max_wait_ns", "MAX", CellKind::kDuration},
           [](const SumItem& item) { return ticks_to_ns(item.recording, item.sum.longest); }},
          {{"still_waiting", "STILL WAITING", CellKind::kCount, false, true},
           [](const SumItem& item) { return item.sum.open; }},
          {{key_of_waits(by), title_of_waits(by, of_holders), CellKind::kText, true},
           [](const SumItem& item) { return item.name; }}};
}

Table wait_sums_table(const Recording& recording, WaitSums sums, WaitsBy by, bool of_holders) {
  WaitSum all;
  for (const auto& [name, sum] : sums.sorted()) all.add(sum);
  std::vector<SumItem> items;
  for (const auto& [name, sum] : sums.sorted()) items.push_back({recording, name, sum, all.time});
  Table table;
  table.key = of_holders ? "waits" : "other_waits";
  if (!of_holders) table.title = "Waits for objects without a holder";
  sum_columns(by, of_holders).fill(table, std::move(items));
  return table;
}

}  // namespace

// Two tables of the same form: waits for objects with holders, and all other waits.
Report waits_by_report(const Recording& recording, const Locks& locks, Names& names, WaitsBy by, const LockView& view) {
  const LockNames name_of(recording, names, view.blocks);
  const LockChoice choice(locks, name_of, view.lock);
  Report report;
  report.head = choice.head(recording);
  for (const bool of_holders : {true, false}) {
    Table table =
        wait_sums_table(recording, wait_sums_by(recording, locks, choice, name_of, by, of_holders), by, of_holders);
    if (table.rows.empty() && of_holders) report.head.push_back("No lock was waited for.");
    report.add(std::move(table));
  }
  report.tail = lock_findings(recording, locks, name_of, choice.filter());
  return report;
}

}  // namespace penna
