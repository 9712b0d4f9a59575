// SPDX-License-Identifier: MIT
// penna report locks: what each lock costs, how long the waits for the worst one are, and what else was waited for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "report/frames.h"
#include "report/locks/lock_findings.h"
#include "report/locks/lock_rows.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

Cell average(const Recording& recording, const Distribution& distribution) {
  if (distribution.count() == 0) return Cell{};
  return ticks_to_ns(recording, static_cast<uint64_t>(distribution.average()));
}

// "flush (flush.cc:31) 81 %".
std::string holder_text(const Locks& locks, const LockStats& lock, const MainHolder& main, const LockNames& name_of) {
  if (main.pair == nullptr || lock.wait.sum() == 0) return "";
  const double share = 100 * static_cast<double>(main.time) / static_cast<double>(lock.wait.sum());
  return fmt::format("{}, {}", other_side_text(locks, *main.pair, name_of), percent_text(std::min(share, 100.0)));
}

Table locks_table(const Recording& recording, const Locks& locks, const LockChoice& choice, const LockNames& name_of) {
  Table table;
  table.key = "locks";
  table.columns = {{"wait_ns", "WAIT", CellKind::kDuration},
                   {"waits", "WAITS", CellKind::kCount},
                   {"avg_wait_ns", "AVG", CellKind::kDuration},
                   {"p50_wait_ns", "P50", CellKind::kDuration},
                   {"p99_wait_ns", "P99", CellKind::kDuration},
                   {"max_wait_ns", "MAX", CellKind::kDuration},
                   {"still_waiting", "STILL WAITING", CellKind::kCount, false, true},
                   {"hold_ns", "HOLD", CellKind::kDuration},
                   {"avg_hold_ns", "AVG HOLD", CellKind::kDuration},
                   {"p99_hold_ns", "P99 HOLD", CellKind::kDuration},
                   {"max_hold_ns", "MAX HOLD", CellKind::kDuration},
                   {"taken", "TAKEN", CellKind::kCount},
                   {"contended", "CONTENDED", CellKind::kCount, false, true},
                   {"contended_percent", "WAITED", CellKind::kPercent},
                   {"shared", "SHARED", CellKind::kCount, false, true},
                   {"busy", "BUSY", CellKind::kCount, false, true},
                   {"timeouts", "TIMEOUTS", CellKind::kCount, false, true},
                   {"errors", "ERRORS", CellKind::kCount, false, true},
                   {"owner_died", "OWNER DIED", CellKind::kCount, false, true},
                   {"nesting", "NEST", CellKind::kCount},
                   {"threads", "THREADS", CellKind::kCount},
                   process_column(locks),
                   address_column(locks, name_of),
                   {"kind", "KIND", CellKind::kText},
                   {"lock", "LOCK", CellKind::kText, true},
                   {"holder", "HELD MEANWHILE BY", CellKind::kText, true}};
  const auto holders = std::make_shared<std::vector<MainHolder>>(main_holders(locks));
  const auto time = [&](uint64_t ticks) { return Cell{ticks_to_ns(recording, ticks)}; };
  for (const LockStats* lock : locks.by_wait()) {
    if (!has_holder(lock->kind) || !choice.has(*lock)) continue;
    const double share = lock->acquisitions == 0
                             ? 0
                             : 100 * static_cast<double>(lock->contended) / static_cast<double>(lock->acquisitions);
    table.add({time(lock->wait.sum()),
               number(lock->wait.count()),
               average(recording, lock->wait),
               lock_percentile(recording, lock->wait, 0.5),
               lock_percentile(recording, lock->wait, 0.99),
               lock_percentile(recording, lock->wait, 1),
               number(lock->open_waits),
               time(lock->hold.sum()),
               average(recording, lock->hold),
               lock_percentile(recording, lock->hold, 0.99),
               lock_percentile(recording, lock->hold, 1),
               number(lock->acquisitions),
               number(lock->contended),
               Cell{share},
               number(lock->shared),
               number(lock->busy),
               number(lock->timeouts),
               number(lock->errors),
               number(lock->owner_died),
               number(uint64_t{lock->deepest}),
               number(uint64_t{lock->threads.size()}),
               int64_t{recording.processes()[lock->process].process.pid},
               static_cast<int64_t>(lock->address),
               std::string(lock_kind_name(lock->kind)),
               std::string(),
               std::string()},
              choice.index(*lock));
  }
  table.complete = [&locks, holders, name_of](TableRow& row) {
    const LockStats& lock = locks.all()[row.source];
    row.cells[row.cells.size() - 2] = name_of(lock);
    row.cells.back() = holder_text(locks, lock, (*holders)[row.source], name_of);
  };
  return table;
}

// Semaphores, barriers, threads that are joined, futexes: nobody holds them.
Table others_table(const Recording& recording, const Locks& locks, const LockChoice& choice, const LockNames& name_of) {
  Table table;
  table.key = "others";
  table.title = "What else was waited for";
  table.columns = {{"wait_ns", "WAIT", CellKind::kDuration},
                   {"waits", "WAITS", CellKind::kCount},
                   {"avg_wait_ns", "AVG", CellKind::kDuration},
                   {"p50_wait_ns", "P50", CellKind::kDuration},
                   {"p99_wait_ns", "P99", CellKind::kDuration},
                   {"max_wait_ns", "MAX", CellKind::kDuration},
                   {"still_waiting", "STILL WAITING", CellKind::kCount, false, true},
                   {"taken", "TAKEN", CellKind::kCount, false, true},
                   {"given", "GIVEN", CellKind::kCount, false, true},
                   {"timeouts", "TIMEOUTS", CellKind::kCount},
                   {"threads", "THREADS", CellKind::kCount},
                   process_column(locks),
                   address_column(locks, name_of),
                   {"kind", "KIND", CellKind::kText},
                   {"lock", "WHAT", CellKind::kText, true}};
  for (const LockStats* lock : locks.by_wait()) {
    if (has_holder(lock->kind) || lock->kind == LockKind::kCondition || !choice.has(*lock)) continue;
    table.add({ticks_to_ns(recording, lock->wait.sum()), number(lock->wait.count()), average(recording, lock->wait),
               lock_percentile(recording, lock->wait, 0.5), lock_percentile(recording, lock->wait, 0.99),
               lock_percentile(recording, lock->wait, 1), number(lock->open_waits), number(lock->acquisitions),
               number(lock->given), number(lock->timeouts), number(uint64_t{lock->threads.size()}),
               int64_t{recording.processes()[lock->process].process.pid}, static_cast<int64_t>(lock->address),
               std::string(lock_kind_name(lock->kind)), std::string()},
              choice.index(*lock));
  }
  table.complete = [&locks, name_of](TableRow& row) { row.cells.back() = name_of(locks.all()[row.source]); };
  return table;
}

Table conditions_table(const Recording& recording, const Locks& locks, const LockChoice& choice,
                       const LockNames& name_of) {
  Table table;
  table.key = "conditions";
  table.title =
      "Condition variables (time until signalled and locked again; if others held the mutex meanwhile, that is a wait "
      "for the mutex)";
  table.columns = {{"wait_ns", "WAIT", CellKind::kDuration},
                   {"waits", "WAITS", CellKind::kCount},
                   {"p99_wait_ns", "P99", CellKind::kDuration},
                   {"max_wait_ns", "MAX", CellKind::kDuration},
                   {"still_waiting", "STILL WAITING", CellKind::kCount},
                   {"timeouts", "TIMEOUTS", CellKind::kCount},
                   {"spurious", "SPURIOUS", CellKind::kCount, false, true},
                   {"signals", "SIGNALS", CellKind::kCount},
                   {"broadcasts", "BROADCASTS", CellKind::kCount},
                   {"unheard", "UNHEARD", CellKind::kCount},
                   {"herds", "HERDS", CellKind::kCount, false, true},
                   process_column(locks),
                   address_column(locks, name_of),
                   {"mutex", "MUTEX", CellKind::kText, true},
                   {"condition", "CONDITION", CellKind::kText, true}};
  const std::vector<ConditionStats>& all = locks.conditions();
  for (uint32_t i = 0; i < all.size(); ++i) {
    const ConditionStats& condition = all[i];
    const LockStats& lock = locks.all()[condition.index];
    if (!choice.has(lock) || !lock.seen) continue;
    table.add(
        {ticks_to_ns(recording, lock.wait.sum()), number(lock.wait.count()),
         lock_percentile(recording, lock.wait, 0.99), lock_percentile(recording, lock.wait, 1), number(lock.open_waits),
         number(lock.timeouts), number(condition.spurious), number(condition.signals), number(condition.broadcasts),
         number(condition.unheard), number(condition.herds), int64_t{recording.processes()[lock.process].process.pid},
         static_cast<int64_t>(lock.address), std::string(), std::string()},
        i);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& a, const TableRow& b) {
    return locks.all()[all[a.source].index].wait.sum() > locks.all()[all[b.source].index].wait.sum();
  });
  table.complete = [&locks, name_of](TableRow& row) {
    const ConditionStats& condition = locks.conditions()[row.source];
    row.cells[row.cells.size() - 2] = condition.lock == kNoIndex ? std::string() : name_of(locks.all()[condition.lock]);
    row.cells.back() = name_of(locks.all()[condition.index]);
  };
  return table;
}

// 1, 2, 5, 10, 20, ...: the largest that is not above a number of nanoseconds.
int64_t step_below(int64_t ns) {
  int64_t step = 1;
  for (int i = 0;; ++i) {
    int64_t next;
    if (__builtin_mul_overflow(step / (i % 3 == 1 ? 2 : 1), i % 3 == 1 ? 5 : 2, &next)) return step;
    if (next > ns) return step;
    step = next;
  }
}

// How long the waits for one lock are. `lock`: null: there is none.
Table histogram_table(const Recording& recording, const LockStats* lock, const LockNames& name_of, bool ascii) {
  constexpr size_t kBar = 40;
  Table table;
  table.key = "histogram";
  table.columns = {{"from_ns", "FROM", CellKind::kDuration},
                   {"waits", "WAITS", CellKind::kCount},
                   {"percent", "SHARE", CellKind::kPercent},
                   {"", "", CellKind::kText, false, false, true}};
  if (lock == nullptr) return table;
  table.title = "Waits for " + name_of.in_sentence(*lock) + " by length";
  std::vector<std::pair<int64_t, uint64_t>> steps;
  uint64_t most = 1;
  lock->wait.for_each([&](uint64_t ticks, uint64_t count) {
    const int64_t from = step_below(ticks_to_ns(recording, ticks));
    if (steps.empty() || steps.back().first != from) steps.emplace_back(from, 0);
    most = std::max(most, steps.back().second += count);
  });
  for (const auto& [from, count] : steps) {
    const double share = static_cast<double>(count) / static_cast<double>(lock->wait.count());
    const auto width = static_cast<size_t>(
        std::ceil(static_cast<double>(kBar) * static_cast<double>(count) / static_cast<double>(most)));
    std::string bar;
    for (size_t i = 0; i < width; ++i) bar += ascii ? "#" : "█";
    table.add({from, number(count), Cell{100 * share}, std::move(bar)});
  }
  return table;
}

}  // namespace

std::string thread_label(const Recording& recording, uint32_t process, uint32_t tid) {
  for (uint32_t index : recording.processes()[process].threads) {
    const RecordedThread& thread = recording.threads()[index];
    if (thread.tid == tid && !thread.name.empty()) return fmt::format("{} (tid {})", thread.name, tid);
  }
  return fmt::format("tid {}", tid);
}

Report locks_report(const Recording& recording, const Locks& locks, Names& names, const LockView& view) {
  const LockNames name_of(recording, names, view.blocks);
  const LockChoice choice(locks, name_of, view.lock);
  Report report;
  report.head = choice.head(recording);
  const LockStats* worst = choice.worst();
  Table second;
  if (view.with_stacks) {
    second = waits_table(recording, locks, choice, names, name_of, true);
    second.title = "Waits by stack";
  } else {
    second = histogram_table(recording, worst, name_of, view.ascii);
  }
  for (Table table :
       {locks_table(recording, locks, choice, name_of), std::move(second),
        others_table(recording, locks, choice, name_of), conditions_table(recording, locks, choice, name_of)})
    report.add(std::move(table));
  report.tail = lock_findings(recording, locks, name_of, choice.filter());
  return report;
}

}  // namespace penna
