// SPDX-License-Identifier: MIT
// penna report locks: what each lock costs, how long the waits for the worst one are, and what else was waited for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "report/columns.h"
#include "report/frames.h"
#include "report/locks/lock_findings.h"
#include "report/locks/lock_rows.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// What a row is about: a lock, or a condition variable with the lock that stands for it.
struct LockItem {
  const Recording& recording;
  const Locks& locks;
  const LockNames& name_of;
  const LockStats& lock;
  const MainHolder* holder = nullptr;
  const ConditionStats* condition = nullptr;

  Cell time(uint64_t ticks) const { return ticks_to_ns(recording, ticks); }
  Cell average(const Distribution& times) const {
    return times.count() == 0 ? Cell{} : time(static_cast<uint64_t>(times.average()));
  }
  Cell percentile(const Distribution& times, double share) const { return lock_percentile(recording, times, share); }
};

// "flush (flush.cc:31) 81 %".
std::string holder_text(const Locks& locks, const LockStats& lock, const MainHolder& main, const LockNames& name_of) {
  if (main.pair == nullptr || lock.wait.sum() == 0) return "";
  const double share = 100 * static_cast<double>(main.time) / static_cast<double>(lock.wait.sum());
  return fmt::format("{}, {}", other_side_text(locks, *main.pair, name_of), percent_text(std::min(share, 100.0)));
}

using LockColumn = Column<LockItem>;
constexpr LockColumn kWait = {{"wait_ns", "WAIT", CellKind::kDuration},
                              [](const LockItem& item) { return item.time(item.lock.wait.sum()); }};
constexpr LockColumn kWaits = {{"waits", "WAITS", CellKind::kCount},
                               [](const LockItem& item) { return number(item.lock.wait.count()); }};
constexpr LockColumn kAverageWait = {{"avg_wait_ns", "AVG", CellKind::kDuration},
                                     [](const LockItem& item) { return item.average(item.lock.wait); }};
constexpr LockColumn kMedianWait = {{"p50_wait_ns", "P50", CellKind::kDuration},
                                    [](const LockItem& item) { return item.percentile(item.lock.wait, 0.5); }};
constexpr LockColumn kP99Wait = {{"p99_wait_ns", "P99", CellKind::kDuration},
                                 [](const LockItem& item) { return item.percentile(item.lock.wait, 0.99); }};
constexpr LockColumn kLongestWait = {{"max_wait_ns", "MAX", CellKind::kDuration},
                                     [](const LockItem& item) { return item.percentile(item.lock.wait, 1); }};
constexpr LockColumn kThreads = {{"threads", "THREADS", CellKind::kCount},
                                 [](const LockItem& item) { return number(uint64_t{item.lock.threads.size()}); }};
constexpr LockColumn kKind = {{"kind", "KIND", CellKind::kText},
                              [](const LockItem& item) { return Cell{std::string(lock_kind_name(item.lock.kind))}; }};

LockColumn process_of(const Locks& locks) {
  return {process_column(locks), [](const LockItem& item) {
            return Cell{int64_t{item.recording.processes()[item.lock.process].process.pid}};
          }};
}
LockColumn address_of(const Locks& locks, const LockNames& name_of) {
  return {address_column(locks, name_of),
          [](const LockItem& item) { return Cell{static_cast<int64_t>(item.lock.address)}; }};
}
LockColumn name(std::string_view key, std::string_view title) {
  return {{key, title, CellKind::kText, true},
          [](const LockItem& item) { return Cell{item.name_of(item.lock)}; },
          Fill::kWhenShown};
}
LockColumn still_waiting(bool shown) {
  return {{"still_waiting", "STILL WAITING", CellKind::kCount, false, !shown},
          [](const LockItem& item) { return number(item.lock.open_waits); }};
}
LockColumn timeouts(bool shown) {
  return {{"timeouts", "TIMEOUTS", CellKind::kCount, false, !shown},
          [](const LockItem& item) { return number(item.lock.timeouts); }};
}

Cell contended_percent(const LockItem& item) {
  if (item.lock.acquisitions == 0) return 0.0;
  return 100 * static_cast<double>(item.lock.contended) / static_cast<double>(item.lock.acquisitions);
}

Cell mutex_name(const LockItem& item) {
  return item.condition->lock == kNoIndex ? std::string() : item.name_of(item.locks.all()[item.condition->lock]);
}

Table locks_table(const Recording& recording, const Locks& locks, const LockChoice& choice, const LockNames& name_of) {
  Columns<LockItem> columns = {
      kWait,
      kWaits,
      kAverageWait,
      kMedianWait,
      kP99Wait,
      kLongestWait,
      still_waiting(false),
      {{"hold_ns", "HOLD", CellKind::kDuration}, [](const LockItem& item) { return item.time(item.lock.hold.sum()); }},
      {{"avg_hold_ns", "AVG HOLD", CellKind::kDuration},
       [](const LockItem& item) { return item.average(item.lock.hold); }},
      {{"p99_hold_ns", "P99 HOLD", CellKind::kDuration},
       [](const LockItem& item) { return item.percentile(item.lock.hold, 0.99); }},
      {{"max_hold_ns", "MAX HOLD", CellKind::kDuration},
       [](const LockItem& item) { return item.percentile(item.lock.hold, 1); }},
      {{"taken", "TAKEN", CellKind::kCount}, [](const LockItem& item) { return number(item.lock.acquisitions); }},
      {{"contended", "CONTENDED", CellKind::kCount, false, true},
       [](const LockItem& item) { return number(item.lock.contended); }},
      {{"contended_percent", "WAITED", CellKind::kPercent}, contended_percent},
      {{"shared", "SHARED", CellKind::kCount, false, true},
       [](const LockItem& item) { return number(item.lock.shared); }},
      {{"busy", "BUSY", CellKind::kCount, false, true}, [](const LockItem& item) { return number(item.lock.busy); }},
      timeouts(false),
      {{"errors", "ERRORS", CellKind::kCount, false, true},
       [](const LockItem& item) { return number(item.lock.errors); }},
      {{"owner_died", "OWNER DIED", CellKind::kCount, false, true},
       [](const LockItem& item) { return number(item.lock.owner_died); }},
      {{"nesting", "NEST", CellKind::kCount}, [](const LockItem& item) { return number(uint64_t{item.lock.deepest}); }},
      kThreads,
      process_of(locks),
      address_of(locks, name_of),
      kKind,
      name("lock", "LOCK"),
      {{"holder", "HELD MEANWHILE BY", CellKind::kText, true},
       [](const LockItem& item) { return Cell{holder_text(item.locks, item.lock, *item.holder, item.name_of)}; },
       Fill::kWhenShown}};
  Table table;
  table.key = "locks";
  columns.declare(table);
  for (const LockStats* lock : locks.by_wait())
    if (has_holder(lock->kind) && choice.has(*lock))
      table.add(columns.cells({recording, locks, name_of, *lock}), choice.index(*lock));
  const auto holders = std::make_shared<std::vector<MainHolder>>(main_holders(locks));
  table.complete = [&recording, &locks, holders, name_of, columns](TableRow& row) {
    columns.complete(row, {recording, locks, name_of, locks.all()[row.source], &(*holders)[row.source]});
  };
  return table;
}

// Semaphores, barriers, threads that are joined, futexes: nobody holds them.
Table others_table(const Recording& recording, const Locks& locks, const LockChoice& choice, const LockNames& name_of) {
  Columns<LockItem> columns = {
      kWait,
      kWaits,
      kAverageWait,
      kMedianWait,
      kP99Wait,
      kLongestWait,
      still_waiting(false),
      {{"taken", "TAKEN", CellKind::kCount, false, true},
       [](const LockItem& item) { return number(item.lock.acquisitions); }},
      {{"given", "GIVEN", CellKind::kCount, false, true}, [](const LockItem& item) { return number(item.lock.given); }},
      timeouts(true),
      kThreads,
      process_of(locks),
      address_of(locks, name_of),
      kKind,
      name("lock", "WHAT")};
  Table table;
  table.key = "others";
  table.title = "What else was waited for";
  columns.declare(table);
  for (const LockStats* lock : locks.by_wait())
    if (!has_holder(lock->kind) && lock->kind != LockKind::kCondition && choice.has(*lock))
      table.add(columns.cells({recording, locks, name_of, *lock}), choice.index(*lock));
  table.complete = [&recording, &locks, name_of, columns](TableRow& row) {
    columns.complete(row, {recording, locks, name_of, locks.all()[row.source]});
  };
  return table;
}

Table conditions_table(const Recording& recording, const Locks& locks, const LockChoice& choice,
                       const LockNames& name_of) {
  Columns<LockItem> columns = {
      kWait,
      kWaits,
      kP99Wait,
      kLongestWait,
      still_waiting(true),
      timeouts(true),
      {{"spurious", "SPURIOUS", CellKind::kCount, false, true},
       [](const LockItem& item) { return number(item.condition->spurious); }},
      {{"signals", "SIGNALS", CellKind::kCount}, [](const LockItem& item) { return number(item.condition->signals); }},
      {{"broadcasts", "BROADCASTS", CellKind::kCount},
       [](const LockItem& item) { return number(item.condition->broadcasts); }},
      {{"unheard", "UNHEARD", CellKind::kCount}, [](const LockItem& item) { return number(item.condition->unheard); }},
      {{"herds", "HERDS", CellKind::kCount, false, true},
       [](const LockItem& item) { return number(item.condition->herds); }},
      process_of(locks),
      address_of(locks, name_of),
      {{"mutex", "MUTEX", CellKind::kText, true}, mutex_name, Fill::kWhenShown},
      name("condition", "CONDITION")};
  Table table;
  table.key = "conditions";
  table.title =
      "Condition variables (time until signalled and locked again; if others held the mutex meanwhile, that is a wait "
      "for the mutex)";
  columns.declare(table);
  const std::vector<ConditionStats>& all = locks.conditions();
  const auto item = [&recording, &locks, &all, name_of](uint32_t i) {
    return LockItem{recording, locks, name_of, locks.all()[all[i].index], nullptr, &all[i]};
  };
  for (uint32_t i = 0; i < all.size(); ++i)
    if (const LockStats& lock = locks.all()[all[i].index]; choice.has(lock) && lock.seen)
      table.add(columns.cells(item(i)), i);
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& a, const TableRow& b) {
    return locks.all()[all[a.source].index].wait.sum() > locks.all()[all[b.source].index].wait.sum();
  });
  table.complete = [item, columns](TableRow& row) { columns.complete(row, item(row.source)); };
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
